"""Plugin and settings entry together: two processes, one piece of work, one same answer."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import uuid

import pytest

from hooks.context.claims import LATE
from tests.support.run_hook import ROOT, agent_env, recorded, run_verb
from tests.support.session import compact

LESSON = "the staging database is reset every night"


def twins(session, line: str, count: int = 2) -> list[str]:
    """Submit one prompt to ``count`` hook processes at the same time; what each answered."""
    prompt_id = str(uuid.uuid4())
    run = [start(session, line, prompt_id) for _ in range(count)]
    return [answer_of(process) for process in run]


def start(session, line: str, prompt_id: str) -> subprocess.Popen[bytes]:
    entry = str(ROOT / "hooks" / "__main__.py")
    return fed([entry, "UserPromptSubmit"], session, line, prompt_id)


def fed(args: list[str], session, line: str, prompt_id: str) -> subprocess.Popen[bytes]:
    """Start Python with ``args`` and give it the prompt's payload."""
    payload = recorded(
        "UserPromptSubmit",
        session_id=session.id,
        transcript_path=str(session.transcript),
        cwd=session.cwd,
        prompt_id=prompt_id,
        prompt=line,
    )
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", *args],
        env=agent_env(session.home, CLAUDE_PROJECT_DIR=str(session.project)),
        cwd=session.project,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
    process.stdin.write(compact(payload))
    process.stdin.close()
    process.stdin = None
    return process


def answer_of(process: subprocess.Popen[bytes]) -> str:
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"")
    return out.decode()


@pytest.fixture
def current(session):
    """A session that two installations started, with one lesson of the person's."""
    current = session()
    current.start()
    current.start()
    assert LESSON in twins(current, f"/brainhooks:remember {LESSON}")[0]
    yield current
    current.settle()


def id_of(home, project) -> str:
    lines = run_verb("lessons", home, cwd=project).stdout.decode().splitlines()
    (line,) = [line for line in lines if LESSON in line]
    return re.search(r"\b[0-9a-f]{6,32}\b", line)[0]


@pytest.mark.parametrize("round_", range(5))
def test_every_verb_is_answered_by_both_with_the_very_same_bytes(home, project, current, round_):
    for line in ("lessons", "brain_status", "remember"):
        one, other = twins(current, f"/brainhooks:{line}")
        assert one == other
        assert '"decision"' in one
        assert LATE not in one
    one, other = twins(current, f"/brainhooks:edit {id_of(home, project)} {LESSON} at two")
    assert one == other
    assert "Before: " in one
    one, other = twins(current, f"/brainhooks:forget {id_of(home, project)}")
    assert one == other
    assert "Forgot " in one
    assert "nothing" in run_verb("lessons", home, cwd=project).stdout.decode().lower()


def test_what_is_remembered_by_both_is_one_memory(home, project, current):
    assert run_verb("lessons", home, cwd=project).stdout.decode().count(LESSON) == 1


def test_no_answer_stays_lying_in_the_home(home, project, current):
    twins(current, "/brainhooks:lessons")
    twins(current, f"/brainhooks:forget {id_of(home, project)}")
    left = [path for path in home.rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert [path for path in left if LESSON.encode() in path.read_bytes()] == []


def test_when_the_one_at_work_is_killed_the_other_does_the_work(home, project, current):
    """The first is stopped while it holds the claim; nobody waits for a dead process."""
    prompt_id = str(uuid.uuid4())
    line = f"/brainhooks:forget {id_of(home, project)}"
    first = stopped_at_work(current, line, prompt_id)
    second = start(current, line, prompt_id)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert "Forgot " in answer_of(second)


STOPPED = """
import os, signal
from hooks.context import claims
def stop(*args):
    os.write(1, b"at work\\n")
    os.kill(os.getpid(), signal.SIGSTOP)
claims._said = stop
import time
from hooks.dispatch import main
main(["UserPromptSubmit"], env=dict(os.environ), stdin=0, stdout=1, now=time.time())
"""


def stopped_at_work(session, line: str, prompt_id: str) -> subprocess.Popen[bytes]:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}){STOPPED}"
    process = fed(["-c", code], session, line, prompt_id)
    assert process.stdout.readline() == b"at work\n"
    return process
