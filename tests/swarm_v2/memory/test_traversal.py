from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.document import Link
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.loader import DocumentLoader
from scripts.swarm_v2.memory.selectors import EVERYTHING, Selector, compile_schema
from scripts.swarm_v2.memory.traversal import (
    MAX_HOPS,
    MissLedger,
    SchemaMemo,
    SchemaTracker,
    Step,
    Traverser,
    target,
)
from scripts.swarm_v2.scope_key import DirtyKey
from tests.support import graphs
from tests.support.documents import A1, A2, B1, NOBODY, Documents, Space, documents, link, of

quick = settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
WHOLE = Selector((), EVERYTHING)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Documents]:
    yield from documents(tmp_path_factory.mktemp("store"))


@pytest.fixture
def space(made: Documents) -> Space:
    return made.space()


def walk(space: Space, root: str, who: Any, schema: object = True, *path: str, **known: Any) -> Any:
    loader = DocumentLoader(space.store, space.name, who)
    tracker = known.get("tracker") or SchemaTracker()
    memo = known.get("memo") or SchemaMemo()
    walker = Traverser(loader, tracker, MissLedger(), memo)
    key = InstanceKey(space.name, known.get("key", "space"), root)
    walker.walk([Step(key, Selector(path, compile_schema(schema)))])
    return walker


def ids(keys: Any) -> set[DirtyKey]:
    return {DirtyKey(key.scope_key, key.id) for key in keys}


@quick
@given(
    graphs.graphs,
    st.sampled_from(graphs.NAMES),
    st.sampled_from(graphs.IDENTITIES),
    graphs.schemas(branches=True),
    graphs.steps,
)
def test_a_walk_reaches_and_misses_what_a_reader_without_shortcuts_does(
    made: Documents, rows: dict, root: str, who: Any, schema: object, path: list
) -> None:
    space = made.space()
    space.put_all(rows)
    walker = walk(space, root, who, schema, *path)
    naive = graphs.Naive(rows, who)
    naive.walk(DirtyKey("space", root), tuple(path), schema)
    assert ids(walker.tracker.keys()) == naive.tracked
    assert ids(walker.misses.keys()) == naive.missed
    assert ids(found for found in walker.loader.present()) == naive.tracked & rows.keys()


def test_the_root_is_tracked_though_it_is_absent_or_the_schema_rejects_it(space: Space) -> None:
    space.put("there", {"a": link("x")})
    assert ids(walk(space, "nowhere", A1).tracker.keys()) == {("space", "nowhere")}
    assert len(walk(space, "nowhere", A1).misses) == 0
    assert ids(walk(space, "there", A1, False).tracker.keys()) == {("space", "there")}
    rejected = walk(space, "there", A1, {"anyOf": [{"type": "array"}, False]})
    assert ids(rejected.tracker.keys()) == {("space", "there")}


def test_index_with_a_schema_of_titles_and_summaries_loads_no_body(space: Space) -> None:
    slugs = [f"memory/{number}" for number in range(50)]
    for slug in slugs:
        space.put(slug, {"text": "long"})
    entries = {slug: {"title": slug, "summary": "s", "memory": link(slug)} for slug in slugs}
    space.put("index", {"links": entries})
    narrow = {"properties": {"title": True, "summary": True}}
    titles = {"properties": {"links": {"additionalProperties": narrow}}}
    assert walk(space, "index", A1, titles).loader.loads == 1
    assert walk(space, "index", A1, True).loader.loads == 51


def test_a_level_of_links_is_one_question_to_the_store(space: Space) -> None:
    space.put("index", [link(f"memory/{number}") for number in range(30)])
    asked: list[int] = []

    class Counting:
        def __getattr__(self, name: str) -> Any:
            asked.append(1) if name == "read_many" else None
            return getattr(space.store, name)

    loader = DocumentLoader(Counting(), space.name, A1)  # type: ignore[arg-type]
    Traverser(loader, SchemaTracker(), MissLedger(), SchemaMemo()).walk(
        [Step(InstanceKey(space.name, "space", "index"), WHOLE)]
    )
    assert len(asked) == 2


def test_circles_and_long_chains_of_documents_end(space: Space) -> None:
    space.put("one", {"next": link("two"), "own": link("one")})
    space.put("two", {"back": link("one", "space"), "again": link("two", "space", "back")})
    assert ids(walk(space, "one", A1).tracker.keys()) == {("space", "one"), ("space", "two")}
    rows: dict = {DirtyKey("space", f"n{n}"): {"next": link(f"n{n + 1}")} for n in range(1500)}
    space.put_all(rows)
    chained = walk(space, "n0", A1)
    assert len(chained.tracker) == 1500
    assert ids(chained.misses.keys()) == {("space", "n1500")}


def test_redirects_are_followed_to_the_stated_number_and_not_in_a_circle(space: Space) -> None:
    for number in range(MAX_HOPS + 2):
        space.put(f"r{number}", link(f"r{number + 1}"))
    far = walk(space, "r0", A1)
    assert ids(far.tracker.keys()) == {("space", f"r{n}") for n in range(MAX_HOPS + 1)}
    assert ids(far.broken) == {("space", f"r{MAX_HOPS}")}
    assert not walk(space, "r2", A1).broken
    space.put("grows", {"a": link("grows", None, "a", "b")})
    grows = walk(space, "grows", A1)
    assert ids(grows.broken) == {("space", "grows")}


def test_redirects_that_are_too_many_from_one_side_are_followed_from_another(
    space: Space,
) -> None:
    for number in range(MAX_HOPS + 4):
        space.put(f"r{number}", link(f"r{number + 1}", "space"))
        space.put(f"m{number}", {"next": link(f"m{number + 1}", "space")})
    space.put(f"m{MAX_HOPS + 4}", {"late": link("r10", "space")})
    space.put("index", {"far": link("r0", "space"), "late": link("m0", "space")})
    walker = walk(space, "index", A1)
    assert DirtyKey("space", f"r{MAX_HOPS + 3}") in ids(walker.tracker)
    assert ids(walker.misses) == {("space", f"r{MAX_HOPS + 4}")}


def test_a_redirect_leads_each_reader_into_its_own_instance(space: Space) -> None:
    space.put("context", link("context", "user"))
    space.put("context", link("context", "session"), "user", A1)
    space.put("context", {"text": "a1"}, "session", A1)
    space.put("context", {"text": "b"}, "user", B1)
    keys = {of("space"), of("user", A1), of("session", A1)}
    assert {key.scope_key for key in walk(space, "context", A1).tracker} == keys
    a2 = walk(space, "context", A2)
    assert ids(a2.misses.keys()) == {(of("session", A2), "context")}
    assert {k.scope_key for k in walk(space, "context", B1).tracker} == {
        "space",
        of("user", B1),
    }
    nobody = walk(space, "context", NOBODY)
    assert ids(nobody.tracker.keys()) == {("space", "context")}
    assert nobody.unresolved
    assert not nobody.misses.keys()


def test_a_tombstone_is_tracked_and_its_links_are_gone(space: Space) -> None:
    space.put("x", {"a": link("y")})
    space.delete("x")
    space.put("index", link("x"))
    walker = walk(space, "index", A1)
    assert ids(walker.tracker.keys()) == {("space", "index"), ("space", "x")}
    assert not len(walker.misses)


def test_coverage_asks_the_instance_of_the_one_who_walks() -> None:
    """Scenario 18: coverage is not contagious."""
    tracker = SchemaTracker()
    scoped = Link("memory/x", "user")
    mine = target("p", scoped, A1)
    assert mine is not None
    assert tracker.add(mine, WHOLE)
    assert tracker.covers("p", scoped, WHOLE, A1)
    assert tracker.covers("p", scoped, WHOLE, A2)  # the same instance: one person, two sessions
    assert not tracker.covers("p", scoped, WHOLE, B1)
    assert not tracker.covers("p", scoped, WHOLE, NOBODY)
    assert not tracker.covers("q", scoped, WHOLE, A1)
    assert not tracker.covers("p", Link("memory/x", "session"), WHOLE, A1)
    assert not tracker.covers("p", Link("memory/x", "space"), WHOLE, A1)


def test_coverage_takes_the_same_selector_or_everything_above_it() -> None:
    tracker, scoped = SchemaTracker(), Link("x", "space")
    narrow = compile_schema({"properties": {"a": True}})
    key = InstanceKey("p", "space", "x")
    tracker.add(key, Selector(("a",), EVERYTHING))
    tracker.add(key, Selector(("b",), narrow))
    assert tracker.covers("p", scoped, Selector(("a",), EVERYTHING), A1)
    assert tracker.covers("p", scoped, Selector(("a", "z"), narrow), A1)
    assert tracker.covers("p", scoped, Selector(("b",), narrow), A1)
    assert not tracker.covers("p", scoped, Selector(("b", "c"), narrow), A1)
    assert not tracker.covers("p", scoped, Selector(("b",), EVERYTHING), A1)
    assert not tracker.covers("p", scoped, Selector((), narrow), A1)


def test_a_link_that_declares_no_scope_is_never_covered() -> None:
    tracker = SchemaTracker()
    tracker.add(InstanceKey("p", "space", "x"), WHOLE)
    assert tracker.covers("p", Link("x", "space"), WHOLE, A1)
    assert not tracker.covers("p", Link("x"), WHOLE, A1)


def test_a_walk_as_another_person_loads_that_one_s_own_through_one_tracker(space: Space) -> None:
    space.put("index", {"x": link("memory/x", "user")})
    space.put("memory/x", {"text": "A"}, "user", A1)
    space.put("memory/x", {"text": "B"}, "user", B1)
    tracker = SchemaTracker()
    walk(space, "index", A1, tracker=tracker)
    walker = walk(space, "memory/x", B1, tracker=tracker, key=of("user", B1))
    assert DirtyKey(of("user", B1), "memory/x") in ids(walker.tracker.keys())
    assert [one.value for one in walker.loader.present()] == [{"text": "B"}]


def test_the_memo_refuses_a_second_identity_and_goes_on_serving_its_owner(space: Space) -> None:
    """Scenario 31: the memo guard is loud."""
    space.put("index", {"a": 1})
    memo = SchemaMemo()
    walk(space, "index", A1, memo=memo)
    for other in (B1, A2, NOBODY, A1._replace(session_id=None), A1._replace(session_id="")):
        with pytest.raises(MemoryRefused) as refusal:
            walk(space, "index", other, memo=memo)
        assert refusal.value.code == "identity-changed"
    walk(space, "index", A1, memo=memo)


def test_a_memo_bound_to_nobody_is_somebody_s_no_more_than_another_s(space: Space) -> None:
    memo = SchemaMemo()
    walk(space, "index", NOBODY, memo=memo)
    with pytest.raises(MemoryRefused):
        walk(space, "index", A1, memo=memo)
    with pytest.raises(MemoryRefused):
        walk(space, "index", NOBODY._replace(principal=""), memo=memo)


def test_a_fork_of_a_tracker_learns_nothing_from_the_other() -> None:
    tracker = SchemaTracker()
    key = InstanceKey("p", "space", "x")
    tracker.add(key, WHOLE)
    fork = tracker.fork()
    fork.add(key, Selector(("a",), EVERYTHING))
    tracker.add(InstanceKey("p", "space", "y"), WHOLE)
    assert tracker.selectors(key) == {WHOLE}
    assert len(fork) == 1


def test_a_part_is_walked_again_only_where_fewer_redirects_led_to_it() -> None:
    tracker, key = SchemaTracker(), InstanceKey("p", "space", "x")
    assert tracker.add(key, WHOLE, 3)
    assert not tracker.add(key, WHOLE, 3)
    assert not tracker.add(key, WHOLE, 4)
    assert tracker.add(key, WHOLE, 0)
    assert tracker.hops(key, WHOLE) == 0
