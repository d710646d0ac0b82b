from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.admission import Admission, admit_reads, change_of, parse_proposal
from scripts.swarm_v2.memory.document import MAX_BYTES, MAX_DEPTH, make_link
from scripts.swarm_v2.memory.errors import CODES, MemoryRefused
from scripts.swarm_v2.memory.proposals import MAX_WRITES, Proposal
from scripts.swarm_v2.memory.sessions import Credential, Lease
from scripts.swarm_v2.memory.store import Basis, Seen, Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.memory.transactions import Annotated
from scripts.swarm_v2.scope_key import DirtyKey, applies_to
from tests.support.memory_stores import AT, SPACE, A, B, C, People, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.swarm_v2.memory.store import Change, Commit, DocumentStore

USER_A, USER_B = "user:did%3Akey%3AzA", "user:did%3Akey%3AzB"
SESSION_A1 = "session:did%3Akey%3AzA:a1"
quick = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def snapshot(store: DocumentStore) -> tuple[object, ...]:
    """Everything that a refused commit must leave as it is."""
    keys = ("space", USER_A, USER_B, SESSION_A1)
    return (
        store.seq(SPACE),
        store.changes(SPACE, 0),
        store.select(SPACE, keys),
        store.basis(SPACE),
    )


def wrote(people: People, id: str = "next") -> int:
    """Commit something valid; return its number."""
    return people.save(people.open(C, "c9"), id, "space", {"n": 1})


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


@pytest.mark.parametrize("field", [*NAMED, "user", "user_id", "actor"])
@pytest.mark.parametrize("place", ["commit", "write", "read"])
def test_2_a_commit_cannot_name_whose_it_is(
    sqlite_store: DocumentStore, field: str, place: str
) -> None:
    people = People(sqlite_store)
    before = snapshot(people.store)
    named = {field: USER_B}
    write: dict[str, object] = {"id": "preferences", "scope": "user", "op": "set", "value": 1}
    document = {
        "writes": [{**write, **(named if place == "write" else {})}],
        "reads": [{"id": "x", "seq": 0, **(named if place == "read" else {})}],
        **(named if place == "commit" else {}),
    }
    with refusal("identity-in-commit"):
        parse_proposal(document)
    assert snapshot(people.store) == before
    assert wrote(people) == 1


BAD_KEYS = [
    *("user:did%3akey%3azA", "user:a/b", "user:%", "user:", "user:a:b", "user:%41", "user:a b"),
    *("session:a", "session:a:", "session::s", "junk", "Space", "", "space\n", "user:\ud800"),
]


@pytest.mark.parametrize("key", BAD_KEYS)
def test_3_a_corrupt_key_never_reaches_a_row(sqlite_store: DocumentStore, key: str) -> None:
    people = People(sqlite_store)
    service = people.service()
    people.save(people.open(A, "a1"), "context", "user", 1)
    before = snapshot(people.store)
    scope: Any = "session" if key.startswith("session") else "user"
    writes = [
        Annotated("ok", "user", "set", 1, None, USER_A),
        Annotated("context", scope, "set", 2, None, key),
    ]
    with refusal("scope-key-malformed"):
        people.admission.derived(SPACE, writes, (), (), service, AT)
    with refusal("scope-key-malformed"):
        people.admission.system(SPACE, [Write("context", key, "set", 2)], AT)
    assert snapshot(people.store) == before
    assert wrote(people) == 2


def test_4_a_derived_write_without_its_instance_is_no_write_to_the_services_own(
    people: People,
) -> None:
    service = people.service("service")
    with refusal("instance-unnamed"):
        bare = Annotated("context", "user", "set", 1)
        people.admission.derived(SPACE, [bare], (), (), service, AT)
    with refusal("instance-unnamed"):
        people.save(service, "context", "user", 1)
    with refusal("instance-unnamed"):
        people.commit(service, reads=[{"id": "context", "scope": "session", "seq": 0}])
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
        people.save(people.open(*who), "notes", scope, 1)
    with refusal("identity-missing"):
        people.commit(people.open(*who), reads=[{"id": "notes", "scope": scope, "seq": 0}])
    assert people.save(people.open(None), "shared", "space", 1) == 1


def test_25_the_refusal_of_a_foreign_instance_does_not_say_whether_it_exists(
    people: People,
) -> None:
    a, b = people.open(A, "a1"), people.open(B, "b1")
    people.save(a, "preferences", "user", {"secret": 1})
    told = []
    for document_id in ("preferences", "nothing"):
        with pytest.raises(MemoryRefused) as refused:
            admit_reads(b, [Address(SPACE, document_id, "user", (), USER_A)])
        told.append((refused.value.code, str(refused.value), refused.value.facts))
    assert told[0] == told[1]
    assert told[0][0] == "instance-refused"
    assert not b.keyed
    with refusal("scope-key-malformed"):  # before anybody looks who holds what
        admit_reads(b, [Address(SPACE, "x", "user", (), "user:did%3akey%3azA")])


def test_26_without_a_live_lease_two_instances_of_one_document_are_refused(
    people: People,
) -> None:
    b = people.open(B, "b1")
    own = Address(SPACE, "preferences", "user")
    foreign = own._replace(scope_key=USER_A)
    with refusal("instances-ambiguous"):
        admit_reads(b, [own, foreign])
    service = people.service("service")
    mine = own._replace(scope_key="user:service")
    assert len(admit_reads(service, [mine, foreign])) == 2
    assert service.keyed
    assert service.lease is not None
    service.lease.release()
    assert Lease(people.store, SPACE, "scheduler").acquire()
    for standing, asked in (([], [mine, foreign]), ([foreign], [mine])):
        with refusal("instances-ambiguous"):
            admit_reads(service, asked, standing)
    with refusal("instance-refused"):
        admit_reads(service, [foreign])
    assert admit_reads(service, [mine])  # its own remains
    assert service.keyed  # for good: what was delivered by key is retracted by key


def test_a_session_may_name_its_own_instance_and_is_told_nothing_by_key(people: People) -> None:
    b = people.open(B, "b1")
    named = Address(SPACE, "preferences", "user", (), USER_B)
    assert admit_reads(b, [named, named._replace(scope_key=None)]) == (
        (InstanceKey(SPACE, USER_B, "preferences"),) * 2
    )
    assert not b.keyed


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


# --- bad input


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def write(**fields: object) -> dict[str, object]:
    return {"writes": [{"id": "x", "scope": "space", "op": "set", "value": 1, **fields}]}


BAD = {
    "no object": (["writes"], "request-invalid"),
    "a text": ("writes", "request-invalid"),
    "writes that are no list": ({"writes": {}}, "request-invalid"),
    "a write that is no object": ({"writes": ["x"]}, "request-invalid"),
    "a foreign field": ({"writes": [], "force": True}, "field-unknown"),
    "a foreign field of a write": (write(branch="b"), "field-unknown"),
    "a key smuggled in": (write(scope_key=USER_B), "identity-in-commit"),
    "an unknown scope": (write(scope="inherit"), "scope-unknown"),
    "a scope in capitals": (write(scope="Space"), "scope-unknown"),
    "an empty scope": (write(scope=""), "scope-unknown"),
    "a scope that is null": (write(scope=None), "scope-unknown"),
    "a scope that is a key": (write(scope=USER_B), "scope-unknown"),
    "an unknown operation": (write(op="move"), "request-invalid"),
    "a set without a value": ({"writes": [{"id": "x", "op": "set"}]}, "request-invalid"),
    "a deletion with a value": (write(op="delete"), "request-invalid"),
    "an erasure of a number": (write(op="erase"), "request-invalid"),
    "an empty id": (write(id=""), "id-invalid"),
    "an id that is a number": (write(id=1), "id-invalid"),
    "an id of 513 bytes": (write(id="x" * 513), "id-invalid"),
    "an id that is no Unicode": (write(id="\ud800"), "id-invalid"),
    "a base that is True": (write(base=True), "request-invalid"),
    "a base below zero": (write(base=-1), "request-invalid"),
    "a base of 70 bits": (write(base=2**70), "request-invalid"),
    "a base that is a float": (write(base=1.0), "request-invalid"),
    "a base nobody saw": (write(base=7), "stale-base"),
    "a base of nothing": (write(id="there", base=0), "stale-base"),
    "a read without a number": ({"reads": [{"id": "x"}]}, "request-invalid"),
    "a read that moved": (
        {**write(), "reads": [{"id": "there", "scope": "space", "seq": 0}]},
        "stale-read",
    ),
    "a huge document": (write(value="x" * MAX_BYTES), "document-too-large"),
    "a deep document": (write(value=deep(MAX_DEPTH + 1)), "document-too-deep"),
    "a very deep document": (write(value=deep(100_000)), "document-too-deep"),
    "a number that is none": (write(value=float("nan")), "document-invalid"),
    "a number of 70 bits": (write(value=2**70), "document-invalid"),
    "a lone surrogate": (write(value={"\ud800": 1}), "document-invalid"),
    "a link into another space": (
        write(value={"$link": {"id": "y", "space": "other"}}),
        "link-cross-space",
    ),
    "half a link": (write(value={"a": {"$link": {"id": "y"}, "b": 1}}), "link-invalid"),
    "half a link in a patch": (write(op="patch", value={"$link": None}), "link-invalid"),
    "a link of no scope": (write(value={"$link": {"id": "y", "scope": "all"}}), "scope-unknown"),
    "a redirect to itself": (write(value=make_link("x")), "link-circle"),
    "a redirect back": (write(id="end", value=make_link("start")), "link-circle"),
    "a redirect by patch": (write(id="end", op="patch", value=make_link("start")), "link-circle"),
    "a circle in one commit": (
        {
            "writes": [
                {"id": "p", "value": make_link("q", "user")},
                {"id": "q", "scope": "user", "value": make_link("p", "space")},
            ]
        },
        "link-circle",
    ),
    "a redirect of 17 hops": (write(value=make_link("hop0")), "link-circle"),
    "too many writes": (
        {"writes": [{"id": "x", "value": 1}] * (MAX_WRITES + 1)},
        "request-invalid",
    ),
}


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> People:
    people = People(SqliteStore(str(tmp_path_factory.mktemp("memory") / "memory.db"), wal=True))
    a = people.open(A, "a1")
    people.save(a, "there", "space", 1)
    people.save(a, "start", "space", make_link("middle", "user"))
    people.save(a, "middle", "user", make_link("end"))
    for number in range(16, -1, -1):
        people.save(a, f"hop{number}", "space", make_link(f"hop{number + 1}") if number < 16 else 1)
    return people


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_with_its_code_and_takes_no_number(crowded: People, name: str) -> None:
    document, code = BAD[name]
    before = snapshot(crowded.store)
    with refusal(code):
        crowded.admission.commit_authored(parse_proposal(document), crowded.open(A, "a1"), AT)
    assert code in CODES
    assert snapshot(crowded.store) == before
    number = crowded.store.seq(SPACE)
    assert crowded.save(crowded.open(A, "a2"), "valid", "space", {"n": number}) == number + 1


@pytest.mark.parametrize("name", ["a base nobody saw", "a read that moved", "a deep document"])
def test_a_refusal_takes_no_number_in_redis_either(people: People, name: str) -> None:
    a = people.open(A, "a1")
    people.save(a, "there", "space", 1)
    before = snapshot(people.store)
    document, code = BAD[name]
    with refusal(code):
        people.admission.commit_authored(parse_proposal(document), a, AT)
    assert snapshot(people.store) == before
    assert wrote(people) == 2


def test_a_redirect_of_16_hops_is_no_circle(crowded: People) -> None:
    a = crowded.open(A, "a1")
    assert crowded.save(a, "sixteen", "space", make_link("hop1")) > 0
    with refusal("link-circle"):
        crowded.save(a, "seventeen", "space", make_link("hop0"))


def test_circles_between_documents_inside_values_are_no_redirects(crowded: People) -> None:
    a = crowded.open(A, "a1")
    assert crowded.save(a, "one", "space", {"see": make_link("two")})
    assert crowded.save(a, "two", "space", {"see": make_link("one")})


def test_a_base_is_by_the_authors_own_instance(people: People) -> None:
    a, b = people.open(A, "a1"), people.open(B, "b1")
    first = people.save(a, "preferences", "user", 1)
    people.save(b, "preferences", "user", 2)
    mine = {"id": "preferences", "scope": "user", "op": "set", "value": 3}
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


# --- what changes nothing


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


# --- properties

texts = st.text(max_size=6) | st.sampled_from(
    ["writes", "reads", "id", "scope", "op", "value", "base", "seq", "set", "user", "\ud800"]
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | texts
anything = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=6
)
nearly = st.fixed_dictionaries(
    {"id": texts, "value": anything},
    optional={
        "scope": st.sampled_from(["space", "user", "session", "x"]),
        "op": st.sampled_from(["set", "patch", "delete", "erase", "x"]),
        "base": anything,
        "scope_key": texts,
    },
)


@given(
    anything
    | st.builds(dict, writes=st.lists(nearly | anything, max_size=3), reads=anything)
    | st.builds(dict, writes=st.lists(nearly, max_size=3))
)
@quick
def test_whatever_is_sent_is_a_proposal_or_a_refusal(document: object) -> None:
    found: Proposal | MemoryRefused
    try:
        found = parse_proposal(document)
    except MemoryRefused as refused:
        found = refused
    if isinstance(found, MemoryRefused):
        assert found.code in CODES
        str(found).encode("utf-8")
    else:
        assert isinstance(found, Proposal)
        assert all(one.scope in ("space", "user", "session") for one in found.writes)


writes = st.builds(
    lambda id, scope, value: {"id": id, "scope": scope, "op": "set", "value": value},
    st.sampled_from(["preferences", "notes", "user:x", "a/b"]),
    st.sampled_from(["space", "user", "session"]),
    st.integers(0, 3),
)
numbers = count()
person = st.sampled_from([A, B, "a", "a:b", "a%3Ab", "a/b", "did:key:zA2"])


@given(st.lists(st.tuples(person, person, st.lists(writes, min_size=1, max_size=3)), max_size=4))
@settings(quick, max_examples=25)
def test_whatever_is_proposed_only_ones_own_instances_are_written(
    crowded: People,
    commits: list[tuple[str, str, list[dict[str, object]]]],
) -> None:
    store, space = crowded.store, f"space {next(numbers)}"
    people, number = People(store, space), 0
    for principal, session_id, asked in commits:
        session = people.open(principal, session_id)
        change: Change | None = people.commit(session, *asked)
        number += change is not None
        assert store.seq(space) == number
        for key in change.touched if change else ():
            assert applies_to(key.scope_key, session.identity)


def test_a_change_is_what_the_feed_says(people: People) -> None:
    a = people.open(A, "a1")
    proposal = parse_proposal(
        {
            "writes": [
                {"id": "x", "op": "set", "value": 1},
                {"id": "x", "op": "patch", "value": {"a": 1}},
                {"id": "notes", "scope": "session", "op": "set", "value": 1},
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
