"""A brain service that is down, silent or late, with real hook processes: nobody waits for it."""

from __future__ import annotations

import json
import time

import pytest

from hooks.context import outbox
from hooks.context.flush import drain
from hooks.settings import Http, Settings
from tests.contracts.test_hard_conditions import assert_calm, now
from tests.support.brain_server import BrainServer
from tests.support.keeping import lesson
from tests.support.processes import run_code
from tests.support.run_hook import agent_env, recorded, wait_for_workers, workers_with
from tests.support.session import compact, recorded_lines

PATIENCE_S = 1


@pytest.fixture
def server(tmp_path):
    with BrainServer(tmp_path / "service") as found:
        yield found


@pytest.fixture
def env(server):
    """What every hook of the person has: the service, and how long to wait for it."""
    return {
        "BRAIN_URL": server.url,
        "BRAIN_HTTP_TOKEN": server.token,
        "BRAIN_HTTP_TIMEOUT": str(PATIENCE_S),
    }


def row(text):
    return {"id": "r1", "title": "", "content": text, "priority": 1, "metadata": {}}


def waiting(home):
    return [outbox.read(str(home), name)["content"] for name in outbox.names(str(home))]


@pytest.mark.parametrize("event", ["Stop", "SubagentStop", "PreCompact", "SessionEnd"])
def test_every_event_that_keeps_leaves_it_in_the_outbox_and_it_comes_once(
    session, home, server, env, event
):
    one = session(env=env)
    one.start()
    one.settle()
    server.stop()
    one.prompt("go")
    fields = {"last_assistant_message": ""}
    if event == "SubagentStop":
        agent = one.transcript.with_suffix("") / "subagents" / "agent-1.jsonl"
        agent.parent.mkdir(parents=True)
        said = recorded_lines("subagent-sidechain")[-1]
        said["message"]["content"] = [{"type": "text", "text": lesson("kept")}]
        agent.write_bytes(compact({**said, "sessionId": one.id}))
        fields["agent_transcript_path"] = str(agent)
    else:
        one.says(lesson("kept"))
    run = one.fire(event, **fields)
    one.settle()
    assert_calm(run)
    assert waiting(home) == ["kept"]
    server.start()
    settings = Settings(str(home), brain_url=server.url, http=Http(token=server.token))
    for _ in range(2):
        drain(settings, {}, now())
    assert server.contents() == ["kept"]


def test_a_session_that_starts_before_its_service_is_told_what_was_known_and_nothing_of_that(
    session, server, env
):
    server.seed("entries", row("known before"))
    first = session(env=env)
    first.start()
    first.settle()
    server.stop()
    early = session(env=env)
    told = early.start()
    assert "known before" in told.context
    assert (told.message, told.stderr) == ("", "")
    early.settle()
    assert early.prompt("go").stdout == b""
    server.start()
    server.seed("entries", row("known before"), {**row("new meanwhile"), "id": "r2"})
    late = session(env=env)
    late.start()
    late.settle()
    assert "new meanwhile" in early.prompt("go on").context


@pytest.mark.parametrize("way", ["silent", "drip", "status:502", "half"])
def test_no_hook_waits_for_a_service_and_its_drainer_asks_once(session, home, server, env, way):
    """Ten markers wait; a service that costs the whole patience each must not cost it ten times."""
    for route in ("GET /feed", "GET /health", "POST /marker"):
        server.always(route, way)
    slow = {**env, "BRAIN_HTTP_TIMEOUT": "30"}
    one = session(env=slow)
    began = time.monotonic()
    runs = [one.start(), one.prompt("go")]
    one.says(*(lesson(f"n{number}") for number in range(10)))
    runs += [one.stop(), one.end()]
    assert time.monotonic() - began < 15  # one wait for the service is longer
    assert_calm(*runs)
    server.stop()  # its connections are closed: the workers need not wait either
    one.settle()
    server.start()
    server.always("POST /marker", way)
    settings = Settings(
        str(home), brain_url=server.url, http=Http(token=server.token, timeout_s=PATIENCE_S)
    )
    began = time.monotonic()
    done = drain(settings, {}, now())
    assert time.monotonic() - began < 3 * PATIENCE_S
    assert (done.left, bool(done.stopped)) == (10, True)
    server.heal()
    drain(settings, {}, now())
    assert sorted(server.contents()) == [f"n{number}" for number in range(10)]


_EVENTS = """
import json, os
from hooks.dispatch import main
env, lines = json.load(open(sys.argv[1]))
silent = os.open(os.devnull, os.O_WRONLY)
for at, (event, payload) in enumerate(lines):
    out, into = os.pipe()
    os.write(into, json.dumps(payload).encode())
    os.close(into)
    code = main([event], env=env, stdin=out, stdout=silent, now=1.8e9 + at)
    os.close(out)
    assert code == 0, (event, code)
"""


def test_after_five_hundred_events_at_a_silent_service_no_process_is_left(
    session, home, project, server, env, tmp_path
):
    for route in ("GET /feed", "POST /marker"):
        server.always(route, "silent")
    lines = []
    for _ in range(10):
        one = session()
        own = {"session_id": one.id, "cwd": str(project), "transcript_path": str(one.transcript)}
        quiet = [("UserPromptSubmit", {"prompt": "go"}), ("Stop", {"last_assistant_message": "so"})]
        marked = ("Stop", {"last_assistant_message": lesson(f"of {one.id}")})
        turns = [("SessionStart", {}), *(quiet * 24)[:-1], marked, ("SessionEnd", {})]
        lines += [(event, recorded(event, **own, **fields)) for event, fields in turns]
    assert len(lines) == 500
    home.mkdir(parents=True, exist_ok=True)
    everything = {**agent_env(home), **env, "CLAUDE_PROJECT_DIR": str(project)}
    everything["BRAIN_HTTP_TIMEOUT"] = "0.2"
    (tmp_path / "events").write_text(json.dumps([everything, lines]))
    run_code(_EVENTS, tmp_path / "events")
    wait_for_workers(home)
    assert workers_with(f"AGENTIHOOKS_HOME={home}") == []
    assert len(waiting(home)) == 10
