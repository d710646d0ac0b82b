from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from hooks.clock import iso
from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.retention import KEPT_DAYS, Retention
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.memory.store import Basis, Commit, Seen, Write
from scripts.swarm_v2.scope_key import DirtyKey
from tests.support.memory_stores import SPACE, A, B, People, refusal

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.store import DocumentStore

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SESSION_A1 = "session:did%3Akey%3AzA:a1"
OTHERS = (
    *("session:did%3Akey%3AzA:a10", "session:did%3Akey%3AzA:a", "session:did%3Akey%3AzA2:a1"),
    *("session:did%3Akey%3Az:a1", "session:did%3Akey%3AzB:a1", "user:did%3Akey%3AzA", "space"),
    *("user:did%3Akey%3AzA2", "session:did%3Akey%3AzA:a1%25", "session:did%3Akey%3Az_:a1"),
)
OVER = NOON + timedelta(days=KEPT_DAYS, seconds=1)


def put(
    store: DocumentStore, scope_key: str, *, space: str = SPACE, at: datetime = NOON, id: str = "x"
) -> int:
    write = Write(id, scope_key, "set", {"of": scope_key, "at": iso(at)})
    return store.commit(space, Commit("system", (write,), at=iso(at)))


def derive(people: People, space: str, scope_key: str, *seen: Seen) -> None:
    holder = f"scheduler:{space}"
    assert people.store.acquire(space, holder, 60_000)
    write = Write("context", scope_key, "set", scope_key)
    basis = Basis("context", scope_key, seen)
    commit = Commit("derived", (write,), (), (basis,), "", holder, iso(NOON))
    people.store.commit(space, commit)


def live(store: DocumentStore, space: str = SPACE) -> set[str]:
    found = store.select(space, (SESSION_A1, *OTHERS))
    return {one.scope_key for one in found}


def test_35_a_retired_sessions_rows_go_after_the_period_and_nobody_elses(people: People) -> None:
    store, retention = people.store, Retention(people.store)
    for space in (SPACE, "other", "person"):
        for key in (SESSION_A1, *OTHERS):
            put(store, key, space=space)
    read = Seen(SPACE, SESSION_A1, "x", 1)
    for key in (SESSION_A1, OTHERS[2]):
        derive(people, SPACE, key, read)
    retention.end(SESSION_A1, NOON)
    assert retention.sweep(NOON + timedelta(days=KEPT_DAYS)) == []
    assert live(store) == {SESSION_A1, *OTHERS}
    since = {space: store.seq(space) for space in store.spaces()}

    swept = retention.sweep(OVER)

    assert sorted(swept) == [(space, SESSION_A1) for space in ("other", "person", SPACE)]
    for space in (SPACE, "other", "person"):
        assert live(store, space) == set(OTHERS)
        gone = store.read(space, SESSION_A1, "x")
        assert gone is not None
        assert (gone.deleted, gone.value) == (True, None)
        assert all(one.value is None for one in store.history(space, SESSION_A1, "x"))
        (told,) = store.changes(space, since[space])  # what watchers get their tombstones from
        assert {key.scope_key for key in told.touched} == {SESSION_A1}
    (told,) = store.changes(SPACE, since[SPACE])
    assert set(told.touched) == {DirtyKey(SESSION_A1, "x"), DirtyKey(SESSION_A1, "context")}
    assert [one.scope_key for one in store.basis(SPACE)] == [OTHERS[2]]
    assert store.moved(SPACE, "context", OTHERS[2]) == [read]  # its input is gone: run again
    assert retention.sweep(OVER) == []


def test_what_was_deleted_before_is_erased_too(people: People) -> None:
    store, retention = people.store, Retention(people.store)
    put(store, SESSION_A1)
    store.commit(SPACE, Commit("system", (Write("x", SESSION_A1, "delete"),), at=iso(NOON)))
    retention.end(SESSION_A1, NOON)
    retention.sweep(OVER)
    assert all(one.value is None for one in store.history(SPACE, SESSION_A1, "x"))
    assert store.heads([InstanceKey(SPACE, SESSION_A1, "x")]) == {
        InstanceKey(SPACE, SESSION_A1, "x"): 3
    }


@pytest.mark.parametrize(
    "key", ["session:did%3Akey%3AzA", "session:did%3Akey%3AzA:%", "user:a", "space", "", "*"]
)
def test_only_a_whole_session_key_can_end(sqlite_store: DocumentStore, key: str) -> None:
    put(sqlite_store, SESSION_A1)
    with refusal("scope-key-malformed"):
        Retention(sqlite_store).end(key, NOON)
    assert sqlite_store.retired(SPACE, iso(OVER)) == []


def test_the_session_that_ended_is_closed_and_its_later_commits_are_refused(
    people: People,
) -> None:
    a1, again, a2 = people.open(A, "a1"), people.open(A, "a1"), people.open(A, "a2")
    b1 = people.open(B, "a1")
    people.save(a1, "notes", "session", "one")
    Retention(people.store, registry=people.registry).end(SESSION_A1, NOON)
    for session in (a1, again):
        with refusal("session-retired"):
            people.save(session, "notes", "session", "two")
    assert people.registry.of(SPACE) == [a2, b1]
    assert people.save(a2, "notes", "session", "two") == 2


def test_a_session_that_was_resumed_keeps_its_rows(people: People) -> None:
    store = people.store
    retention = Retention(store, registry=people.registry)
    put(store, SESSION_A1)
    retention.end(SESSION_A1, NOON)
    resumed = people.open(A, "a1")
    assert retention.sweep(OVER) == []  # it is open here
    put(store, SESSION_A1, at=NOON + timedelta(days=KEPT_DAYS - 1), id="y")
    people.registry.close(resumed)
    assert retention.sweep(OVER) == []  # it wrote after its end
    assert live(store) == {SESSION_A1}
    retention.end(SESSION_A1, NOON + timedelta(days=KEPT_DAYS))
    assert retention.sweep(OVER + timedelta(days=KEPT_DAYS, seconds=1)) == [(SPACE, SESSION_A1)]
    assert live(store) == set()


def test_a_session_in_use_elsewhere_keeps_its_rows(people: People) -> None:
    put(people.store, SESSION_A1)
    retention = Retention(people.store)
    retention.end(SESSION_A1, NOON)
    assert retention.sweep(OVER, in_use={SESSION_A1}) == []
    assert retention.sweep(OVER, in_use={OTHERS[0]}) == [(SPACE, SESSION_A1)]


def test_sessions_whose_end_nobody_told_are_marked_where_they_have_documents(
    people: People,
) -> None:
    store, retention = people.store, Retention(people.store)
    put(store, SESSION_A1)
    put(store, OTHERS[0])
    put(store, "space", space="other")
    for at in (NOON, OVER):  # the second time nothing is new
        retention.end_unseen([SESSION_A1, OTHERS[2]], at)
    assert store.retired(SPACE, iso(NOON + timedelta(seconds=1))) == [SESSION_A1]
    assert store.retired(SPACE, "9") == [SESSION_A1]
    assert store.retired("other", "9") == []
    with refusal("scope-key-malformed"):
        retention.end_unseen([SESSION_A1, "session:%"], NOON)
    assert retention.sweep(OVER) == [(SPACE, SESSION_A1)]
    retention.end_unseen([SESSION_A1], OVER)
    assert store.retired(SPACE, "9") == []  # nothing is left to go


def test_a_session_that_comes_back_after_its_rows_went_is_a_new_one(people: People) -> None:
    store, retention = people.store, Retention(people.store)
    put(store, SESSION_A1)
    retention.end(SESSION_A1, NOON)
    retention.sweep(OVER)
    assert store.retired(SPACE, iso(OVER)) == []  # marks do not pile up
    put(store, SESSION_A1, at=OVER)
    assert retention.sweep(OVER + timedelta(days=2 * KEPT_DAYS)) == []
    assert live(store) == {SESSION_A1}


def test_what_a_process_keeps_of_a_session_is_dropped_by_its_exact_key(people: People) -> None:
    told: list[tuple[str, str]] = []
    retention = Retention(
        people.store, kept_days=1, forget=[lambda space, key: told.append((space, key))]
    )
    for space in (SPACE, "other"):
        put(people.store, SESSION_A1, space=space)
        put(people.store, OTHERS[0], space=space)
    retention.end(SESSION_A1, NOON)
    retention.sweep(NOON + timedelta(days=1, seconds=1))
    assert sorted(told) == [("other", SESSION_A1), (SPACE, SESSION_A1)]


def test_the_first_end_of_a_session_counts(people: People) -> None:
    store, retention = people.store, Retention(people.store)
    put(store, SESSION_A1)
    retention.end(SESSION_A1, NOON)
    retention.end(SESSION_A1, OVER)
    assert retention.sweep(OVER) == [(SPACE, SESSION_A1)]


def test_a_session_that_is_open_in_another_process_keeps_its_rows_though_it_wrote_nothing(
    people: People,
) -> None:
    store, worker = people.store, Retention(people.store)
    for space in (SPACE, "other"):
        put(store, SESSION_A1, space=space)
        put(store, OTHERS[0], space=space)
    for key in (SESSION_A1, OTHERS[0]):
        worker.end(key, NOON)
    clock = [OVER]
    server = MemoryRuntime(store, now=lambda: clock[0])
    resumed = server.open_session(SPACE, Credential(A, "test"), "a1")
    assert sorted(worker.sweep(OVER)) == [("other", OTHERS[0]), (SPACE, OTHERS[0])]
    assert SESSION_A1 in live(store) & live(store, "other")
    clock[0] = OVER + timedelta(days=KEPT_DAYS - 1)
    server.sweep()  # it is open still
    assert worker.sweep(OVER + timedelta(days=KEPT_DAYS, seconds=1)) == []
    server.close_session(resumed)
    gone = worker.sweep(clock[0] + timedelta(days=KEPT_DAYS, seconds=1))
    assert sorted(gone) == [("other", SESSION_A1), (SPACE, SESSION_A1)]
