from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.admission import parse_proposal
from scripts.swarm_v2.memory.document import MAX_BYTES, MAX_DEPTH, MAX_NODES, make_link
from scripts.swarm_v2.memory.errors import CODES
from scripts.swarm_v2.memory.proposals import MAX_WRITES
from scripts.swarm_v2.memory.reserved import UNWRITTEN
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from tests.support.memory_stores import AT, SPACE, A, B, People, refusal, snapshot, wrote

if TYPE_CHECKING:
    pass

USER_A, USER_B = "user:did%3Akey%3AzA", "user:did%3Akey%3AzB"


def deep(levels: int, inmost: object = 1) -> object:
    value = inmost
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
    "a very deep document": (write(value=deep(50_000)), "document-too-deep"),
    "65 containers, the last one empty": (write(value=deep(MAX_DEPTH, [])), "document-too-deep"),
    "a document of very many values": (write(value=[{}] * MAX_NODES), "document-too-large"),
    "many documents of many values": (
        {"writes": [{"id": f"x{n}", "value": [1] * 90_000} for n in range(3)]},
        "document-too-large",
    ),
    **{f"{name} by hand": (write(id=name), "derived-write") for name in UNWRITTEN},
    **{
        f"{op} of {name}": ({"writes": [{"id": name, "op": op}]}, "derived-write")
        for op in ("delete", "erase")
        for name in UNWRITTEN
    },
    "faults of another in a value": (
        write(id="faults", value={"context": {USER_B: {"code": "x", "sentence": "forged"}}}),
        "derived-write",
    ),
    "an index that is a text": (write(id="index", value="garbage"), "document-reserved"),
    "an index that is a redirect": (
        write(id="index", value=make_link("index", "user")),
        "document-reserved",
    ),
    "an index patched to a redirect": (
        write(id="index", op="patch", value=make_link("index", "user")),
        "document-reserved",
    ),
    "an index without its links": (
        write(id="index", op="patch", value={"links": None}),
        "document-reserved",
    ),
    "a link of another memory": (
        write(id="index", op="patch", value={"links": {"x": {"memory": make_link("memory/y")}}}),
        "document-reserved",
    ),
    "a link that ranks by a list": (
        write(id="index", op="patch", value={"links": {"x": {"severity": ["high"]}}}),
        "document-reserved",
    ),
    "an entry of an index that is no link": (
        write(id="index", value={"links": {"x": {"title": "of nothing"}}}),
        "document-reserved",
    ),
    "a deletion of an index": ({"writes": [{"id": "index", "op": "delete"}]}, "document-reserved"),
    "an erasure of an index": ({"writes": [{"id": "index", "op": "erase"}]}, "document-reserved"),
    "an erasure of all links": (
        {"writes": [{"id": "index", "op": "erase", "value": {"links": None}}]},
        "document-reserved",
    ),
    "a memory that is a redirect": (
        write(id="memory/x", value=make_link("memory/x", "user")),
        "document-reserved",
    ),
    "a memory patched to a redirect": (
        write(id="memory/x", op="patch", value=make_link("memory/x", "user")),
        "document-reserved",
    ),
    "a memory that is a text": (write(id="memory/x", value="text"), "document-reserved"),
    "a memory without a text": (write(id="memory/x", value={"title": "t"}), "document-reserved"),
    "a memory with a blank text": (write(id="memory/x", value={"text": " "}), "document-reserved"),
    "a memory patched to say nothing": (
        write(id="memory/x", op="patch", value={"text": None}),
        "document-reserved",
    ),
    "a memory without a name": (write(id="memory/", value={"text": "t"}), "document-reserved"),
    "mistyped preferences": (
        write(id="preferences", scope="user", value={"verbosity": "loud"}),
        "document-reserved",
    ),
    "preferences patched amiss": (
        write(id="preferences", scope="user", op="patch", value={"sections": ["projects"]}),
        "document-reserved",
    ),
    "preferences that are a text": (
        write(id="preferences", scope="user", value="be brief"),
        "document-reserved",
    ),
    "preferences that redirect": (
        write(id="preferences", scope="user", value=make_link("x")),
        "document-reserved",
    ),
    "preferences of a session": (
        write(id="preferences", scope="session", value={}),
        "document-reserved",
    ),
    "notes of a person": (write(id="notes", scope="user", value={}), "document-reserved"),
    "notes of a project": (write(id="notes", value={}), "document-reserved"),
    "notes that are a list": (
        write(id="notes", scope="session", value=["goal"]),
        "document-reserved",
    ),
    "notes that redirect": (
        write(id="notes", scope="session", value=make_link("x")),
        "document-reserved",
    ),
    "a text in the person's name": (
        write(id="memory/x", value={"text": "t", "cls": "person"}),
        "person-unproven",
    ),
    "a patch in the person's name": (
        write(id="memory/x", op="patch", value={"cls": "person"}),
        "person-unproven",
    ),
    "other words under the person's name": (
        write(id="memory/hers", op="patch", value={"text": "other"}),
        "person-unproven",
    ),
    "a rank in the person's name": (
        write(id="index", op="patch", value={"links": {"x": {"cls": "person"}}}),
        "person-unproven",
    ),
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
    hers = Write("memory/hers", "space", "set", {"text": "hers", "cls": "person"})
    people.store.commit(SPACE, Commit("authored", (hers,)))
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


def test_two_commits_do_not_close_a_circle_between_them(people: People) -> None:
    a, b = people.open(A, "a1"), people.open(B, "b1")
    made = [
        people.admission.authored(parse_proposal(write(id=id, value=make_link(to))), who, AT)
        for who, id, to in ((a, "p", "q"), (b, "q", "p"))
    ]
    assert people.store.commit(SPACE, made[0])
    with refusal("stale-read"):
        people.store.commit(SPACE, made[1])
    with refusal("link-circle"):
        people.save(b, "q", "space", make_link("p"))


def test_circles_between_documents_inside_values_are_no_redirects(crowded: People) -> None:
    a = crowded.open(A, "a1")
    assert crowded.save(a, "one", "space", {"see": make_link("two")})
    assert crowded.save(a, "two", "space", {"see": make_link("one")})
