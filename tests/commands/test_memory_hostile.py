"""What others write into shared memory forges no line in a person's terminal."""

from __future__ import annotations

import json

import pytest

from scripts.swarm_v2.memory.library import open_store
from scripts.swarm_v2.memory.store import Commit, Write

SPACE = "git.example.org/shop/web"
ROW = "user          1  preferences  mine"
FORGED = ["memory/new\n" + ROW, "memory/new\x85" + ROW, "memory/new   7  memory/x", "a\u202eb"]


@pytest.fixture
def hostile(home):
    """Write ids and titles past every command, as another person's client may."""
    home.mkdir(exist_ok=True)
    store = open_store(str(home))
    writes = [Write(one, "space", "set", {"title": f"t\n{ROW}"}) for one in FORGED]
    store.commit(SPACE, Commit("authored", tuple(writes)))
    store.close()


def test_an_id_is_one_word_of_one_row(cli, hostile):
    lines = cli("list", "--scope", "space").stdout.splitlines()
    assert len(lines) == len(FORGED)
    for line in lines:
        scope, number, rest = line.split(maxsplit=2)
        assert (scope, number) == ("space", "1")
        assert "  " not in rest.partition("  ")[0]
        assert rest.startswith('"')
        shown, _ = json.JSONDecoder().raw_decode(rest)
        assert shown in FORGED
    assert cli("show", FORGED[0]).stdout.startswith('"memory/new\\nuser')


def test_what_is_said_of_such_an_id_is_one_line(cli, hostile):
    said = cli("forget", FORGED[0])
    assert len(said.stdout.splitlines()) == 1
    missing = cli("show", FORGED[0], rc=4)
    assert [line for line in missing.stderr.splitlines() if line.startswith("user")] == []


def test_an_ordinary_id_is_shown_as_it_is(cli):
    cli("put", "memory/größe v2", "x")
    assert "  memory/größe v2  x" in cli("list").stdout
