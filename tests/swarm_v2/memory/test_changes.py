from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.changes import Changed, ChangeSet
from scripts.swarm_v2.memory.dependencies import DependencyIndex, Reader
from scripts.swarm_v2.memory.document import MISSING, at, same
from scripts.swarm_v2.memory.frames import SyncFrame, Upsert
from scripts.swarm_v2.memory.replica import Replica
from scripts.swarm_v2.scope_key import DirtyKey, Identity
from tests.support.memory_stores import SPACE, A, B, C, People

USER_A, USER_B, USER_C = (f"user:did%3Akey%3Az{one}" for one in "ABC")


def compared(before: object, after: object) -> list[tuple[tuple[str, ...], object, object]]:
    changes = ChangeSet()
    changes.capture(SPACE, [DirtyKey("space", "x")], lambda _: before)
    return [found[1:] for found in changes.compare(lambda _: after)]


def test_22_one_frame_with_two_instances_of_one_id_wakes_exactly_their_two_readers() -> None:
    keys = [InstanceKey(SPACE, key, "preferences") for key in (USER_A, USER_B, USER_C)]
    index, replica = DependencyIndex(), Replica(SPACE, Identity("service", "run"))
    for key in keys:
        index.replace(Reader("context", key.scope_key), {key: ((),)})
    first = [
        Upsert("preferences", "user", number, {"style": "short", "n": 1}, scope_key=key.scope_key)
        for number, key in enumerate(keys, 1)
    ]
    replica.apply(SyncFrame(SPACE, 1, 0, 3, tuple(first)))
    batch = [
        first[0]._replace(seq=4, value={"style": "long", "n": 1}),
        first[1]._replace(seq=5, value={"style": "none", "n": 1}),
        first[2]._replace(seq=6),  # written anew with an equal value
    ]
    frame = SyncFrame(SPACE, 2, 3, 6, tuple(batch))

    changes = ChangeSet()
    changes.capture(SPACE, replica.keys_of(frame), replica.confirmed)
    replica.apply(frame)
    found = changes.compare(replica.confirmed)

    assert [one.address for one in found] == [
        f'/{key}/preferences/["style"]' for key in (USER_A, USER_B)
    ]
    assert [(one.before, one.after) for one in found] == [("short", "long"), ("short", "none")]
    woken = [reader for one in found for reader in index.readers(one.key, one.path)]
    assert woken == [Reader("context", USER_A), Reader("context", USER_B)]


def test_the_change_set_of_a_batch_is_read_from_a_store_too(people: People) -> None:
    a, b, third = people.open(A, "a1"), people.open(B, "b1"), people.open(C, "c1")
    people.save(a, "preferences", "user", {"n": 1})
    people.save(third, "preferences", "user", {"n": 1})

    def read(key: InstanceKey) -> object:
        document = people.store.read(*key)
        return MISSING if document is None or document.deleted else document.value

    changes = ChangeSet()
    touched = [DirtyKey(key, "preferences") for key in (USER_A, USER_B, USER_C)]
    changes.capture(SPACE, touched, read)
    people.save(a, "preferences", "user", {"n": True})
    people.save(b, "preferences", "user", {"n": 2})
    people.commit(third, {"id": "preferences", "scope": "user", "op": "delete"})
    assert [(one.address, one.before, one.after) for one in changes.compare(read)] == [
        (f'/{USER_A}/preferences/["n"]', 1, True),
        (f"/{USER_B}/preferences/[]", MISSING, {"n": 2}),
        (f"/{USER_C}/preferences/[]", {"n": 1}, MISSING),
    ]


def test_several_captures_of_an_instance_are_one_entry_and_the_first_counts() -> None:
    changes, now = ChangeSet(), [{"n": 1}]
    key = DirtyKey(USER_A, "x")
    for number in (2, 3, 4):
        changes.capture(SPACE, [key, key], lambda _: now[-1])
        now.append({"n": number})
    assert changes.keys() == (InstanceKey(SPACE, USER_A, "x"),)
    assert changes.compare(lambda _: now[-1]) == [
        Changed(InstanceKey(SPACE, USER_A, "x"), ("n",), 1, 4)
    ]


def test_equal_values_are_no_change_whatever_the_order_of_their_members() -> None:
    assert compared({"a": 1, "b": [1, {}]}, {"b": [1, {}], "a": 1}) == []
    assert compared(MISSING, MISSING) == []


@pytest.mark.parametrize("one", [True, 1, 1.0, "1", None, [1], {"1": 1}, MISSING])
@pytest.mark.parametrize("other", [True, 1, 1.0, "1", None, [1], {"1": 1}, MISSING])
def test_values_are_compared_with_their_types(one: object, other: object) -> None:
    equal = type(one) is type(other)
    assert (compared(one, other) == []) == equal
    assert (compared({"deep": [one]}, {"deep": [other]}) == []) == equal


def test_an_absent_instance_has_scope_and_key_but_no_value() -> None:
    assert compared(MISSING, {"n": 1}) == [((), MISSING, {"n": 1})]
    assert compared({"n": 1}, MISSING) == [((), {"n": 1}, MISSING)]
    assert compared({}, {"n": None}) == [(("n",), MISSING, None)]


def test_items_of_a_list_are_told_by_their_index() -> None:
    assert compared({"a": [1, 2]}, {"a": [1, 3, 4]}) == [
        (("a", "1"), 2, 3),
        (("a", "2"), MISSING, 4),
    ]
    assert compared([1, 2], [1]) == [(("1",), 2, MISSING)]
    assert compared([], {}) == [((), [], {})]


values: Any = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.just(1.0) | st.sampled_from("ab"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values, values)
@settings(deadline=None, max_examples=100)
def test_nothing_is_told_that_is_equal_and_nothing_different_is_left_out(
    before: object, after: object
) -> None:
    kept = copy.deepcopy((before, after))
    found = compared(before, after)
    assert same(list(kept), [before, after])
    assert (found == []) == same(before, after)
    for path, old, new in found:
        assert not same(old, new)
        assert same(at(before, path), old)
        assert same(at(after, path), new)
    paths = [path for path, _, _ in found]
    assert len(set(paths)) == len(paths)
