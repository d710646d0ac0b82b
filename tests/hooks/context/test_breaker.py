"""What is counted, when it is told and denied, and what ends it; no clock, no file."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.breaker import (
    DENY_AT,
    Failure,
    cares,
    count,
    denial,
    denied,
    failures,
    is_told,
    succeeded,
    warning,
)
from hooks.context.operation import EDITORS, Operation
from hooks.context.session_state import MAX_VALUE

TEST, PUSH = Operation("Bash", ("npm test",)), Operation("Bash", ("git push",))
READ = Operation("Read")


def fail(document, operation=TEST, error="e", *, target="t", edited=False, denies=True):
    return count(document, operation, error, target=target, edited=edited, denies=denies)


def times(number, operation=TEST, error="e", document=None, target="t"):
    document = document or {}
    for _ in range(number):
        document, _ = fail(document, operation, error, target=target)
    return document


def test_the_agent_is_told_at_five_and_then_at_growing_steps():
    assert [n for n in range(1, 200) if is_told(n)] == [5, 10, 20, 40, 80, 160]


def test_failures_are_counted_per_operation_and_error():
    document = {}
    counted = []
    for _ in range(5):
        for operation, error in ((TEST, "a"), (TEST, "b"), (PUSH, "a")):
            document, one = fail(document, operation, error)
            counted.append(one.times)
    assert counted == [n for n in range(1, 6) for _ in range(3)]


def test_a_success_forgets_every_error_of_its_operation_and_nothing_else():
    document = times(3, TEST, "b", times(3, PUSH, "a", times(3, TEST, "a")))
    left = succeeded(document, "Bash", ("npm test",), edited=False)
    assert [one.op for one in failures(left)] == [("Bash", "git push")]
    assert succeeded(left, "Bash", ("git push", "npm test"), edited=False) == {}


def test_an_unrelated_success_clears_nothing():
    document = times(4)
    for tool, parts in (("Read", ()), ("Bash", ("git push",)), ("Bash", ())):
        assert succeeded(document, tool, parts, edited=False) == document


def test_half_of_a_script_that_succeeds_does_not_forget_the_whole():
    document = times(4, Operation("Bash", ("make", "npm test")))
    assert succeeded(document, "Bash", ("npm test",), edited=False) == document
    assert succeeded(document, "Bash", ("npm test", "make", "ls"), edited=False) == {}


def test_a_shell_command_that_says_nothing_is_not_forgotten_by_every_other():
    document = times(4, Operation("Bash"))
    assert succeeded(document, "Bash", ("npm test",), edited=False) == document


def test_another_tool_is_forgotten_by_any_success_of_it():
    assert succeeded(times(9, READ), "Read", (), edited=False) == {}


def test_ten_failures_without_an_edit_are_denied():
    assert denied(times(DENY_AT - 1), TEST, "t") is None
    failure = denied(times(DENY_AT), TEST, "t")
    assert failure == Failure(("Bash", "npm test"), "e", 10, "t", {"t": 10})
    assert denied(times(DENY_AT), PUSH, "t") is None


def test_what_failed_with_ten_targets_is_told_and_no_target_is_denied():
    document = {}
    for number in range(30):
        document, one = fail(document, READ, target=str(number))
        assert one.times == number + 1
    assert not any(denied(document, READ, str(number)) for number in range(31))
    assert cares(document, denies=True) == ["PostToolUse:*"]
    assert "times aside, with other arguments, too." in warning(READ, one)


def test_a_target_that_failed_ten_times_is_denied_among_others_that_failed_less():
    document = times(1, READ, document=times(DENY_AT, READ, target="gone"), target="other")
    assert denied(document, READ, "gone").since == {"gone": 10, "other": 1}
    assert denied(document, READ, "other") is None
    assert denied(document, READ, "never tried") is None


def test_of_one_target_nothing_is_said_of_other_arguments():
    assert "other arguments" not in warning(READ, fail(times(4, READ), READ)[1])


def test_ten_failing_runs_with_an_edit_between_each_are_never_denied():
    document = {}
    for number in range(1, 31):
        document, one = fail(document)
        assert one.times == number  # told all the same
        assert denied(document, TEST, "t") is None
        document = succeeded(document, "Edit", (), edited=True)


def test_an_edit_lets_run_again_what_was_denied():
    document = succeeded(times(12), "Write", (), edited=True)
    assert denied(document, TEST, "t") is None
    assert failures(document)[0].times == 12


def test_a_command_that_edits_before_it_fails_is_never_denied():
    document = {}
    for _ in range(30):
        document, _ = fail(document, edited=True)
    assert denied(document, TEST, "t") is None


@pytest.mark.parametrize("tool", EDITORS)
def test_the_tools_that_edit_are_told_and_never_denied(tool):
    document = times(40, Operation(tool))
    assert fail(document, Operation(tool))[1].times == 41
    assert denied(document, Operation(tool), "t") is None
    assert cares(document, denies=True) == ["PostToolUse:*"]


def test_nothing_that_failed_while_denials_were_off_counts_for_one():
    document = {}
    for _ in range(20):
        document, _ = fail(document, denies=False)
    document, one = fail(document)
    assert (one.times, one.since) == (21, {"t": 1})


def test_only_what_may_change_the_count_needs_a_look():
    one = times(3, READ)
    assert cares({}, denies=True) == []
    assert cares(one, denies=False) == ["PostToolUse:Read"]
    assert cares(times(3, PUSH, "e", one), denies=False) == ["PostToolUse:Read", "PostToolUse:Bash"]
    assert cares(one, denies=True) == ["PostToolUse:*"]
    assert cares(times(10, READ), denies=True) == ["PostToolUse:*", "PreToolUse:Read"]


def test_the_agent_reads_what_failed_how_often_and_how_to_go_on():
    failure = Failure(("Bash", "npm test"), "e", 12, "", {"t": 10})
    assert "`npm test` has now failed 12 times" in warning(TEST, failure)
    said = denial(TEST, failure, "t")
    assert "failed 10 times" in said
    assert "edit" in said
    assert "`/brainhooks:controls off`" in said


ROW = {"op": ["Bash", "npm test"], "error": "e", "count": 10, "of": "t", "since": {"t": 10}}
DAMAGED = {
    "no list": {"failures": 5},
    "rows of another kind": {"failures": [None, 3, [], "x"]},
    "no operation": {"failures": [{**ROW, "op": []}]},
    "a number as operation": {"failures": [{**ROW, "op": [1]}]},
    "a count that is none": {"failures": [{**ROW, "count": "9"}]},
    "a missing field": {"failures": [{"op": ["Bash", "npm test"], "error": "e", "count": 9}]},
    "times of no target": {"failures": [{**ROW, "since": 10}]},
    "times that are none": {"failures": [{**ROW, "since": {"t": "10"}}]},
}


def test_a_row_that_is_whole_counts():
    assert denied({"failures": [ROW]}, TEST, "t") is not None


@pytest.mark.parametrize("document", DAMAGED.values(), ids=DAMAGED.keys())
def test_what_is_damaged_counts_nothing(document):
    assert failures(document) == []
    assert denied(document, TEST, "t") is None
    assert fail(document)[1].times == 1
    assert cares(document, denies=True) == []


def test_the_newest_failures_are_remembered_and_the_document_stays_small():
    document = times(4)
    for number in range(1_000):
        parts = tuple(f"{'x' * 40}{number}{part}" for part in range(6))
        op = Operation("Bash", parts)
        for aim in range(20 if number > 930 else 1):
            document, _ = fail(document, op, "f" * 32, target=f"{aim:032x}")
        if number % 50 == 0:
            document = times(1, document=document)
    assert fail(document)[1].times == 25
    assert len(json.dumps(document)) < MAX_VALUE // 8


OPERATIONS = [TEST, PUSH, READ, Operation("Edit")]
events = st.one_of(
    st.tuples(st.just("fail"), st.integers(0, 3), st.sampled_from("ab")),
    st.tuples(st.just("succeed"), st.integers(0, 3), st.booleans()),
)


@settings(deadline=None, max_examples=100)
@given(st.lists(events, max_size=60))
def test_the_counts_are_what_a_plain_list_of_all_events_says(some):
    document, seen = {}, []
    for kind, index, detail in some:
        operation = OPERATIONS[index]
        if kind == "fail":
            document, one = fail(document, operation, detail)
            seen.append((operation, detail))
            assert one.times == seen.count((operation, detail))
        else:
            document = succeeded(document, operation.tool, operation.parts, edited=detail)
            seen = [pair for pair in seen if pair[0] != operation]
        assert {(one.op, one.error) for one in failures(document)} == {
            ((operation.tool, *operation.parts), error) for operation, error in seen
        }
