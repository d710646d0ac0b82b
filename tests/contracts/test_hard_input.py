"""Transcripts and standard input of every shape, with real hook processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.contracts.test_hard_conditions import assert_calm, before, heal, log_of, texts
from tests.support.keeping import lesson
from tests.support.run_hook import ROOT, agent_env, recorded, wait_for_workers


def fifo(folder):
    os.mkfifo(folder / "pipe")
    return str(folder / "pipe")


SHAPES = {
    "null": lambda folder: None,
    "empty": lambda folder: "",
    "missing": lambda folder: str(folder / "missing.jsonl"),
    "folder": str,
    "pipe": fifo,
    "relative": lambda folder: "some/where.jsonl",
    "tilde": lambda folder: "~/where.jsonl",
    "device": lambda folder: "/dev/zero",
    "below a file": lambda folder: __file__ + "/x",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_transcript_that_is_none_keeps_the_last_message_once(session, home, tmp_path, shape):
    """The payload's own text is kept; when the transcript is there again it is not kept twice."""
    one = session()
    before(one)
    path = SHAPES[shape](tmp_path)
    one.prompt("go")
    one.says(lesson("n0"))
    runs = [one.fire("SessionStart.resume", transcript_path=path)]
    runs += [one.stop(transcript_path=path), one.fire("SessionEnd", transcript_path=path)]
    assert_calm(*runs)
    one.settle()
    heal(one)
    assert texts(home) == ["before", "n0"]
    assert "unforeseen" not in log_of(home)


@pytest.mark.parametrize("event", ["Stop", "SessionStart", "SessionEnd"])
@pytest.mark.parametrize("fd", [0, 1, 2])
def test_a_closed_stream_stops_nobody(session, home, event, fd):
    one = session()
    before(one)
    payload = recorded(event, session_id=one.id, cwd=one.cwd, transcript_path=str(one.transcript))
    payload["last_assistant_message"] = ""
    command = f'exec "$0" -I -S "$1" {event} {fd}{"<" if fd == 0 else ">"}&-'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, str(ROOT / "hooks" / "__main__.py")],
        input=None if fd == 0 else json.dumps(payload).encode(),
        env=agent_env(home),
        capture_output=True,
        check=False,
    )
    wait_for_workers(home)
    assert (done.returncode, done.stderr) == (0, b"")
    heal(one)
    assert texts(home) == ["before"]


@pytest.mark.parametrize("event", ["Stop", "SessionStart"])
@pytest.mark.parametrize("broken", ["stdin", "stdout"])
def test_a_stream_that_fails_is_logged_and_stops_nobody(session, home, event, broken):
    one = session()
    before(one)
    one.says(lesson("n0"))
    payload = one.transcript.parent / "payload.json"
    own = {"session_id": one.id, "cwd": one.cwd, "transcript_path": str(one.transcript)}
    said = {"last_assistant_message": lesson("n0"), "source": "clear"}
    payload.write_text(json.dumps(recorded(event, **own, **said)), encoding="utf-8")
    stdin = os.open(payload, os.O_WRONLY if broken == "stdin" else os.O_RDONLY)
    stdout = os.open("/dev/full" if broken == "stdout" else os.devnull, os.O_WRONLY)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(ROOT / "hooks" / "__main__.py"), event],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=agent_env(home),
        check=False,
    )
    os.close(stdin)
    os.close(stdout)
    wait_for_workers(home)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "[Errno " in log_of(home)
    assert "unforeseen" not in log_of(home)
    heal(one)
    assert texts(home) == ["before", "n0"]


def test_ten_megabytes_of_payload_are_read(session, home):
    one = session()
    before(one)
    one.prompt("go")
    text = lesson("n0") + "\n" + "x" * (10 << 20)
    assert_calm(one.stop(last_assistant_message=text))
    one.settle()
    assert texts(home) == ["before", "n0"]


def test_more_than_any_payload_is_refused_with_a_line(session, home):
    one = session()
    before(one)
    run = one.stop(last_assistant_message="x" * (17 << 20))
    assert_calm(run)
    assert "larger than" in log_of(home)
    heal(one)
    assert texts(home) == ["before"]


@pytest.mark.timeout(300)
def test_a_line_of_100_megabytes_hides_nothing_behind_it(session, home):
    one = session()
    before(one)
    one.prompt("go")
    piece = b"y" * (1 << 20)
    with one.transcript.open("ab") as file:
        file.write(b'{"type":"user","message":{"role":"user","content":"')
        for _ in range(100):
            file.write(piece)
        file.write(b'"}}\n')
    one.says(lesson("n0"))
    assert_calm(one.stop(last_assistant_message=""))
    one.settle()
    heal(one)
    one.transcript.write_bytes(b"")
    assert texts(home) == ["before", "n0"]


@pytest.mark.timeout(300)
def test_a_transcript_of_500_megabytes_with_a_hole_hides_nothing_behind_it(session, home):
    """The hole is of NUL bytes, as a power cut leaves one; on disk it takes no room."""
    one = session()
    before(one)
    one.prompt("go")
    os.truncate(one.transcript, one.transcript.stat().st_size + (500 << 20))
    with one.transcript.open("ab") as file:
        file.write(b"\n")
    one.says(lesson("n0"))
    assert_calm(one.stop(last_assistant_message=""))
    one.settle()
    heal(one)
    one.transcript.write_bytes(b"")
    assert texts(home) == ["before", "n0"]


# A child's peak counts what its parent held when it was started: a small one starts it.
_SMALL_PARENT = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # ended, and its numbers still there
read = next(line for line in open(f"/proc/{pid}/io") if line.startswith("rchar: "))
_, status, used = os.wait4(pid, 0)
sys.stderr.write(f"{read.split()[1]} {used.ru_maxrss << 10} {status}")
"""


def measured(one):
    """Run the session's Stop: its reply, the bytes that it read, and its peak of memory."""
    payload = recorded(
        "Stop",
        session_id=one.id,
        cwd=one.cwd,
        transcript_path=str(one.transcript),
        prompt_id=one.prompt_id,
        last_assistant_message="",
    )
    start = [sys.executable, "-I", "-S", str(ROOT / "hooks" / "__main__.py"), "Stop"]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _SMALL_PARENT, *start],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env={**agent_env(one.home), "CLAUDE_PROJECT_DIR": one.cwd},
        cwd=one.project,
        check=True,
    )
    read, peak, status = map(int, done.stderr.split())
    assert status == 0
    return json.loads(done.stdout), read, peak


@pytest.mark.skipif(sys.platform != "linux", reason="what a process read is told by /proc")
def test_the_end_of_a_transcript_of_200_megabytes_costs_the_end_alone(session, home):
    one = session()
    before(one)
    one.prompt("go")
    os.truncate(one.transcript, one.transcript.stat().st_size + (200 << 20))
    with one.transcript.open("ab") as file:
        file.write(b"\n")
    one.stop(last_assistant_message="")
    one.settle()
    one.says("x" * 2_000, lesson("n0"))
    said, read, peak = measured(one)
    one.settle()
    assert "kept 1 lesson" in said["systemMessage"]
    assert read < 16 << 20, "its own modules, and the transcript's last few KiB"
    assert peak < 40 << 20
    assert texts(home) == ["before", "n0"]
