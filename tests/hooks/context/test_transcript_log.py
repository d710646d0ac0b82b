"""The log of a session's turns: each once, in files that only the person reads."""

from __future__ import annotations

import json
import os
import shutil
import stat
from datetime import timedelta

import pytest

from hooks.context.tidy import tidy
from hooks.context.transcript_log import FOREGROUND_BYTES, path_of
from tests.support.logged import Logged
from tests.support.run_hook import wait_for_workers
from tests.support.session import TRANSCRIPTS

ON = {"BRAINHOOKS_TRANSCRIPT_LOG": "1"}


@pytest.fixture
def logged(home, tmp_path, noon):
    one = Logged(home, tmp_path, noon)
    yield one
    one.state.close()


def test_each_hook_appends_what_is_new(logged):
    logged.say("a", "b")
    assert logged.run()
    logged.say("c")
    assert logged.run()
    assert logged.run()
    assert logged.uuids() == ["a", "b", "c"]


def test_nothing_to_say_makes_no_file(logged):
    logged.path.write_bytes(b'{"type":"mode"}\n')
    assert logged.run()
    assert not os.path.exists(logged.log)


def test_the_log_and_its_folder_are_private(logged):
    os.umask(old := os.umask(0))
    try:
        logged.say("a")
        logged.run()
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(logged.log).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(logged.log)).st_mode) == 0o700


def test_where_the_position_is_lost_no_line_is_doubled(logged):
    logged.say("a", "b")
    logged.run()
    logged.lose_position()
    logged.say("c")
    logged.run()
    assert logged.uuids() == ["a", "b", "c"]


def test_a_line_that_stands_twice_in_the_transcript_is_logged_once(logged):
    logged.say("a", "b", "a")
    logged.run()
    logged.say("b", "c")
    logged.run()
    assert logged.uuids() == ["a", "b", "c"]


@pytest.mark.parametrize("how", ["truncated", "replaced", "gone"])
def test_a_transcript_that_changed_adds_what_is_new_in_it(logged, how):
    logged.say("a", "b")
    logged.run()
    if how == "truncated":
        logged.path.write_bytes(logged.line("b"))
    else:
        logged.path.unlink()
    if how == "gone":
        assert logged.run()
    logged.say("c")
    logged.run()
    assert logged.uuids() == ["a", "b", "c"]


def test_what_is_too_much_for_a_hook_is_left_to_the_worker(logged):
    logged.say("a", pad="x" * FOREGROUND_BYTES)
    assert not logged.run()
    assert logged.uuids() == []
    assert logged.run(patient=True)
    assert logged.uuids() == ["a"]


def test_a_forks_log_says_which_lines_it_took_over(home, tmp_path, noon):
    fork = "623d8cd4-e8cf-4f96-84e5-69eec9699b32"
    one = Logged(home, tmp_path, noon, session=fork)
    shutil.copy(TRANSCRIPTS / "forked.jsonl", one.path)
    assert one.run(patient=True)
    own = [row["role"] for row in one.rows() if row["session"] == fork]
    assert own == ["user", "assistant"]
    assert len(one.rows()) == 8
    one.state.close()


def test_a_log_that_nobody_wrote_to_for_thirty_days_is_removed(logged, noon):
    logged.say("a")
    logged.run()
    for days, there in ((29, True), (31, False)):
        stamp = (noon - timedelta(days=days)).timestamp()
        os.utime(logged.log, (stamp, stamp))
        tidy(logged.home, noon)
        assert os.path.exists(logged.log) is there


def test_a_log_that_somebody_removed_is_not_written_again(logged):
    logged.say("a")
    logged.run()
    os.unlink(logged.log)
    logged.say("b")
    logged.run()
    assert logged.uuids() == ["b"]


def test_the_hooks_log_nothing_unless_they_are_asked_to(home, session):
    current = session()
    current.start()
    current.prompt("hello")
    current.says("one")
    current.stop()
    current.settle()
    assert not (home / "logs" / "transcripts").exists()


def test_the_hooks_log_a_session_as_it_goes_on(home, session):
    current = session(env=ON)
    current.start()
    current.prompt("hello, password=hunter2hunter2")
    current.says("one")
    current.stop()
    current.says("two")
    current.fire("PreCompact")
    current.says("three")
    current.end()
    current.settle()
    with open(path_of(str(home), current.id), "rb") as file:
        rows = [json.loads(line) for line in file]
    assert [row["text"] for row in rows] == ["hello, password=[redacted:password]", *NUMBERS]


NUMBERS = ["one", "two", "three"]


def test_a_long_transcript_is_logged_by_the_worker(home, session):
    current = session(env=ON)
    current.start()
    current.says("x" * FOREGROUND_BYTES)
    current.says("two")
    current.stop()
    wait_for_workers(home)
    with open(path_of(str(home), current.id), "rb") as file:
        assert [json.loads(line)["text"][:3] for line in file] == ["xxx", "two"]


def test_whose_a_forks_lines_are_is_known_across_the_parts(logged):
    text = "a word. " * 4_000
    with logged.path.open("ab") as file:
        for number in range(50):
            asked, said = ({"role": role, "content": text} for role in ("user", "assistant"))
            file.write(logged.line(f"q{number}", message=asked))
            origin = {"requestSessionId": "origin"} if number < 45 else {}
            file.write(logged.line(f"a{number}", kind="assistant", message=said, **origin))
    assert logged.run(patient=True)
    assert [row["session"] for row in logged.rows()] == ["origin"] * 90 + [logged.session] * 10
