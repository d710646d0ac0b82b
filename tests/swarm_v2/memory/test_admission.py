from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.admission import Admission, admit_reads, change_of, parse_proposal
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.sessions import Credential, Lease
from scripts.swarm_v2.memory.store import Basis, Commit, Seen, Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.memory.transactions import Annotated
from scripts.swarm_v2.scope_key import applies_to
from tests.support.memory_stores import AT, SPACE, A, B, C, People, refusal, snapshot, wrote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scripts.swarm_v2.memory.store import Change, DocumentStore

USER_A, USER_B = "user:did%3Akey%3AzA", "user:did%3Akey%3AzB"
SESSION_A1 = "session:did%3Akey%3AzA:a1"
quick = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


# --- scenarios of the specification


def test_1_two_people_and_the_space_have_three_rows_of_one_id(people: People) -> None:
    a, b, third = people.open(A, "a1"), people.open(B, "b1"), people.open(C, "c1")
    people.save(a, "preferences", "user", {"style": "short"})
    people.save(b, "preferences", "user", {"style": "long"})
    people.save(third, "preferences", "space", {"style": "ours"})
    keys = [InstanceKey(SPACE, key, "preferences") for key in ("space", USER_A, USER_B)]
    assert list(people.store.heads(keys).values()) == [3, 1, 2]
    assert people.value(a, "preferences", "user") == {"style": "short"}
    assert people.value(b, "preferences", "user") == {"style": "long"}
    assert people.value(third, "preferences", "user") is None
    for session in (a, b, third):
        assert people.value(session, "preferences", "space") == {"style": "ours"}


NAMED = ["scope_key", "scopeKey", "principal", "session", "session_id", "sessionKey", "identity"]


def test_2_a_commit_cannot_name_whose_it_is(people: People) -> None:
    session, before = people.open(A, "a1"), snapshot(people.store)
    write: dict[str, object] = {"id": "preferences", "scope": "user", "op": "set", "value": 1}
    read: dict[str, object] = {"id": "x", "seq": 0}
    for field in (*NAMED, "user", "user_id", "actor"):
        named = {field: USER_B}
        for document in (
            {"writes": [write], "reads": [read], **named},
            {"writes": [write, {**write, **named}], "reads": [read]},
            {"writes": [write], "reads": [{**read, **named}]},
        ):
            with refusal("identity-in-commit"):
                people.admission.commit_authored(parse_proposal(document), session, AT)
    assert snapshot(people.store) == before
    assert wrote(people) == 1


BAD_KEYS = [
    *("user:did%3akey%3azA", "user:a/b", "user:%", "user:", "user:a:b", "user:%41", "user:a b"),
    *("session:a", "session:a:", "session::s", "junk", "Space", "", "space\n", "user:\ud800"),
]


def test_3_a_corrupt_key_never_reaches_a_row(people: People) -> None:
    service = people.service()
    people.save(people.open(A, "a1"), "plan", "user", 1)
    before = snapshot(people.store)
    for key in BAD_KEYS:
        scope: Any = "session" if key.startswith("session") else "user"
        writes = [
            Annotated("ok", "user", "set", 1, None, USER_A),
            Annotated("plan", scope, "set", 2, None, key),
        ]
        with refusal("scope-key-malformed"):
            people.admission.derived(SPACE, writes, (), (), service, AT)
        with refusal("scope-key-malformed"):
            people.admission.system(SPACE, [Write("plan", key, "set", 2)], AT)
        with refusal("scope-key-malformed"):  # the store is the last gate
            people.store.commit(SPACE, Commit("system", (Write("x", key, "set", 2),), at=AT))
    assert snapshot(people.store) == before
    assert wrote(people) == 2


def test_4_a_derived_write_without_its_instance_is_no_write_to_the_services_own(
    people: People,
) -> None:
    service = people.service("service")
    with refusal("instance-unnamed"):
        bare = Annotated("plan", "user", "set", 1)
        people.admission.derived(SPACE, [bare], (), (), service, AT)
    with refusal("instance-unnamed"):
        people.save(service, "plan", "user", 1)
    with refusal("instance-unnamed"):
        people.commit(service, reads=[{"id": "plan", "scope": "session", "seq": 0}])
    for scope in ("user", "session"):
        with refusal("instance-unnamed"):
            admit_reads(service, [Address(SPACE, "preferences", scope)])
    with refusal("instance-unnamed"):  # also of a space that it does not serve
        admit_reads(service, [Address("person", "preferences", "user")])
    assert people.store.seq(SPACE) == 0
    assert people.store.select(SPACE, ("user:service", "session:service:run")) == []


def test_5_an_import_has_no_session_to_write_for(people: People) -> None:
    with refusal("identity-missing"):
        people.admission.system(SPACE, [Write("notes", SESSION_A1, "set", 1)], AT)
    brought = [Write("notes", SESSION_A1, "set", 1)]
    commit = people.admission.system(SPACE, brought, AT, carried=[SESSION_A1])
    assert people.store.commit(SPACE, commit) == 1
    with refusal("identity-missing"):  # what was brought is that session, not any
        people.admission.system(SPACE, brought, AT, carried=["session:did%3Akey%3AzA:a2"])


@pytest.mark.parametrize(
    ("who", "scope"),
    [((None, None), "user"), ((None, "s"), "session"), ((A, None), "session"), (("", ""), "user")],
)
def test_nothing_stands_in_for_a_missing_principal_or_session(
    sqlite_store: DocumentStore, who: tuple[str | None, str | None], scope: str
) -> None:
    people = People(sqlite_store)
    with refusal("identity-missing"):
        people.save(people.open(*who), "x", scope, 1)
    with refusal("identity-missing"):
        people.commit(people.open(*who), reads=[{"id": "notes", "scope": scope, "seq": 0}])
    assert people.save(people.open(None), "shared", "space", 1) == 1


# --- the derived door


@pytest.mark.parametrize(
    ("write", "code"),
    [
        (Annotated("x", "space", "set", 1, None, "space"), "scope-key-mismatch"),
        (Annotated("x", "space", "set", 1, None, "user:%"), "scope-key-mismatch"),
        (Annotated("x", "user", "set", 1, None, None), "instance-unnamed"),
        (Annotated("x", "session", "set", 1, None, "user:%"), "scope-key-malformed"),
        (Annotated("x", "session", "set", 1, None, USER_A), "scope-key-mismatch"),
        (Annotated("x", "user", "set", 1, None, "space"), "scope-key-mismatch"),
        (Annotated("x", "inherit", "set", 1), "scope-unknown"),  # type: ignore[arg-type]
    ],
)
def test_an_annotation_is_refused_for_its_first_fault(
    sqlite_store: DocumentStore, write: Annotated, code: str
) -> None:
    people = People(sqlite_store)
    service = people.service()
    with refusal(code):
        people.admission.derived(SPACE, [write], (), (), service, AT)


class Blind(SqliteStore):
    """A store that may not be asked for any head."""

    def read_many(self, *args: object, **named: object) -> Any:
        raise AssertionError("a head was queried")

    read = heads = read_many


@pytest.mark.parametrize(
    "basis",
    [
        Basis("context", "user:%", ()),
        Basis("context", USER_A, (Seen(SPACE, "user:a/b", "x", 1),)),
        Basis("context", USER_A, (), ("user:did%3akey%3azA",)),
    ],
)
def test_a_basis_row_that_no_key_matches_refuses_the_commit_before_any_head_is_read(
    tmp_path: Path, basis: Basis
) -> None:
    people = People(Blind(str(tmp_path / "memory.db")))
    service = people.service()
    writes = [Annotated("context", "user", "set", 1, None, USER_A)]
    with refusal("scope-key-malformed"):
        people.admission.derived(SPACE, writes, (), [basis], service, AT)
    with refusal("scope-key-malformed"):
        people.admission.derived(SPACE, writes, [Seen(SPACE, "user:%", "x", 1)], (), service, AT)
    assert people.store.seq(SPACE) == 0


def test_only_the_session_that_holds_the_lease_commits_what_is_derived(people: People) -> None:
    service = people.service()
    row = [Annotated("digest", "space", "set", {"n": 1})]

    def derive(session: Any, space: str = SPACE) -> int:
        return people.store.commit(space, people.admission.derived(space, row, (), (), session, AT))

    for session, space in ((people.open(A, "a1"), SPACE), (service, "other")):
        with refusal("lease-lost"):  # by the door, before the store is asked
            people.admission.derived(space, row, (), (), session, AT)
    assert derive(service) == 1
    assert service.lease is not None
    service.lease.release()
    taken = Lease(people.store, SPACE, "scheduler")  # the same service, another holder
    assert taken.acquire()
    row = [Annotated("digest", "space", "set", {"n": 2})]
    with refusal("lease-lost"):
        derive(service)
    assert people.store.seq(SPACE) == 1
    assert people.value(service, "digest", "space") == {"n": 1}


def test_the_door_gives_the_kind_and_no_field_does(people: People) -> None:
    service = people.service()
    for field in ("class", "kind", "holder"):
        with refusal("field-unknown"):
            parse_proposal({"writes": [], field: "derived"})
    people.save(people.open(A, "a1"), "x", "space", 1)
    derived = [Annotated("x", "space", "set", 2)]
    people.store.commit(SPACE, people.admission.derived(SPACE, derived, (), (), service, AT))
    people.store.commit(SPACE, people.admission.system(SPACE, [Write("x", "space", "set", 3)], AT))
    found = people.store.changes(SPACE, 0)
    assert [one.kind for one in found] == ["authored", "derived", "system"]
    assert [one.session_key for one in found] == [SESSION_A1, "", ""]
    assert [bool(one.holder) for one in found] == [False, True, False]


def test_a_base_is_by_the_authors_own_instance(people: People) -> None:
    a, b = people.open(A, "a1"), people.open(B, "b1")
    first = people.save(a, "x", "user", 1)
    people.save(b, "x", "user", 2)
    mine = {"id": "x", "scope": "user", "op": "set", "value": 3}
    assert people.commit(a, {**mine, "base": first})
    with refusal("stale-base"):
        people.commit(b, {**mine, "base": first})
    with pytest.raises(MemoryRefused) as refused:
        people.commit(a, {**mine, "value": 4, "base": first})
    assert refused.value.facts["current"] == 3


def test_a_commit_is_whole_or_nothing(people: People) -> None:
    a = people.open(A, "a1")
    people.save(a, "there", "space", 1)
    before = snapshot(people.store)
    with refusal("stale-base"):
        people.commit(
            a,
            {"id": "new", "scope": "user", "op": "set", "value": 1},
            {"id": "there", "op": "set", "value": 2, "base": 0},
        )
    assert snapshot(people.store) == before


def test_a_closed_session_writes_nothing(people: People) -> None:
    a = people.open(A, "a1")
    people.registry.close(a)
    with refusal("session-missing"):
        people.save(a, "x", "space", 1)
    with refusal("session-missing"):
        admit_reads(a, [Address(SPACE, "x")])
    assert people.store.seq(SPACE) == 0


def test_a_change_is_what_the_feed_says(people: People) -> None:
    a = people.open(A, "a1")
    proposal = parse_proposal(
        {
            "writes": [
                {"id": "x", "op": "set", "value": 1},
                {"id": "x", "op": "patch", "value": {"a": 1}},
                {"id": "y", "scope": "session", "op": "set", "value": 1},
            ]
        }
    )
    commit = Admission(people.store).authored(proposal, a, AT)
    seq = people.store.commit(SPACE, commit)
    assert people.store.changes(SPACE, 0) == [change_of(seq, commit)]
    assert people.value(a, "x", "space") == {"a": 1}


def test_a_lease_of_one_space_serves_no_other(people: People) -> None:
    lease = Lease(people.store, "other", "scheduler")
    lease.acquire()
    with refusal("lease-lost"):
        people.registry.open(SPACE, Credential(None, "test"), lease=lease)


writes = st.builds(
    lambda id, scope, value: {"id": id, "scope": scope, "op": "set", "value": value},
    st.sampled_from(["plan", "todo", "user:x", "a/b"]),
    st.sampled_from(["space", "user", "session"]),
    st.integers(0, 3),
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentStore]:
    store = SqliteStore(str(tmp_path_factory.mktemp("memory") / "memory.db"), wal=True)
    yield store
    store.close()


numbers = count()
person = st.sampled_from([A, B, "a", "a:b", "a%3Ab", "a/b", "did:key:zA2"])


@given(st.lists(st.tuples(person, person, st.lists(writes, min_size=1, max_size=3)), max_size=4))
@settings(quick, max_examples=25)
def test_whatever_is_proposed_only_ones_own_instances_are_written(
    shared: DocumentStore,
    commits: list[tuple[str, str, list[dict[str, object]]]],
) -> None:
    store, space = shared, f"space {next(numbers)}"
    people, number = People(store, space), 0
    for principal, session_id, asked in commits:
        session = people.open(principal, session_id)
        change: Change | None = people.commit(session, *asked)
        number += change is not None
        assert store.seq(space) == number
        for key in change.touched if change else ():
            assert applies_to(key.scope_key, session.identity)
