"""The detached worker: it catches up, flushes, refreshes, and is never heard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hooks.context import session_index
from hooks.context.session_index import Entry
from tests.support.keeping import Kept, lesson
from tests.support.run_hook import ROOT, agent_env


@pytest.fixture
def kept(home, project):
    one = Kept(home, project)
    entry = Entry(
        session_id=one.session.id,
        at="2026-11-30T12:00:00.000000+00:00",
        project_id="git.example.org/shop/web",
        cwd=str(project),
        transcript_path=str(one.session.transcript),
    )
    session_index.append(one.home, entry)
    return one


def work(kept, *args):
    """Run the worker as a hook starts it, but wait for it."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(ROOT / "hooks" / "__main__.py"), "worker", *args],
        env=agent_env(Path(kept.home)),
        capture_output=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    return done.returncode


def log(kept):
    path = Path(kept.home) / "logs" / "hooks.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_a_session_that_never_ended_is_caught_up_with_its_subagents(kept):
    kept.ask()
    kept.say(lesson("from the session"))
    agent = Kept(Path(kept.home), kept.session.project, session_id=kept.session.id)
    agent.session.transcript = kept.session.transcript.with_suffix("") / "subagents" / "a.jsonl"
    agent.say(lesson("from the subagent"))
    assert work(kept, "catch-up") == 0
    assert sorted(kept.texts()) == ["from the session", "from the subagent"]
    assert work(kept, "catch-up") == 0
    assert len(kept.receipts()) == 2


def test_a_start_catches_up_the_other_sessions_and_leaves_its_own_to_its_hooks(kept):
    kept.ask()
    kept.say(lesson("X"))
    assert work(kept, "start", "git.example.org/shop/web", kept.session.id) == 0
    assert kept.receipts() == []
    assert work(kept, "start", "git.example.org/shop/web", "another") == 0
    assert kept.texts() == ["X"]


def test_a_transcript_that_is_no_file_any_more_is_passed_over(kept, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for number, path in enumerate((str(tmp_path / "pipe"), "/nowhere", str(tmp_path), "")):
        row = Entry(f"s{number}", "2026-11-30T12:00:00.000000+00:00", transcript_path=path)
        session_index.append(kept.home, row)
    kept.say(lesson("X"))
    assert work(kept, "catch-up") == 0
    assert kept.texts() == ["X"]


def test_flush_posts_what_waits_and_only_says_in_the_log_what_went_wrong(kept):
    kept.say(lesson("X"))
    kept.collect()
    assert work(kept, "flush") == 0
    assert kept.texts() == ["X"]
    assert log(kept) == ""
    Path(kept.home, "brain-outbox", "bad.json").write_bytes(b"{")
    assert work(kept, "flush") == 0
    assert "1 quarantined" in log(kept)


def test_what_fails_in_one_step_is_logged_and_the_next_step_runs(kept):
    kept.say(lesson("X"))
    kept.collect()
    (Path(kept.home) / "brain" / "local.db").write_bytes(b"no database " * 500)
    assert work(kept, "start", "git.example.org/shop/web", "") == 0
    assert len(kept.waiting()) == 1
    assert "database" in log(kept)


def test_a_verb_it_does_not_know_is_an_error(kept):
    assert work(kept, "dance") == 1
    assert work(kept) == 1
