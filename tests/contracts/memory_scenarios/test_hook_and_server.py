"""Scenario 33: what a hook process tells, and what a server tells for that session."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from hooks.clock import iso
from hooks.context.brain_adapter import LOCAL_DATABASE
from scripts.swarm_v2.memory.told import Facts, tell
from tests.support.memories import WEB, remember
from tests.support.memory_server import MemoryServer, short_folder, written

AT = iso(datetime(2026, 11, 30, 12, tzinfo=UTC))


@pytest.fixture
def folder():
    yield from short_folder()


def commits(home):
    """Return how many commits any space of the store has."""
    with closing(sqlite3.connect(home / LOCAL_DATABASE)) as db:
        return db.execute("SELECT count(*) FROM commit_log").fetchone()[0]


@pytest.mark.parametrize("client", ["sdk-py", "cli"])
def test_scenario_33_hook_equals_server(home, session, folder, client):
    remember(home, "1", "the build needs java 17")
    remember(home, "2", "tests run with -p no:cacheprovider", scope="user")
    remember(home, "3", "a signal of nobody's", kind="signal")
    deep, broad = (session(env={"CLAUDE_CODE_ENTRYPOINT": client}) for _ in range(2))

    def served(asker):
        value = asker.read("context")["value"]
        if client == "sdk-py":
            return value["text"]
        return tell(value, Facts(WEB, AT, how_to=True)).text

    with MemoryServer(home, folder) as server:
        own = (home / "memory" / "token").read_text(encoding="ascii").strip()
        askers = [server.client(own, who.id, WEB) for who in (deep, broad)]
        askers[0].commit(written("notes", {"goals": ["ship the release"]}, "session"))
        askers[0].commit(written("preferences", {"style": "in short sentences"}, "user"))
        before = [served(asker) for asker in askers]
        assert before[0] != before[1]
        assert ["ship the release" in text for text in before] == [True, False]
        assert all("java 17" in text and "in short sentences" in text for text in before)
        number = commits(home)
        for who, text in zip((deep, broad), before, strict=True):
            started = who.start()
            assert started.context.encode() == text.encode()
        deep.settle()
        assert [served(asker) for asker in askers] == before
        assert commits(home) == number
        # And of what moved, where the hook looks first: at what is stored, and at nothing stored.
        askers[0].commit(written("preferences", {"style": "at length"}, "user"))
        other = session(env={"CLAUDE_CODE_ENTRYPOINT": client})
        for who, started in ((deep, deep.start("clear")), (other, other.start())):
            assert "at length" in started.context
            asker = server.client(own, who.id, WEB)
            assert served(asker).encode() == started.context.encode()
        deep.settle()
