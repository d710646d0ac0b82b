"""What the agent hears of what keeps failing, through the processes that it starts."""

from __future__ import annotations

import pytest

from hooks.context.operation import OURS
from tests.support.guards import all_at_once, bash, failing, state_env

__all__ = ["state_env"]
TOLD = "has now failed 5 times in this session with the same error"


@pytest.fixture
def work(session):
    mine = session()
    mine.start()
    mine.settle()
    return mine


def told(mine, number=5, **fields):
    """Fail as often and return after which failures something was said."""
    return [n for n in range(1, number + 1) if "investigate" in failing(mine, **fields).context]


def test_the_fifth_failure_says_to_stop_and_the_next_say_nothing(session, state_env):
    mine = session(env=state_env)
    mine.start()
    said = [failing(mine).context for _ in range(10)]
    assert [n for n, text in enumerate(said, 1) if text] == [5, 10]
    assert f"`npm test` {TOLD}" in said[4]
    assert "has now failed 10 times" in said[9]
    mine.settle()


def test_eight_failures_at_once_are_counted_each_and_told_once(session, state_env):
    mine = session(env=state_env)
    mine.start()
    runs = all_at_once(8, lambda: failing(mine))
    assert sorted(TOLD in run.context for run in runs) == [False] * 7 + [True]
    assert failing(mine).context == ""
    assert "has now failed 10 times" in failing(mine).context
    mine.settle()


def test_paths_hashes_numbers_and_times_do_not_hide_a_repetition(work):
    errors = [
        f"10:0{n}:00 error: /srv/{n}/x.py: bad object {n * 7919:040x} after {n}s" for n in range(5)
    ]
    said = [
        failing(work, f"cd /srv/{n} && npm test -- {n}", error).context
        for n, error in enumerate(errors)
    ]
    assert said[:4] == [""] * 4
    assert TOLD in said[4]


def test_two_that_fail_in_turn_are_both_told(work):
    said = []
    for _ in range(5):
        said += [failing(work, "npm test").context, failing(work, "git push").context]
    assert [n for n, text in enumerate(said) if text] == [8, 9]


def test_other_errors_and_other_commands_are_not_added_up(work):
    for name in ("a", "b", "c", "d", "e"):
        assert failing(work, error=f"error: {name}").context == ""
        assert failing(work, f"npm run {name}").context == ""


def test_an_unrelated_success_does_not_begin_anew_and_one_of_its_own_does(work):
    assert told(work, 4) == []
    assert bash(work, "git status").context == ""
    work.fire("PostToolUse.Read")
    assert told(work, 1) == [1]
    bash(work, "cd web && npm test")
    assert told(work, 5) == [5]


def test_a_command_whose_failure_the_script_hides_is_no_success(work):
    assert told(work, 4) == []
    for command in ("npm test || true", "npm test; ls", "npm test | tail", "echo npm test"):
        bash(work, command)
    bash(work, "npm test", tool_response={"stdout": "", "interrupted": True})
    bash(work, "npm test", tool_response={"stdout": "", "backgroundTaskId": "b1"})
    assert told(work, 1) == [1]


def test_what_a_person_interrupted_is_not_counted(work):
    assert told(work, 8, is_interrupt=True) == []
    assert told(work, 5) == [5]


@pytest.mark.parametrize("prefix", ["", "PreToolUse:Read hook error: "])
def test_our_own_denials_are_not_counted(work, prefix):
    said = f"{prefix}{OURS}the tool Read was not run: it has failed 10 times"
    runs = [work.fire("PostToolUseFailure.Read", error=said) for _ in range(6)]
    assert [run.stdout for run in runs] == [b""] * 6


def test_a_command_that_prints_a_text_of_ours_failed_all_the_same(work):
    assert told(work, 5, error=f"error: {OURS}x") == [5]


def test_denials_of_another_hook_are_counted_whatever_path_they_name(work):
    said = [
        work.fire(
            "PostToolUseFailure.Read",
            tool_input={"file_path": f"/srv/My Files/{name}.txt"},
            error=f"PreToolUse:Read hook error: reading /srv/My Files/{name}.txt is forbidden",
        ).context
        for name in ("a", "b one", "c", "d", "e")
    ]
    assert said[:4] == [""] * 4
    assert f"the tool Read {TOLD}" in said[4]


def test_a_subagents_failures_are_the_sessions(work):
    assert told(work, 4, agent_id="a3494a5b96b1bafc9") == []
    assert told(work, 1) == [1]


def test_another_session_begins_from_nothing(work, session):
    assert told(work, 4) == []
    other = session()
    assert told(other, 4) == []
    assert told(work, 1) == [1]


def test_the_recorded_failures_are_silent_once(work):
    for name in ("", ".Read", ".EnterWorktree"):
        run = work.fire(f"PostToolUseFailure{name}")
        assert (run.rc, run.stdout, run.stderr) == (0, b"", "")
