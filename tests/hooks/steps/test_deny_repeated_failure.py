"""What is denied, where it was asked for, and what lets it run again."""

from __future__ import annotations

import pytest

from hooks.context.operation import OURS
from hooks.context.state_embedded import FILE
from tests.support.guards import (
    all_at_once,
    bash,
    before,
    denial,
    failing,
    have_failed,
    state_env,
    switch_controls_off,
)

__all__ = ["state_env"]
DENY = {"BRAINHOOKS_BREAKER_DENY": "1"}


@pytest.fixture
def work(session):
    mine = session(env=DENY)
    mine.start()
    mine.settle()
    return mine


def test_what_failed_ten_times_is_denied_and_the_agent_reads_how_to_go_on(session, state_env):
    mine = session(env={**DENY, **state_env})
    mine.start()
    for _ in range(9):
        failing(mine)
    assert denial(before(mine)) == ""
    failing(mine)
    said = denial(before(mine))
    assert said.startswith(f"{OURS}`npm test` was not run: it has failed 10 times")
    assert "`/brainhooks:controls off`" in said
    assert denial(before(mine, "git status")) == ""
    assert denial(before(mine, "npm test -- --bail")) != ""
    assert denial(before(mine, "cd x && npm test")) == ""
    mine.settle()


def test_nothing_is_denied_unless_it_was_asked_for(session):
    mine = session()
    mine.start()
    have_failed(mine, 12)
    assert before(mine).stdout == b""


def call(mine, tool, given, error=""):
    """A call that fails with ``error``, or that is about to run."""
    if error:
        return mine.fire(
            "PostToolUseFailure.Read", tool_name=tool, tool_input=given, error=error
        ).context
    return denial(mine.fire("PreToolUse.Read", tool_name=tool, tool_input=given))


TARGETS = {
    "Read": ("Read", "file_path", "/srv/{}.py", "File does not exist."),
    "WebFetch": ("WebFetch", "url", "https://{}.example/", "Request failed with status code 503"),
    "mcp": ("mcp__files__read", "name", "{}", "not found"),
    "ls": ("Bash", "command", "ls {}", "Exit code 2\nls: cannot access '{}/': No such file"),
    "python": ("Bash", "command", "python scripts/{}.py", "Exit code 1"),
}


@pytest.mark.parametrize(("tool", "name", "form", "error"), TARGETS.values(), ids=TARGETS)
def test_ten_targets_that_fail_in_one_way_are_told_and_none_is_denied(
    work, tool, name, form, error
):
    said = [call(work, tool, {name: form.format(one)}, error.format(one)) for one in "abcdefghij"]
    assert [number for number, text in enumerate(said, 1) if text] == [5, 10]
    assert "with other arguments, too" in said[4]
    assert [one for one in "abcz" if call(work, tool, {name: form.format(one)})] == []
    for _ in range(9):
        call(work, tool, {name: form.format("a")}, error.format("a"))
    assert [one for one in "abcz" if call(work, tool, {name: form.format(one)})] == ["a"]


@pytest.mark.parametrize(
    "edit",
    [
        lambda mine: mine.fire("PostToolUse.Edit"),
        lambda mine: mine.fire("PostToolUse.Write"),
        lambda mine: mine.fire("PostToolUse.Edit", tool_name="NotebookEdit"),
        lambda mine: bash(mine, "sed -i s/a/b/ x.py"),
        lambda mine: bash(mine, "cat > x.py <<'E'\na\nE"),
    ],
    ids=["Edit", "Write", "NotebookEdit", "sed -i", "cat >"],
)
def test_an_edit_lets_it_run_again(work, edit):
    have_failed(work, 10)
    assert denial(before(work)) != ""
    edit(work)
    assert denial(before(work)) == ""
    failing(work)
    assert denial(before(work)) == ""


def test_ten_failing_runs_with_an_edit_between_each_are_never_denied(work):
    for _ in range(11):
        assert denial(before(work)) == ""
        failing(work)
        work.fire("PostToolUse.Edit")


def test_a_success_that_only_looks_leaves_it_denied(work):
    have_failed(work, 10)
    bash(work, "git log --format='%h -> %s'")
    work.fire("PostToolUse.Read")
    assert denial(before(work)) != ""


def test_a_success_of_its_own_lets_it_run_again(work):
    have_failed(work, 10)
    bash(work, "npm test")
    assert denial(before(work)) == ""


def test_a_denial_that_comes_back_as_a_failure_changes_nothing(work):
    have_failed(work, 10)
    back = f"PreToolUse:Bash hook error: {denial(before(work))}"
    runs = [work.fire("PostToolUseFailure", error=back) for _ in range(6)]
    assert [run.stdout for run in runs] == [b""] * 6
    assert "failed 10 times" in denial(before(work))


def test_eight_hooks_at_once_all_deny(work):
    have_failed(work, 10)
    assert all(denial(run) for run in all_at_once(8, lambda: before(work)))


def test_controls_that_are_off_deny_nothing(work, home):
    have_failed(work, 10)
    switch_controls_off(home)
    assert denial(before(work)) == ""
    assert failing(work).context == ""


def test_a_state_that_is_lost_denies_nothing(work, home):
    have_failed(work, 10)
    (home / FILE).write_bytes(b"no database" * 1_000)
    assert denial(before(work)) == ""
