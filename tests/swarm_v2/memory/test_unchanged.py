from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.scope_key import DirtyKey
from tests.support.memory_stores import SPACE, A, B, People, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.swarm_v2.memory.store import Commit, DocumentStore

USER_A = "user:did%3Akey%3AzA"


@pytest.mark.parametrize("other", [True, 1.0, "1", [1], {"n": 1}, None])
def test_a_value_of_another_type_is_another_value(
    sqlite_store: DocumentStore, other: object
) -> None:
    people = People(sqlite_store)
    a = people.open(A, "a1")
    people.save(a, "x", "space", 1)
    assert people.save(a, "x", "space", 1) == 0
    assert people.save(a, "x", "space", other) == 2


def test_what_changes_nothing_is_left_out_of_a_commit(people: People) -> None:
    a = people.open(A, "a1")
    people.save(a, "same", "space", {"n": [1, 2]})
    change = people.commit(
        a,
        {"id": "same", "op": "set", "value": {"n": [1, 2]}},
        {"id": "never", "op": "delete"},
        {"id": "nor this", "op": "erase"},
        {"id": "new", "op": "set", "value": 1},
    )
    assert change is not None
    assert change.touched == (DirtyKey("space", "new"),)
    assert people.store.changes(SPACE, 1) == [change]
    assert people.commit(a, {"id": "never", "op": "delete"}) is None
    with refusal("stale-base"):  # the same value, but of a head that its author never saw
        people.commit(a, {"id": "same", "op": "set", "value": {"n": [1, 2]}, "base": 0})


def test_of_two_writes_of_one_document_the_last_one_stays(people: People) -> None:
    a = people.open(A, "a1")
    people.save(a, "x", "space", 1)
    two = ({"id": "x", "op": "set", "value": value} for value in (2, 1))
    assert people.commit(a, *two)  # the second is no repetition of what stands there now
    assert people.value(a, "x", "space") == 1


def test_null_is_a_value_where_a_document_was_deleted(people: People) -> None:
    a = people.open(A, "a1")
    people.save(a, "x", "space", None)
    assert people.commit(a, {"id": "x", "op": "delete"})
    assert people.save(a, "x", "space", None) == 3


def test_erasing_what_was_deleted_is_no_empty_change(people: People) -> None:
    a = people.open(A, "a1")
    people.save(a, "x", "user", "secret")
    assert people.commit(a, {"id": "x", "scope": "user", "op": "delete"})
    assert people.commit(a, {"id": "x", "scope": "user", "op": "delete"}) is None
    assert people.commit(a, {"id": "x", "scope": "user", "op": "erase"})
    assert people.commit(a, {"id": "x", "scope": "user", "op": "erase"}) is None
    assert all(one.value is None for one in people.store.history(SPACE, USER_A, "x"))


class Raced(SqliteStore):
    """Somebody else is quicker, once."""

    rival: Any = None

    def commit(self, space: str, commit: Commit, *, branch: str = "") -> int:
        rival, self.rival = self.rival, None
        if rival is not None:
            rival()
        return super().commit(space, commit, branch=branch)


def test_a_set_that_stopped_changing_nothing_meanwhile_is_written(tmp_path: Path) -> None:
    store = Raced(str(tmp_path / "memory.db"))
    people, others = People(store), People(SqliteStore(str(tmp_path / "memory.db")))
    a, b = people.open(A, "a1"), others.open(B, "b1")
    people.save(a, "x", "space", "mine")
    store.rival = lambda: others.save(b, "x", "space", "theirs")
    change = people.commit(
        a, {"id": "x", "op": "set", "value": "mine"}, {"id": "y", "op": "set", "value": 1}
    )
    assert change is not None
    assert {one.id for one in change.touched} == {"x", "y"}
    assert people.value(a, "x", "space") == "mine"


def test_of_two_writers_with_one_base_the_second_is_refused(tmp_path: Path) -> None:
    store = Raced(str(tmp_path / "memory.db"))
    people, others = People(store), People(SqliteStore(str(tmp_path / "memory.db")))
    a, b = people.open(A, "a1"), others.open(B, "b1")
    store.rival = lambda: others.commit(b, {"id": "x", "op": "set", "value": "b", "base": 0})
    with pytest.raises(MemoryRefused) as refused:
        people.commit(a, {"id": "x", "op": "set", "value": "a", "base": 0})
    assert (refused.value.code, refused.value.facts["current"]) == ("stale-base", 1)
    assert people.value(a, "x", "space") == "b"
