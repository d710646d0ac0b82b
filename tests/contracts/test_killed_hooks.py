"""Real hook processes and their workers, killed at random moments: 0 lost, 0 doubled."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys

import pytest

from hooks.context.brains import open_brain
from hooks.context.ledger import Ledger
from hooks.settings import Settings
from scripts.swarm_v2.installation import installation
from tests.support.keeping import lesson
from tests.support.run_hook import ROOT, agent_env, recorded, workers_with

WEB = "git.example.org/shop/web"


def killed(session, event, after_ms, how=signal.SIGKILL, **fields):
    """Start a hook and kill it, and every worker of its home, after so many milliseconds."""
    common = {
        "session_id": session.id,
        "transcript_path": str(session.transcript),
        "cwd": session.cwd,
        "prompt_id": session.prompt_id,
    }
    env = {**agent_env(session.home), "CLAUDE_PROJECT_DIR": str(session.project)}
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(ROOT / "hooks" / "__main__.py"), event],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=env,
        cwd=session.project,
    )
    process.stdin.write(json.dumps(recorded(event, **common, **fields)).encode())
    process.stdin.close()
    try:
        process.wait(timeout=after_ms / 1000)
    except subprocess.TimeoutExpired:
        process.send_signal(how)
        process.wait()
    for pid in workers_with(f"AGENTIHOOKS_HOME={session.home}"):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def memories(session):
    home = str(session.home)
    brain = open_brain(Settings(home), {})
    ledger = Ledger.read_only(home)
    try:
        found = brain.project_memory(WEB, installation(home).installation_id)
        return sorted(item.text for item in found), ledger.counts()
    finally:
        brain.close()
        ledger.close()


@pytest.mark.timeout(300)
def test_stops_killed_at_random_moments_lose_and_double_nothing(session):
    chance = random.Random(11)
    one = session()
    one.start()
    wanted = []
    for number in range(20):
        one.prompt(f"do {number}")
        wanted.append(f"lesson {number:02}")
        one.says("some words", lesson(wanted[-1]))
        last = lesson(wanted[-1])
        killed(one, "Stop", chance.randrange(20, 250), last_assistant_message=last)
    one.stop()
    one.settle()
    one.stop()
    one.settle()
    texts, counts = memories(one)
    assert texts == wanted
    assert counts.get("committed", 0) + counts.get("replayed", 0) == len(wanted)


def test_a_message_whose_line_came_after_the_only_stop_is_kept_once(session):
    one = session()
    one.start()
    one.prompt("go")
    assert "kept 1 lesson" in one.stop(last_assistant_message=lesson("said last")).message
    one.says(lesson("said last"))  # on disk only now, and no other hook of this session runs
    for _ in range(2):
        other = session()
        other.start()
        other.settle()
    texts, counts = memories(one)
    assert texts == ["said last"]
    assert sum(counts.values()) == 1


@pytest.mark.timeout(120)
@pytest.mark.parametrize("after_ms", [5, 50, 200, 800])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_session_end_that_is_killed_is_made_good_by_the_next_start(session, after_ms, how):
    one = session()
    one.start()
    one.prompt("go")
    one.says(lesson("said last"))
    one.settle()
    killed(one, "SessionEnd", after_ms, how)
    other = session()
    other.start()
    other.settle()
    assert memories(one)[0] == ["said last"]
