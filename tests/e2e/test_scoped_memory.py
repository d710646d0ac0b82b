"""The project's, the person's and the session's: kept apart by the real client and its shell."""

from __future__ import annotations

import json
import os
import shlex
import sys
import threading
import uuid

import pytest

from tests.support.memory_cli import Watcher
from tests.support.memory_server import PROJ, MemoryServer, short_folder, written
from tests.support.run_hook import ROOT

PROJECTS = "the staging database is reset every night"
PERSONS = "explain it with an example first"
SESSIONS = "the branch to compare with is feature-x"
MARKED = (
    f"Done. <!-- @lesson -->{PROJECTS}<!-- @/lesson -->\n"
    f"<!-- @lesson scope=user -->{PERSONS}<!-- @/lesson -->\n"
    f"<!-- @lesson scope=session -->{SESSIONS}<!-- @/lesson -->"
)
GOAL = "the goal is the release"
LIST = "brainhooks memory list --scope session"
WAIT_S = 30


def bash(line: str) -> dict:
    return {"tool": "Bash", "input": {"command": line}}


@pytest.fixture
def runtime():
    yield from short_folder()


@pytest.fixture
def installed(client, tmp_path):
    """The person also has the command ``brainhooks``, and so has the agent's shell."""
    folder = tmp_path / "bin"
    folder.mkdir()
    code = "from scripts.cli import main; main()"
    words = ["env", f"PYTHONPATH={ROOT}", sys.executable, "-P", "-c", code]
    script = folder / "brainhooks"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    client.extra = {"PATH": os.pathsep.join([str(folder), client.env["PATH"]])}
    return client


def told_at_start(answer, api) -> str:
    """What the hook of the session's start told; the model was asked with it, word for word."""
    [said] = [json.loads(one["stdout"]) for one in answer.hooks("SessionStart")]
    context = said["hookSpecificOutput"]["additionalContext"]
    assert context in api.requests()[-1].text
    return context


def told_of(context: str) -> list[bool]:
    return [text in context for text in (PROJECTS, PERSONS, SESSIONS, GOAL)]


def printed(api) -> str:
    """What the agent's last tool printed."""
    [block] = api.requests()[-1].body["messages"][-1]["content"]
    assert block["type"] == "tool_result"
    return block["content"]


def test_what_a_session_marks_and_writes_in_its_shell_is_told_to_those_whose_it_is(installed, api):
    api.says(bash(f"brainhooks memory put notes {shlex.quote(GOAL)} && {LIST}"))
    api.says(MARKED)
    first = installed.run("set it up")
    assert told_of(printed(api)) == [False, False, False, True]

    api.says(bash(LIST))
    second = installed.run("a second session")
    assert told_of(told_at_start(second, api)) == [True, True, False, False]
    assert printed(api) == "No documents here."
    assert told_of(api.requests()[-1].text) == [True, True, False, False]

    api.says(bash(LIST))
    resumed = installed.run("go on", "--resume", first.session_id)
    assert resumed.session_id == first.session_id
    assert told_of(told_at_start(resumed, api)) == [True, True, True, True]
    assert told_of(printed(api)) == [False, False, True, True]


def changes(watcher, count: int) -> list[tuple[str, str, str]]:
    """The next ``count`` changes that the watcher is told of: what, at which scope, which text."""
    late = threading.Timer(WAIT_S, watcher.process.kill)
    late.start()
    lines = [watcher.line() for _ in range(count)]
    late.cancel()
    assert all(lines), f"the watcher was told of {lines} alone"
    told = [json.loads(line) for line in lines]
    return [(one["change"], one["scope"], one["value"]["text"]) for one in told]


def test_a_watcher_at_the_server_is_told_of_a_marker_and_a_new_session_what_the_server_says(
    client, api, runtime
):
    client.memory.parent.mkdir(parents=True)
    with MemoryServer(client.memory, runtime, people={}) as server:
        there = {"BRAINHOOKS_MEMORY_URL": f"memory:{server.address}"}  # and nowhere else
        with Watcher(client.memory, client.project, runtime, "--json", env=there) as watcher:
            api.says(MARKED)
            first = client.run("please look around")
            wanted = [("set", "space", PROJECTS), ("set", "user", PERSONS)]
            assert sorted(changes(watcher, len(wanted))) == wanted

        own = (client.memory / "memory" / "token").read_text(encoding="ascii").strip()
        coming = str(uuid.uuid4())
        askers = [server.client(own, session, PROJ) for session in (coming, first.session_id)]
        askers[0].commit(written("notes", GOAL, "session"))
        said, firsts = (asker.read("context")["value"]["text"] for asker in askers)
        assert told_of(said) == [True, True, False, True]
        assert told_of(firsts) == [True, True, True, False]
        second = client.run("a second session", "--session-id", coming)
        assert told_at_start(second, api) == said
