from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.derivations import Derivation, Output, Roots, outcome
from scripts.swarm_v2.memory.document import MISSING, make_link
from scripts.swarm_v2.memory.redirects import MAX_HOPS
from scripts.swarm_v2.memory.store import ABSENT, Commit, Seen, Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.memory.transactions import TRIES, Annotated, Transaction, of_one_moment
from scripts.swarm_v2.scope_key import DirtyKey, Identity, resolve_scope_key
from tests.support.memory_stores import AT, SPACE, A, B, People, refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from scripts.swarm_v2.memory.store import Document, DocumentStore

A1, A2, B1, B2 = Identity(A, "a1"), Identity(A, "a2"), Identity(B, "b1"), Identity(B, "b2")
USER_A, USER_B = "user:did%3Akey%3AzA", "user:did%3Akey%3AzB"
SESSION_B1 = "session:did%3Akey%3AzB:b1"
OUTPUT = Address(SPACE, "context")
PREFERENCES = Address(SPACE, "preferences", "user")
NOTES = Address(SPACE, "notes", "session")
quick = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


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


# --- redirects


def test_a_reader_at_the_space_follows_the_redirects_into_its_own_instance(
    people: People,
) -> None:
    put(people.store, "context", "space", make_link("context", "user"))
    put(people.store, "context", USER_A, "of A")
    put(people.store, "context", USER_B, make_link("context", "session"))
    put(people.store, "context", SESSION_B1, "of b1")
    told = {who: shown(people.store, who) for who in (A1, A2, B1, B2, Identity("c", "c1"))}
    assert list(told.values()) == ["of A", "of A", "of b1", MISSING, MISSING]
    transaction = acting(people.store, B1)
    document = transaction.document(OUTPUT)
    assert document is not None
    assert document.scope_key == SESSION_B1
    assert [one.instance.scope_key for one in transaction.log] == ["space", USER_B, SESSION_B1]
    assert transaction.narrowest == "session"


def test_what_is_left_of_a_path_is_read_behind_the_redirects(store: DocumentStore) -> None:
    put(store, "short", "space", make_link("preferences", "user", ("style",)))
    put(store, "preferences", USER_A, {"style": {"long": True}})
    transaction = acting(store, A1)
    assert transaction.read(Address(SPACE, "short", path=("long",))) is True
    assert [one.address.path for one in transaction.log] == [(), ("style", "long")]


def test_a_circle_of_redirects_is_refused_where_it_is_read(store: DocumentStore) -> None:
    put(store, "one", "space", make_link("two", "user"))
    put(store, "two", USER_A, make_link("one"))
    with refusal("link-circle"):
        shown(store, A1, Address(SPACE, "one"))
    assert shown(store, B1, Address(SPACE, "one")) is MISSING  # nobody else's circle


def test_more_than_16_redirects_in_a_row_are_refused(store: DocumentStore) -> None:
    put(store, "hop0", "space", "end")
    for number in range(1, MAX_HOPS + 2):
        put(store, f"hop{number}", "space", make_link(f"hop{number - 1}"))
    assert shown(store, A1, Address(SPACE, f"hop{MAX_HOPS}")) == "end"
    with refusal("link-circle"):
        shown(store, A1, Address(SPACE, f"hop{MAX_HOPS + 1}"))


def test_a_redirect_of_anothers_instance_leads_on_within_that_instance(
    store: DocumentStore,
) -> None:
    put(store, "context", USER_B, make_link("context", "session"))
    put(store, "context", "session:did%3Akey%3AzA:a1", "of a1")
    put(store, "style", SESSION_B1, make_link("preferences", "user"))
    put(store, "preferences", USER_B, "of B")
    with refusal("instance-unnamed"):  # never A's own
        shown(store, A1, Address(SPACE, "context", scope_key=USER_B))
    assert shown(store, A1, Address(SPACE, "style", scope_key=SESSION_B1)) == "of B"


# --- narrowing


def run(people: People, identity: Identity, reads: Iterable[Address], value: object) -> str:
    """Run a derivation that reads so much, and commit its result as the scheduler does."""

    def reading(transaction: Transaction, roots: Roots) -> object:
        transaction.read_many(reads)
        return value

    derivation = Derivation("context", Output("context"), reading)
    transaction = acting(people.store, identity)
    told = derivation.run(transaction, Roots(SPACE))
    done = outcome(people.store, SPACE, derivation, identity, told, transaction.log)
    service = people.registry.of(SPACE)[0]
    commit = people.admission.derived(SPACE, done.writes, done.seen, done.basis, service, AT)
    people.store.commit(SPACE, commit)
    return done.key


def test_a_result_is_written_as_deep_as_the_run_came_out(people: People) -> None:
    people.service()
    put(people.store, "digest", "space", 1)
    put(people.store, "preferences", USER_A, 1)
    put(people.store, "notes", SESSION_B1, 1)
    digest = Address(SPACE, "digest")
    assert run(people, A1, [digest], "for all") == "space"
    assert shown(people.store, B1) == "for all"
    assert run(people, A1, [digest, PREFERENCES, NOTES], "A") == USER_A
    assert run(people, B1, [digest, PREFERENCES, NOTES], "b1") == SESSION_B1
    rows = people.store.read_many(
        SPACE, [DirtyKey(key, "context") for key in ("space", USER_A, USER_B, SESSION_B1)]
    )
    assert [document.value for document in rows.values()] == [
        make_link("context", "user"),
        "A",
        make_link("context", "session"),
        "b1",
    ]
    told = [shown(people.store, who) for who in (A1, A2, B1, B2)]
    assert told == ["A", "A", "b1", MISSING]


def test_a_rewrite_never_takes_a_redirect_away(people: People) -> None:
    people.service()
    put(people.store, "preferences", USER_B, 1)
    put(people.store, "notes", SESSION_B1, 1)
    run(people, B1, [NOTES], "with notes")
    put(people.store, "notes", SESSION_B1, None, "erase")
    assert run(people, B1, [NOTES, PREFERENCES], "without notes") == SESSION_B1
    assert run(people, B1, [], "nothing scoped") == SESSION_B1
    links = people.store.read_many(
        SPACE, [DirtyKey("space", "context"), DirtyKey(USER_B, "context")]
    )
    assert [one.value for one in links.values()] == [
        make_link("context", "user"),
        make_link("context", "session"),
    ]
    assert shown(people.store, B1) == "nothing scoped"
    transaction = acting(people.store, B1)
    transaction.write(OUTPUT, "by hand")
    transaction.patch(OUTPUT, {"n": 1})
    transaction.delete(OUTPUT)
    assert {one.scope_key for one in transaction.writes} == {SESSION_B1}


def test_a_runs_basis_replaces_that_of_every_broader_key_of_its_chain(people: People) -> None:
    people.service()
    put(people.store, "notes", SESSION_B1, 1)
    put(people.store, "preferences", USER_A, 1)
    run(people, A1, [], "probe")
    assert [one.scope_key for one in people.store.basis(SPACE)] == ["space"]
    run(people, A1, [PREFERENCES], "A")
    run(people, B1, [NOTES], "b1")
    recorded = {one.scope_key: one.seen for one in people.store.basis(SPACE, "context")}
    assert recorded == {
        USER_A: (Seen(SPACE, USER_A, "preferences", 2),),
        SESSION_B1: (Seen(SPACE, SESSION_B1, "notes", 1),),
    }
    assert people.store.moved(SPACE, "context", USER_A) == []
    put(people.store, "preferences", USER_A, 2)
    assert len(people.store.moved(SPACE, "context", USER_A) or ()) == 1
    assert people.store.moved(SPACE, "context", SESSION_B1) == []


numbers = count()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentStore]:
    store = SqliteStore(str(tmp_path_factory.mktemp("memory") / "memory.db"), wal=True)
    yield store
    store.close()


EVERYBODY = (A1, A2, B1, B2)
SCOPES: tuple[Any, ...] = ("space", "user", "session")


@given(st.lists(st.tuples(st.sampled_from(EVERYBODY), st.sampled_from(SCOPES)), max_size=12))
@quick
def test_each_reads_what_was_last_written_for_it_and_nobody_elses(
    shared: DocumentStore, runs: list[tuple[Identity, Any]]
) -> None:
    people = People(shared, f"space {next(numbers)}")
    space, service = people.space, people.service()
    keys = {who: [resolve_scope_key(scope, who) for scope in SCOPES] for who in EVERYBODY}
    inputs = dict.fromkeys(Write("input", key, "set", 1) for some in keys.values() for key in some)
    shared.commit(space, Commit("system", tuple(inputs), at=AT))
    derivation = Derivation("context", Output("context"), lambda tx, roots: None)
    link, rows = object(), dict[str, object]()  # what stands at each key
    for number, (who, scope) in enumerate(runs):
        transaction = Transaction(shared, space)
        transaction.act_as(who)
        transaction.read(Address(space, "input", scope))
        done = outcome(shared, space, derivation, who, number, transaction.log)
        commit = people.admission.derived(space, done.writes, done.seen, done.basis, service, AT)
        shared.commit(space, commit)
        depth = keys[who].index(done.key)
        assert depth >= SCOPES.index(scope)
        assert rows.get(done.key) is not link  # never taken away
        rows.update({**dict.fromkeys(keys[who][:depth], link), done.key: number})
        for one in EVERYBODY:
            reader = Transaction(shared, space)
            reader.act_as(one)
            own = next(key for key in keys[one] if rows.get(key) is not link)
            assert reader.read(Address(space, "context")) == rows.get(own, MISSING)


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
