from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.document import MISSING
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.selectors import (
    EVERYTHING,
    NOTHING,
    Selector,
    as_link,
    compile_schema,
    kinds,
    locate,
    moved,
    reach,
)
from tests.support import graphs
from tests.support.documents import link

quick = settings(deadline=None, max_examples=100)


def ids(value: object, schema: object = True, *path: str) -> list[str]:
    return sorted(one.link.id for one in reach(value, Selector(path, compile_schema(schema))))


@pytest.mark.parametrize(
    "schema",
    [
        None,
        3,
        "true",
        [],
        {"type": "text"},
        {"type": []} | {"type": [1]},
        {"type": {"a": 1}},
        {"required": ["a"]},
        {"properties": []},
        {"properties": {"a": 1}},
        {"items": None},
        {"anyOf": {}},
        {"anyOf": [{"typo": 1}]},
        {"additionalProperties": "no"},
        {"type": float("nan")},
        {1: True},
    ],
)
def test_what_is_no_schema_of_the_subset_is_refused(schema: Any) -> None:
    with pytest.raises(MemoryRefused) as refusal:
        compile_schema(schema)
    assert refusal.value.code == "watch-invalid"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x" * (64 << 10): True}},
        {"anyOf": [True] * 257},
        {"properties": {"a": {"anyOf": [True] * 129}, "b": {"anyOf": [True] * 128}}},
    ],
)
def test_a_schema_over_the_stated_size_is_refused(schema: object) -> None:
    with pytest.raises(MemoryRefused) as refusal:
        compile_schema(schema)
    assert refusal.value.code == "watch-invalid"


@pytest.mark.parametrize("depth", [49, 190, 5000])
def test_a_schema_deeper_than_stated_is_refused_and_never_an_error_of_the_language(
    depth: int,
) -> None:
    schema: object = True
    for _ in range(depth):
        schema = {"items": schema}
    with pytest.raises(MemoryRefused) as refusal:
        compile_schema(schema)
    assert refusal.value.code == "watch-invalid"


def test_schemas_are_equal_when_they_say_the_same_in_another_order() -> None:
    one = compile_schema({"type": "object", "properties": {"a": True, "b": False}})
    other = compile_schema({"properties": {"b": False, "a": True}, "type": "object"})
    assert one == other
    assert hash(one) == hash(other)
    assert one != compile_schema({"type": "object", "properties": {"a": True}})
    assert compile_schema({}) is compile_schema(True) is EVERYTHING
    assert compile_schema(False) is NOTHING


def test_true_follows_every_link_and_false_none() -> None:
    value = {"a": link("x"), "b": [{"c": link("y")}, 3, link("z")]}
    assert sorted(ids(value)) == ["x", "y", "z"]
    assert ids(value, False) == []
    assert ids(link("x"), False) == []


def test_members_that_are_not_named_are_left_out_unless_others_are_asked_for() -> None:
    value = {"a": link("x"), "b": link("y"), "c": link("z")}
    assert ids(value, {"properties": {"a": True}}) == ["x"]
    assert ids(value, {"properties": {"a": False}, "additionalProperties": True}) == ["y", "z"]
    assert ids(value, {"properties": {"a": True}, "additionalProperties": False}) == ["x"]
    assert ids(value, {"additionalProperties": False}) == []
    assert ids(value, {"type": "object"}) == ["x", "y", "z"]
    assert ids(value, {"type": "array"}) == []
    assert ids([value], {"properties": {"a": True}}) == []


def test_items_narrow_each_item_of_a_list() -> None:
    value = [{"a": link("x"), "b": link("y")}, link("z")]
    assert sorted(ids(value, {"items": {"properties": {"b": True}}})) == ["y", "z"]
    assert ids(value, {"items": False}) == []
    assert ids({"a": value}, {"items": True}) == []


def test_what_any_branch_takes_is_taken_with_the_words_around_it() -> None:
    value = {"kind": link("k"), "a": link("x"), "b": link("y"), "c": link("z")}
    either = {
        "properties": {"kind": True},
        "anyOf": [{"properties": {"a": True}}, {"additionalProperties": False}, False],
    }
    assert sorted(set(ids(value, either))) == ["k", "x"]
    assert ids(value, {"anyOf": []}) == []
    assert ids(value, {"type": "object", "anyOf": [{"type": "array"}, {"items": True}]}) == [
        "k",
        "x",
        "y",
        "z",
    ]


def test_a_link_is_followed_whatever_kind_of_value_is_asked_for() -> None:
    assert ids({"a": link("x")}, {"properties": {"a": {"type": "string"}}}) == ["x"]


def test_a_path_goes_down_to_a_link_and_hands_the_rest_of_itself_on() -> None:
    value = {"a": [1, {"b": link("x", "user", "p")}]}
    (one,) = reach(value, Selector(("a", "1", "b", "c", "d"), EVERYTHING))
    assert one.link.scope == "user"
    assert one.selector == Selector(("p", "c", "d"), EVERYTHING)
    assert one.hop
    assert reach(value, Selector(("a", "2"), EVERYTHING)) == []
    assert locate(value, ("a", "1")) == (value["a"][1], ())  # type: ignore[index]
    assert locate(value, ("a", "no")) == (MISSING, ())


def test_a_link_below_the_selected_value_is_no_redirect() -> None:
    assert [one.hop for one in reach({"a": link("x")}, Selector((), EVERYTHING))] == [False]
    assert [one.hop for one in reach(link("x"), Selector((), EVERYTHING))] == [True]
    assert [one.hop for one in reach({"a": link("x")}, Selector(("a",), EVERYTHING))] == [True]


@pytest.mark.parametrize("body", [None, {}, {"id": ""}, {"id": "a", "scope": "own"}, {"id": 1}])
def test_a_damaged_link_is_not_followed_and_takes_nothing_along(body: object) -> None:
    value = {"bad": {"$link": body}, "good": link("x")}
    assert as_link(value["bad"]) is None
    assert ids(value) == ["x"]
    assert ids(value, True, "bad", "id") == []


def test_small_schemas_with_large_products_end_soon() -> None:
    schema: Any = True
    for _ in range(14):
        schema = {"properties": {"a": schema}, "anyOf": [{"type": "object"}, {}, {"items": True}]}
    value: Any = link("x")
    for _ in range(14):
        value = {"a": value}
    assert set(ids(value, schema)) == {"x"}
    assert len(ids(value, schema)) <= 3


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (True, ("boolean",)),
        (1, ("integer", "number")),
        (1.0, ("integer", "number")),
        (1.5, ("number",)),
        (None, ("null",)),
        ("", ("string",)),
        ([], ("array",)),
        ({}, ("object",)),
    ],
)
def test_the_kinds_of_values_are_those_of_json_schema(value: object, names: tuple) -> None:
    assert kinds(value) == names


paths = st.lists(st.sampled_from("ab"), max_size=3).map(tuple)
schemas = st.sampled_from([True, False, {"type": "object"}, {"properties": {"a": True}}])


@quick
@given(paths, schemas, paths, schemas)
def test_one_selector_covers_another_only_if_it_follows_all_that_the_other_does(
    path: tuple, schema: object, other_path: tuple, other_schema: object
) -> None:
    one = Selector(path, compile_schema(schema))
    other = Selector(other_path, compile_schema(other_schema))
    value: Any = {}
    for first in "ab":
        value[first] = {}
        for second in "ab":
            value[first][second] = {third: link(first + second + third) for third in "ab"}
    if one.covers(other):
        assert {x.link.id for x in reach(value, other)} <= {x.link.id for x in reach(value, one)}
    assert one.covers(one)
    assert Selector((), EVERYTHING).covers(other)


@quick
@given(graphs.values, graphs.values, graphs.schemas(branches=True), graphs.steps, st.booleans())
def test_what_moved_leads_from_the_links_of_one_value_to_those_of_another(
    before: Any, other: Any, schema: Any, path: list[str], shares: bool
) -> None:
    after = {"a": other, "b": before} if shares else other
    before = {"a": 1, "b": before} if shares else before
    selector = Selector(tuple(path), compile_schema(schema))
    found = moved(before, after, selector)
    if found is not None:
        came, went = map(Counter, found)
        assert Counter(reach(before, selector)) - went + came == Counter(reach(after, selector))


def test_a_link_that_stays_is_none_that_moved() -> None:
    stays = {"x": link("x"), "y": [link("y")]}
    came, went = moved(stays, {**stays, "y": [link("y"), link("z")]}, Selector((), EVERYTHING)) or (
        (),
        (),
    )
    assert [one.link.id for one in came] == ["z"]
    assert went == ()
    everything = Selector((), EVERYTHING)
    assert moved({**stays, "z": link("z")}, {**stays}, everything) == ((), came)


@pytest.mark.parametrize("value", [link("x"), {"a": link("x")}])
def test_where_a_link_stands_on_the_way_nothing_is_compared(value: object) -> None:
    assert moved({"a": {"b": 1}}, value, Selector(("a", "b"), EVERYTHING)) is None


@pytest.mark.parametrize("branches", [[], [False], [{"anyOf": []}, False]])
def test_branches_that_take_nothing_follow_no_link(branches: list[Any]) -> None:
    assert ids({"a": link("x")}, {"additionalProperties": {"anyOf": branches}}) == []
    assert ids(link("x"), {"anyOf": branches}) == []
