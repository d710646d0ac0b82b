from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory import values
from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.document import MISSING, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.loader import DocumentLoader
from scripts.swarm_v2.memory.queries import Query, TrackedQuery
from scripts.swarm_v2.memory.selectors import compile_schema
from scripts.swarm_v2.memory.traversal import MAX_HOPS, SchemaMemo
from scripts.swarm_v2.memory.values import ValueBuilder
from scripts.swarm_v2.scope_key import DirtyKey
from scripts.swarm_v2.wire_json import dumps
from tests.support import graphs
from tests.support.documents import A1, A2, B1, NOBODY, Documents, Space, documents, link, of

quick = settings(deadline=None, max_examples=100)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Documents]:
    yield from documents(tmp_path_factory.mktemp("store"))


@pytest.fixture
def space(made: Documents) -> Space:
    return made.space()


def result(space: Space, root: str, who: Any, schema: object = True, *path: str) -> Any:
    query = Query(Address(space.name, root, "space", path), schema)
    return TrackedQuery(space.store, query, who).evaluate().result


@quick
@given(
    graphs.graphs,
    st.sampled_from(graphs.NAMES),
    st.sampled_from(graphs.IDENTITIES),
    graphs.schemas(branches=False),
    graphs.steps,
)
def test_the_value_is_what_a_reader_without_shortcuts_spells_out(
    made: Documents, rows: dict, root: str, who: Any, schema: object, path: list
) -> None:
    space = made.space()
    space.put_all(rows)
    name = (root, "space", tuple(path))
    naive = graphs.Naive(rows, who).value(DirtyKey("space", root), name, schema, (), None)
    built = result(space, root, who, schema, *path)
    assert (built is MISSING) == (naive is graphs.MISSING)
    assert built is MISSING or same(built, naive)


def test_a_link_without_a_scope_that_stands_twice_shows_its_target_twice(space: Space) -> None:
    """Scenario 19: a repeated unscoped link keeps its value."""
    space.put("memory/x", {"text": "t"})
    space.put("index", {"one": link("memory/x"), "two": link("memory/x"), "in": [link("memory/x")]})
    assert result(space, "index", A1) == {
        "one": {"text": "t"},
        "two": {"text": "t"},
        "in": [{"text": "t"}],
    }


def test_a_scoped_link_that_stands_twice_shows_its_target_twice_too(space: Space) -> None:
    space.put("memory/x", {"text": "A"}, "user", A1)
    space.put("index", [link("memory/x", "user"), link("memory/x", "user", "text")])
    assert result(space, "index", A1) == [{"text": "A"}, "A"]
    assert result(space, "index", B1) == [None, None]
    assert result(space, "index", NOBODY) == [None, None]


def test_a_redirect_shows_each_reader_its_own_end(space: Space) -> None:
    space.put("context", link("context", "user"))
    space.put("context", link("context", "session"), "user", A1)
    space.put("context", {"text": "a1"}, "session", A1)
    space.put("context", {"text": "b"}, "user", B1)
    assert result(space, "context", A1, True, "text") == "a1"
    assert result(space, "context", A2) is MISSING
    assert result(space, "context", B1) == {"text": "b"}
    assert result(space, "context", NOBODY) is MISSING


def test_a_link_in_a_circle_stands_as_it_was_written(space: Space) -> None:
    space.put("one", {"next": link("two"), "n": 1})
    space.put("two", {"back": link("one"), "n": 2})
    assert result(space, "one", A1) == {"next": {"back": link("one"), "n": 2}, "n": 1}
    assert result(space, "two", A1) == {"back": {"next": link("two"), "n": 1}, "n": 2}


def test_redirects_in_a_circle_or_without_end_lead_to_no_value(space: Space) -> None:
    space.put("one", link("two"))
    space.put("two", link("one"))
    space.put("index", {"a": link("one"), "b": 1})
    assert result(space, "one", A1) is MISSING
    assert result(space, "index", A1) == {"b": 1}
    for number in range(MAX_HOPS + 1):
        space.put(f"r{number}", link(f"r{number + 1}"))
    space.put(f"r{MAX_HOPS + 1}", "end")
    assert result(space, "r0", A1) is MISSING
    assert result(space, "r1", A1) == "end"
    space.put("both", [link("r0"), link("r1"), link("r0")])
    assert result(space, "both", A1) == [None, "end", None]


def test_what_is_absent_or_rejected_leaves_its_member_out_and_its_place_in_a_list(
    space: Space,
) -> None:
    space.put("text", "t")
    space.put("gone", "g")
    space.delete("gone")
    space.put("index", {"a": [link("no"), link("text"), link("gone"), 3], "b": link("no")})
    assert result(space, "index", A1) == {"a": [None, "t", None, 3]}
    strings = {"properties": {"a": {"items": {"type": "string"}}, "b": {"type": "string"}}}
    assert result(space, "index", A1, strings) == {"a": [None, "t", None, None]}


def test_branches_are_taken_together(space: Space) -> None:
    space.put("x", {"a": {"p": 1, "q": 2, "r": 3}, "b": 4, "c": 5})
    either = {
        "anyOf": [
            {"properties": {"a": {"properties": {"p": True}}, "b": True}},
            {"properties": {"a": {"anyOf": [{"properties": {"q": True}}, False]}}},
            {"type": "array"},
        ]
    }
    assert result(space, "x", A1, either) == {"a": {"p": 1, "q": 2}, "b": 4}
    assert result(space, "x", A1, {"anyOf": [{"type": "string"}, False]}) is MISSING


def test_kinds_of_values_are_told_apart(space: Space) -> None:
    space.put("x", [True, 1, 1.5, None, "1"])
    assert result(space, "x", A1, {"items": {"type": "integer"}}) == [None, 1, None, None, None]
    assert same(result(space, "x", A1), [True, 1, 1.5, None, "1"])


def test_a_long_chain_of_links_is_shown_to_a_stated_depth_and_can_be_written(
    space: Space,
) -> None:
    space.put_all({DirtyKey("space", f"n{n}"): {"next": link(f"n{n + 1}")} for n in range(120)})
    shown, depth = result(space, "n0", A1), 0
    while "$link" not in shown:
        shown, depth = shown["next"], depth + 1
    assert depth == values.MAX_LINK_DEPTH + 1
    space.put("index-0", [link("n0")])
    space.put("all", [link(f"n{n}") for n in reversed(range(120))])
    shown = result(space, "all", A1)
    assert dumps(shown)
    assert shown[-1] == result(space, "index-0", A1)[0]
    deep: Any = {"end": link("n0")}
    for _ in range(44):
        deep = [deep]
    space.put("deep", deep)
    assert dumps(result(space, "deep", A1))


def test_documents_that_double_at_each_step_end_at_the_stated_number(space: Space) -> None:
    for number in range(40):
        twice = [link(f"n{number + 1}"), link(f"n{number + 1}")]
        space.put(f"n{number}", twice)
    space.put("n40", "end")
    assert len(dumps(result(space, "n0", A1))) < 40 * values.MAX_NODES


def test_documents_that_all_link_to_all_end_at_the_stated_number(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "MAX_NODES", 5000)
    everybody = {f"n{n}": link(f"n{n}") for n in range(12)}
    for name in everybody:
        space.put(name, everybody)
    assert dumps(result(space, "n0", A1)).count("{") < 5000 * 4


def test_the_builder_refuses_a_memo_of_another_identity(space: Space) -> None:
    memo = SchemaMemo()
    ValueBuilder(DocumentLoader(space.store, space.name, A1), memo)
    with pytest.raises(MemoryRefused) as refusal:
        ValueBuilder(DocumentLoader(space.store, space.name, B1), memo)
    assert refusal.value.code == "identity-changed"


def test_one_memo_keeps_an_explicit_instance_apart_from_the_own_one(space: Space) -> None:
    space.put("preferences", "A", "user", A1)
    space.put("preferences", "B", "user", B1)
    loader, memo = DocumentLoader(space.store, space.name, A1), SchemaMemo()
    builder = ValueBuilder(loader, memo)
    shown = []
    for address in (
        Address(space.name, "preferences", "user", (), of("user", B1)),
        Address(space.name, "preferences", "user"),
    ):
        loader.load(address)
        shown.append(builder.build(address, loader.key_of(address), compile_schema(True)))
    assert shown == ["B", "A"]
