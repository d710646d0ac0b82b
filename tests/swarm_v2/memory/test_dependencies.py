from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.dependencies import (
    DependencyIndex,
    Reader,
    WriterIndex,
    compact,
    meets,
    ordered,
)

KEY_A = InstanceKey("proj", "user:a", "preferences")
KEY_B = InstanceKey("proj", "user:b", "preferences")
A, B = Reader("context", "user:a"), Reader("context", "user:b")
WHOLE = ((),)


def test_a_change_wakes_the_readers_of_that_instance_and_of_no_other() -> None:
    index = DependencyIndex()
    index.replace(A, {KEY_A: WHOLE})
    index.replace(B, {KEY_B: WHOLE})
    assert index.readers(KEY_A) == [A]
    assert index.readers(KEY_B) == [B]
    assert index.readers(InstanceKey("other", "user:a", "preferences")) == []


def test_one_batch_with_two_instances_wakes_exactly_their_readers() -> None:
    index = DependencyIndex()
    index.replace(A, {KEY_A: WHOLE})
    index.replace(B, {KEY_B: WHOLE})
    index.replace(Reader("digest", "space"), {InstanceKey("proj", "space", "index"): WHOLE})
    woken = [reader for key in (KEY_A, KEY_B) for reader in index.readers(key)]
    assert woken == [A, B]


def test_reads_that_a_run_gave_up_wake_no_more_and_failed_ones_are_added() -> None:
    index = DependencyIndex()
    index.replace(A, {KEY_A: WHOLE})
    index.add(A, {KEY_B: WHOLE})
    assert index.readers(KEY_B) == [A]
    index.replace(A, {KEY_B: WHOLE})
    assert index.readers(KEY_A) == []
    index.drop(A)
    assert (index.readers(KEY_B), len(index)) == ([], 0)


def test_paths_are_compacted_for_one_reader_and_never_across_readers() -> None:
    index = DependencyIndex()
    index.replace(A, {KEY_A: (("style",), ("style", "x"))})
    index.replace(B, {KEY_A: ((),)})
    assert index.reads(A) == {KEY_A: (("style",),)}
    assert index.readers(KEY_A, ("verbosity",)) == [B]
    assert index.readers(KEY_A, ("style", "y")) == [A, B]
    assert index.readers(KEY_A) == [A, B]


def test_a_declared_output_feeds_each_reader_of_that_name_whoever_it_runs_as() -> None:
    writers = WriterIndex()
    writers.add("status", Address("proj", "status", "user"))
    named = Address("proj", "status", "space", scope_key="user:b")
    assert writers.writers(named) == {"status"}
    assert writers.writers(Address("proj", "status", "session")) == set()


def test_writers_come_before_readers_and_a_circle_does_not_hang() -> None:
    assert ordered(["a", "b", "c"], {"a": {"b"}, "b": {"c"}}) == ["c", "b", "a"]
    assert sorted(ordered(["a", "b"], {"a": {"b"}, "b": {"a"}})) == ["a", "b"]


paths = st.lists(st.lists(st.sampled_from("ab"), max_size=3).map(tuple), max_size=6)


@settings(deadline=None, max_examples=100)
@given(paths, st.lists(st.sampled_from("ab"), max_size=4).map(tuple))
def test_compacting_changes_nothing_that_wakes(
    some: list[tuple[str, ...]], at: tuple[str, ...]
) -> None:
    assert any(meets(at, one) for one in some) == any(meets(at, one) for one in compact(some))
