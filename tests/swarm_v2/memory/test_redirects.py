from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.derivations import Derivation, Output, Roots, outcome
from scripts.swarm_v2.memory.document import MISSING, make_link
from scripts.swarm_v2.memory.redirects import MAX_HOPS
from scripts.swarm_v2.memory.store import Commit, Seen, Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.memory.transactions import Transaction
from scripts.swarm_v2.scope_key import DirtyKey, Identity, resolve_scope_key
from tests.support.memory_stores import AT, SPACE, A, B, People, refusal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scripts.swarm_v2.memory.store import DocumentStore

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
