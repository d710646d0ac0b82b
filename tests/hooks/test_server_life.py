"""How the server door begins and ends, and what it leaves behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from tests.support.processes import ROOT, command
from tests.support.run_hook import agent_env, recorded
from tests.support.server_door import Door

MARKED = "<!-- @lesson -->always run the tests<!-- @/lesson -->"
ARGUMENTS = {"event": "MessageDisplay", "delta": MARKED, "index": "0", "final": "true"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
CALL |= {"params": {"name": "hook", "arguments": ARGUMENTS}}
# A server whose one step is ours.
INSIDE = """
import os, sys, hooks.server, hooks.steps.show_markers as step
shown, pids = step.run, []
step.run = lambda ctx: ours(ctx)
def served():
    return hooks.server.main(env={"AGENTIHOOKS_HOME": sys.argv[1]}, stdin=0, stdout=1)
"""


@pytest.fixture
def door(home):
    with Door(home) as door:
        door.begin()
        yield door


def inside(code: str, home, *, calls: int = 1) -> list[str]:
    """Run a server with that step; return what it answered to the calls."""
    done = subprocess.run(
        command(INSIDE + code, home),
        input=(json.dumps(CALL) + "\n") * calls,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [answer["result"]["content"][0]["text"] for answer in answers]


@pytest.mark.skipif(sys.platform != "linux", reason="counted in /proc")
def test_many_events_leave_no_file_open(door, session):
    current = session()
    payload = recorded("PostToolUseFailure", session_id=current.id, cwd=str(current.cwd))
    door.call("PostToolUseFailure", payload)
    before = door.open_files()
    for _ in range(50):
        door.call("PostToolUseFailure", payload)
    assert door.open_files() == before


def test_it_ends_with_its_input(door):
    door.process.stdin.close()
    assert door.process.wait(60) == 0
    assert door.process.stdout.read() == door.process.stderr.read() == b""


def test_a_message_that_was_cut_off_by_the_end_is_none(door):
    door.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert door.ended() == (0, b"", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_without_a_word(door, number):
    door.call("MessageDisplay", recorded("MessageDisplay"))
    door.process.send_signal(number)
    assert door.process.wait(60) == 0
    assert door.process.stdout.read() == door.process.stderr.read() == b""


def test_a_client_that_is_gone_ends_it(door):
    door.process.stdout.close()
    door.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert door.process.wait(60) == 0


def test_nothing_heavy_is_loaded_before_the_client_has_its_first_answer(home):
    entry = str(ROOT / "hooks" / "__main__.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", entry, "server"],
        input=b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n',
        env=agent_env(home),
        capture_output=True,
        check=True,
    )
    assert b"protocolVersion" in done.stdout
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "hooks.server" in loaded
    ours = {name for name in loaded if name.startswith(("hooks.", "scripts."))}
    assert not {name for name in ours if name.startswith(("hooks.context", "hooks.steps"))}
    assert not loaded & {"json", "re", "enum", "typing", "signal", "threading", "pathlib"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_end_in_the_middle_of_an_event_it_finishes_that_one(home, number):
    ours = f"def ours(ctx): os.kill(os.getpid(), {int(number)}); return shown(ctx)\n"
    (answer,) = inside(ours + "sys.exit(served())", home, calls=3)
    assert "lesson: always" in answer


def test_what_nobody_foresaw_is_an_empty_object_and_a_line_without_values(home):
    ours = "def ours(ctx): raise KeyError('a secret')\n"
    assert inside(ours + "sys.exit(served())", home, calls=2) == ["{}", "{}"]
    log = (home / "logs" / "hooks.log").read_text(encoding="utf-8")
    assert log.count("MessageDisplay - unforeseen KeyError at") == 2
    assert "secret" not in log


def test_what_happens_after_the_answer_changes_it_no_more(home):
    ours = "def ours(ctx): ctx.after_print.append(lambda: 1 / 0); return shown(ctx)\n"
    answers = inside(ours + "sys.exit(served())", home, calls=2)
    assert ["lesson: always" in answer for answer in answers] == [True, True]
    assert "ZeroDivisionError" in (home / "logs" / "hooks.log").read_text(encoding="utf-8")


def test_no_worker_that_it_started_stays_a_zombie(home):
    code = """
def ours(ctx):
    pids.append(os.posix_spawn("/bin/sh", ["sh", "-c", ":"], {}))
    os.waitid(os.P_PID, pids[-1], os.WEXITED | os.WNOWAIT)
    return shown(ctx)
served()
for pid in pids:
    try:
        os.waitpid(pid, os.WNOHANG)
        sys.exit("a child is left")
    except ChildProcessError:
        pass
sys.exit(0 if len(pids) == 2 else "no child was started")
"""
    assert len(inside(code, home, calls=2)) == 2
