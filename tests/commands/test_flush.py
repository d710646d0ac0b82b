"""``brainhooks flush``: progress for a person at a terminal, the result alone for a pipe."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time

import pytest

from hooks.lock import try_lock
from tests.support.brain_server import BrainServer
from tests.support.keeping import Kept, lesson
from tests.support.run_cli import ENTRY, run_cli
from tests.support.run_hook import ROOT, agent_env


@pytest.fixture
def kept(home, project):
    kept = Kept(home, project)
    kept.ask()
    kept.say(*(lesson(f"lesson {number}") for number in range(3)))
    kept.collect()
    return kept


def at_a_terminal(home, *args):
    """Run the command with a terminal for stdout; return what the terminal got."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", ENTRY.format(before="", function="main"), *args],
        stdout=theirs,
        cwd=home.parent,
        env={**agent_env(home), "PYTHONPATH": str(ROOT)},
    )
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:  # Linux says EIO where the other side is closed
        pass
    os.close(ours)
    assert process.wait(60) == 0
    return said.decode().replace("\r\n", "\n")


def test_a_terminal_sees_each_file_and_keeps_only_the_result(kept, home):
    said = at_a_terminal(home, "flush")
    for place in (1, 2, 3):
        assert f"\rdelivering {place} of 3" in said
    assert said.endswith("\r3 committed\n")
    assert said.count("\n") == 1


def test_a_terminal_sees_no_progress_where_nothing_waits(kept, home):
    kept.drain()
    assert at_a_terminal(home, "flush") == "Nothing waits for the brain.\n"


def test_a_pipe_gets_the_result_alone(kept, home):
    done = run_cli("flush", home=home)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3 committed\n", "")


def test_what_another_process_delivers_just_now_is_not_called_done(kept, home):
    with try_lock(str(home / "locks" / "drainer")):
        done = run_cli("flush", home=home)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Another process is delivering" in done.stderr


def test_the_backlog_is_part_of_the_count(kept, home):
    from tests.support.older_home import OLD, put

    put(home / "brain-outbox-backlog", "a.json", {**OLD, "content": "a"})
    put(home / "brain-outbox-backlog", "b.json", {**OLD, "content": "b"})
    said = at_a_terminal(home, "flush")
    assert [f"delivering {place} of 5" in said for place in range(1, 6)] == [True] * 5
    assert said.endswith("\r5 committed\n")


LIMIT_S = 0.4
SAID = f"the http brain cannot be used now: no answer within {LIMIT_S} s"
FOR_EVER = 20  # a process start and three exchanges of ``LIMIT_S`` are far below it


@pytest.fixture
def service(tmp_path):
    with BrainServer(tmp_path / "service") as found:
        yield found


def timed_flush(home, service):
    named = {"BRAIN_URL": service.url, "BRAIN_HTTP_TOKEN": service.token}
    began = time.monotonic()
    done = run_cli("flush", home=home, env={**named, "BRAIN_HTTP_TIMEOUT": str(LIMIT_S)})
    return done, time.monotonic() - began


@pytest.mark.parametrize("way", ["drip", "drip-head"])
def test_a_service_that_drips_for_ever_ends_a_flush_in_time_and_keeps_all(kept, home, service, way):
    for route in ("POST /marker", "GET /feed", "GET /health"):
        service.always(route, way)
    for attempt in (1, 2):  # the second time it is asked first for what may have arrived
        done, took = timed_flush(home, service)
        assert (done.returncode, done.stdout) == (1, ""), attempt
        assert f"3 markers still waiting: {SAID}" in done.stderr
        assert LIMIT_S < took < FOR_EVER
    service.heal()
    assert timed_flush(home, service)[0].stdout == "3 committed\n"
    assert sorted(service.contents()) == [f"lesson {number}" for number in range(3)]


def test_a_feed_that_drips_for_ever_ends_a_flush_in_time_and_delivers_all(kept, home, service):
    service.always("GET /feed", "drip")
    done, took = timed_flush(home, service)
    assert (done.returncode, done.stdout) == (0, "3 committed\n"), done.stderr
    assert LIMIT_S < took < FOR_EVER
