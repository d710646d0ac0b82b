"""What memory off forbids is not logged, nor what is older than a log may be."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from hooks.context import switch
from tests.support.logged import Logged

ON = {"BRAINHOOKS_TRANSCRIPT_LOG": "1"}


@pytest.fixture
def logged(home, tmp_path, noon):
    one = Logged(home, tmp_path, noon)
    yield one
    one.state.close()


def minutes(at, number):
    return (at + timedelta(minutes=number)).isoformat()


@pytest.mark.parametrize("what", ["all", "session:s1", "project:git.example.org/shop/web"])
def test_what_was_said_while_memory_was_off_is_not_logged_also_not_later(
    logged, project, noon, what
):
    switch.turn(logged.home, on=False, what=what, at=noon)
    switch.turn(logged.home, on=True, what=what, at=noon + timedelta(minutes=10))
    logged.say("before", at=minutes(noon, -1))
    logged.say("off", at=minutes(noon, 5))
    logged.say("undated", at="none")
    logged.say("after", at=minutes(noon, 11))
    logged.at = noon + timedelta(minutes=20)
    logged.run(folder=str(project))
    assert logged.uuids() == ["before", "after"]
    logged.lose_position()
    logged.run(folder=str(project))
    assert logged.uuids() == ["before", "after"]


def test_while_the_switch_cannot_be_read_nothing_is_logged_and_nothing_is_lost(logged):
    logged.say("a")
    os.makedirs(logged.home, exist_ok=True)
    with open(switch.path(logged.home), "w") as file:
        file.write("{")
    assert not logged.run()
    assert logged.uuids() == []
    os.unlink(switch.path(logged.home))
    logged.run()
    assert logged.uuids() == ["a"]


def test_what_the_origin_forbade_its_fork_does_not_log(logged, noon):
    """Only the assistant's copied lines name their session; the prompts before them are copies."""
    switch.turn(logged.home, on=False, what="session:origin", at=noon)
    logged.say("copied-prompt")
    logged.say("copied-answer", kind="assistant", requestSessionId="origin")
    logged.say("own-prompt")
    logged.say("own-answer", kind="assistant")
    logged.run()
    assert logged.uuids() == ["own-prompt", "own-answer"]


def test_what_is_older_than_the_log_keeps_is_not_logged_anew(logged, noon):
    logged.say("old", at=(noon - timedelta(days=31)).isoformat())
    logged.say("young", at=(noon - timedelta(days=29)).isoformat())
    logged.run()
    assert logged.uuids() == ["young"]
