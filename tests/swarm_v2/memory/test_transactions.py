from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.document import MISSING, make_link
from scripts.swarm_v2.memory.store import ABSENT, Commit, Seen, Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.memory.transactions import TRIES, Annotated, Transaction, of_one_moment
from scripts.swarm_v2.scope_key import DirtyKey, Identity
from tests.support.memory_stores import AT, SPACE, A, B, People, refusal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from scripts.swarm_v2.memory.store import Document, DocumentStore

A1, A2, B1, B2 = Identity(A, "a1"), Identity(A, "a2"), Identity(B, "b1"), Identity(B, "b2")
USER_A, USER_B = "user:did%3Akey%3AzA", "user:did%3Akey%3AzB"
SESSION_B1 = "session:did%3Akey%3AzB:b1"
OUTPUT = Address(SPACE, "context")
PREFERENCES = Address(SPACE, "preferences", "user")
NOTES = Address(SPACE, "notes", "session")


@pytest.fixture
def store(sqlite_store: DocumentStore) -> DocumentStore:
    return sqlite_store


def put(store: DocumentStore, id: str, scope_key: str, value: object, op: Any = "set") -> int:
    return store.commit(SPACE, Commit("system", (Write(id, scope_key, op, value),), at=AT))


def acting(store: DocumentStore, identity: Identity) -> Transaction:
    transaction = Transaction(store, SPACE)
    transaction.act_as(identity)
    return transaction


def shown(store: DocumentStore, identity: Identity, address: Address = OUTPUT) -> object:
    return acting(store, identity).read(address)


# --- one identity


def test_a_transaction_acts_as_one_identity_set_before_its_first_read(
    store: DocumentStore,
) -> None:
    transaction = acting(store, A1)
    transaction.act_as(A1)
    with refusal("identity-changed"):
        transaction.act_as(A2)
    transaction.read(PREFERENCES)
    transaction.act_as(A1)
    late = Transaction(store, SPACE)
    late.read(OUTPUT)
    with refusal("identity-changed"):
        late.act_as(A1)


def test_scoped_reads_log_their_instance_and_reads_of_the_space_log_none(
    store: DocumentStore,
) -> None:
    transaction = acting(store, A1)
    for address in (OUTPUT, PREFERENCES, NOTES):
        transaction.read(address, {"type": "object"})
    assert [one.key for one in transaction.log] == [
        None,
        InstanceKey(SPACE, USER_A, "preferences"),
        InstanceKey(SPACE, "session:did%3Akey%3AzA:a1", "notes"),
    ]
    assert transaction.log[0].instance == InstanceKey(SPACE, "space", "context")
    assert [one.address for one in transaction.log] == [OUTPUT, PREFERENCES, NOTES]
    assert all(one.schema == {"type": "object"} for one in transaction.log)


def test_without_an_identity_no_key_is_logged_and_nothing_scoped_is_read(
    store: DocumentStore,
) -> None:
    transaction = Transaction(store, SPACE)
    transaction.read(OUTPUT)
    named = PREFERENCES._replace(scope_key=USER_A)
    transaction.read(named)
    assert [one.key for one in transaction.log] == [None, None]
    assert transaction.log[1].instance == InstanceKey(SPACE, USER_A, "preferences")
    for address in (PREFERENCES, NOTES):
        with refusal("identity-missing"):
            transaction.read(address)
        with refusal("identity-missing"):
            transaction.write(address, 1)


def test_an_absent_read_is_recorded_and_narrows_nothing(store: DocumentStore) -> None:
    gone = put(store, "preferences", USER_A, 1)
    gone = put(store, "preferences", USER_A, None, "delete")
    transaction = acting(store, A1)
    assert transaction.read(PREFERENCES) is MISSING
    assert transaction.read(NOTES) is MISSING
    assert transaction.narrowest == "space"
    assert [(one.seq, one.present) for one in transaction.log] == [(gone, False), (ABSENT, False)]
    assert transaction.document(NOTES) is None
    tombstone = transaction.document(PREFERENCES)
    assert tombstone is not None
    assert tombstone.deleted
    put(store, "notes", "session:did%3Akey%3AzA:a1", None)
    found = acting(store, A1)
    assert found.read(NOTES) is None  # JSON null is a value
    assert found.narrowest == "session"


def test_a_read_at_a_path_gives_what_stands_there(store: DocumentStore) -> None:
    put(store, "preferences", USER_A, {"sections": ["notes", "plan"]})
    transaction = acting(store, A1)
    assert transaction.read(PREFERENCES._replace(path=("sections", "1"))) == "plan"
    assert transaction.read(PREFERENCES._replace(path=("sections", "2"))) is MISSING
    assert transaction.narrowest == "user"


# --- writes and bases


def test_own_writes_are_seen_and_are_no_inputs(store: DocumentStore) -> None:
    put(store, "preferences", USER_A, {"style": "short", "n": 1})
    transaction = acting(store, A1)
    transaction.patch(PREFERENCES, {"n": None, "more": True})
    assert transaction.read(PREFERENCES) == {"style": "short", "more": True}
    transaction.write(PREFERENCES, {"style": "long"})
    assert transaction.read(PREFERENCES) == {"style": "long"}
    transaction.delete(PREFERENCES)
    assert transaction.read(PREFERENCES) is MISSING
    assert transaction.log == ()
    assert transaction.writes == (Annotated("preferences", "user", "delete", None, 1, USER_A),)
    assert store.seq(SPACE) == 1


def test_patches_after_a_whole_value_are_written_after_it(people: People) -> None:
    people.service()
    transaction = acting(people.store, A1)
    transaction.write(OUTPUT, {"a": 1, "b": 2})
    transaction.patch(OUTPUT, {"a": None})
    service = people.registry.of(SPACE)[0]
    commit = people.admission.derived(SPACE, transaction.writes, (), (), service, AT)
    people.store.commit(SPACE, commit)
    assert shown(people.store, B1) == transaction.read(OUTPUT) == {"b": 2}


def test_a_base_is_what_the_acting_identity_found(people: People) -> None:
    service = people.service()
    seqs = [put(people.store, "preferences", key, 1) for key in (USER_A, USER_B)]
    a, b = acting(people.store, A1), acting(people.store, B1)
    for transaction in (a, b):
        transaction.write(PREFERENCES, 2)
    assert [one.base for one in (*a.writes, *b.writes)] == seqs
    put(people.store, "preferences", USER_B, 3)

    def commit(transaction: Transaction) -> int:
        writes = transaction.writes
        return people.store.commit(
            SPACE, people.admission.derived(SPACE, writes, (), (), service, AT)
        )

    assert commit(a) == 4
    with refusal("stale-base"):
        commit(b)
    fresh = acting(people.store, B2)
    fresh.write(NOTES, 1)
    assert fresh.writes[0].base == ABSENT


def test_a_document_is_written_whole_and_into_ones_own_space(store: DocumentStore) -> None:
    put(store, "short", "space", make_link("preferences", "user", ("style",)))
    transaction = acting(store, A1)
    for address in (PREFERENCES._replace(path=("style",)), Address(SPACE, "short")):
        with refusal("request-invalid"):
            transaction.write(address, 1)
    with refusal("space-invalid"):
        transaction.write(PREFERENCES._replace(space="person"), 1)
    assert transaction.writes == ()


# --- one moment


def test_reads_repeat_and_say_when_they_are_of_no_one_moment(people: People) -> None:
    put(people.store, "preferences", USER_A, 1)
    transaction = acting(people.store, A1)
    assert transaction.read(PREFERENCES) == 1
    assert transaction.read(NOTES) is MISSING
    assert transaction.consistent()
    put(people.store, "preferences", USER_B, 2)
    assert transaction.consistent()  # another's instance is none of what it read
    put(people.store, "preferences", USER_A, 2)
    assert transaction.read(PREFERENCES) == 1
    assert not transaction.consistent()


def test_an_input_that_appears_during_the_run_refuses_its_commit(people: People) -> None:
    service = people.service()
    transaction = acting(people.store, A1)
    assert transaction.read(NOTES) is MISSING
    transaction.write(OUTPUT, "without notes")
    put(people.store, "notes", "session:did%3Akey%3AzA:a1", 1)
    assert not transaction.consistent()
    commit = people.admission.derived(SPACE, transaction.writes, transaction.seen, (), service, AT)
    with refusal("stale-read"):
        people.store.commit(SPACE, commit)
    assert people.store.seq(SPACE) == 1


@pytest.mark.parametrize("moves", [0, 1, 2, 7])
def test_a_run_is_repeated_until_all_it_read_is_of_one_moment(
    store: DocumentStore, moves: int
) -> None:
    put(store, "preferences", USER_A, 0)
    told = []

    def reading(transaction: Transaction) -> object:
        first = transaction.read(PREFERENCES)
        if len(told) < moves:
            put(store, "preferences", USER_A, len(told) + 1)
        told.append((first, transaction.read(NOTES)))
        return first

    value, transaction = of_one_moment(store, SPACE, A1, reading)
    assert len(told) == min(moves + 1, TRIES)
    assert value == len(told) - 1
    assert transaction.identity == A1
    assert transaction.consistent() == (moves < TRIES)


def test_a_transaction_names_each_input_once(store: DocumentStore) -> None:
    transaction = acting(store, A1)
    for _ in range(2):
        transaction.read(PREFERENCES)
        transaction.read(PREFERENCES._replace(path=("style",)))
    assert len(transaction.log) == 4
    assert transaction.seen == (Seen(SPACE, USER_A, "preferences", ABSENT),)


def test_other_spaces_are_read_as_roots_of_their_own(store: DocumentStore) -> None:
    write = Write("memory/x", USER_A, "set", "mine everywhere")
    store.commit("person", Commit("system", (write,), at=AT))
    transaction = acting(store, A1)
    address = Address("person", "memory/x", "user")
    assert transaction.read_many([address, PREFERENCES]) == ["mine everywhere", MISSING]
    assert transaction.seen == (
        Seen("person", USER_A, "memory/x", 1),
        Seen(SPACE, USER_A, "preferences", ABSENT),
    )
    assert transaction.consistent()


class Counting(SqliteStore):
    asked = 0

    def read_many(
        self, space: str, keys: Iterable[DirtyKey], *, branch: str = ""
    ) -> dict[DirtyKey, Document]:
        self.asked += 1
        return super().read_many(space, keys, branch=branch)

    def read(self, *args: Any, **named: Any) -> Any:
        raise AssertionError("one by one")


def test_many_reads_are_one_question_to_the_store(tmp_path: Path) -> None:
    store = Counting(str(tmp_path / "memory.db"))
    put(store, "m3", "space", 3)
    transaction = acting(store, A1)
    found = transaction.read_many([Address(SPACE, f"m{number}") for number in range(50)])
    assert found[3] == 3
    assert found.count(MISSING) == 49
    assert store.asked == 1
    assert len(transaction.log) == 50
