from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.document import MISSING, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.queries import Query, TrackedQuery
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import DirtyKey
from tests.support import graphs
from tests.support.documents import A1, A2, B1, B2, NOBODY, Documents, Space, documents, link, of

quick = settings(deadline=None, max_examples=60)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Documents]:
    yield from documents(tmp_path_factory.mktemp("store"))


@pytest.fixture
def space(made: Documents) -> Space:
    return made.space()


def ask(space: Space, root: str, who: Any, schema: object = True, **more: Any) -> TrackedQuery:
    address = Address(space.name, root, more.pop("scope", "space"))
    return TrackedQuery(space.store, Query(address, schema, **more), who).evaluate()


def keys(tracked: TrackedQuery) -> set[DirtyKey]:
    return {DirtyKey(key.scope_key, key.id) for key in tracked.tracker}


def missed(tracked: TrackedQuery) -> set[DirtyKey]:
    return {DirtyKey(key.scope_key, key.id) for key in tracked.misses}


changes = st.lists(
    st.tuples(
        st.builds(DirtyKey, st.sampled_from(graphs.KEYS), st.sampled_from(graphs.NAMES)),
        st.sampled_from(["set", "set", "set", "delete"]),
        graphs.values,
    ),
    max_size=6,
)


@quick
@given(
    graphs.graphs,
    changes,
    st.sampled_from(graphs.IDENTITIES),
    graphs.schemas(branches=True),
    st.booleans(),
)
def test_a_refreshed_query_knows_all_that_one_made_anew_does(
    made: Documents, rows: dict, later: list, who: Any, schema: object, one_by_one: bool
) -> None:
    space = made.space()
    space.put_all(rows)
    tracked = ask(space, "d0", who, schema)
    dirty: set[DirtyKey] = set()
    for key, op, value in later:
        write = Write(key.id, key.scope_key, op, value if op == "set" else None)
        space.store.commit(space.name, Commit("system", (write,)))
        dirty.add(key)
        if one_by_one:
            assert tracked.touches(dirty) == tracked.refresh(dirty)
            dirty = set()
    tracked.refresh(dirty)
    anew = ask(space, "d0", who, schema)
    assert keys(tracked) >= keys(anew)
    assert missed(tracked) | keys(tracked) >= missed(anew)
    assert dict(tracked.entities.items()).items() >= dict(anew.entities.items()).items()
    assert (tracked.result is MISSING) == (anew.result is MISSING)
    assert tracked.result is MISSING or same(tracked.result, anew.result)
    for key, document in tracked.entities.items():
        now = space.store.read(space.name, key.scope_key, key.id)
        assert now == document


def test_each_person_s_own_is_loaded_tracked_and_told_of(space: Space) -> None:
    """Scenario 18: coverage is not contagious."""
    space.put("index", {"x": link("memory/x", "user")})
    space.put("memory/x", {"text": "A"}, "user", A1)
    space.put("memory/x", {"text": "B"}, "user", B1)
    as_a, as_b = ask(space, "index", A1), ask(space, "index", B1)
    assert as_a.result == {"x": {"text": "A"}}
    assert as_b.result == {"x": {"text": "B"}}
    dirty = space.put("memory/x", {"text": "B2"}, "user", B2)
    assert not as_a.touches(dirty)
    assert not as_a.refresh(dirty)
    assert as_b.refresh(dirty)
    assert as_b.fresh == dirty
    assert as_b.result == {"x": {"text": "B2"}}
    assert as_a.result == {"x": {"text": "A"}}


def test_a_change_elsewhere_evaluates_nothing(space: Space) -> None:
    space.put("preferences", 1, "user", A1)
    tracked = ask(space, "preferences", A1, scope="user")
    before = tracked.loader.loads
    for dirty in (
        space.put("preferences", 2, "user", B1),
        space.put("preferences", 2, "session", A1),
        space.put("preferences", 2),
        space.put("other", 2, "user", A1),
    ):
        assert not tracked.refresh(dirty)
        assert tracked.fresh == set()
    assert tracked.loader.loads == before
    assert tracked.result == 1


def test_a_miss_is_delivered_to_nobody_and_wakes_when_the_document_appears(space: Space) -> None:
    space.put("index", {"x": link("memory/x", "user")})
    tracked = ask(space, "index", A1)
    assert missed(tracked) == {DirtyKey(of("user", A1), "memory/x")}
    assert set(tracked.entities) == {DirtyKey("space", "index")}
    assert not tracked.touches(space.put("memory/x", 0, "user", B1))
    dirty = space.put("memory/x", {"y": link("memory/y")}, "user", A2)
    assert tracked.refresh(dirty)
    assert missed(tracked) == {DirtyKey("space", "memory/y")}
    assert tracked.fresh == dirty
    assert tracked.result == {"x": {}}


def test_an_edited_away_link_retires_its_miss(space: Space) -> None:
    space.put("index", {"x": link("memory/x"), "y": link("memory/y")})
    tracked = ask(space, "index", A1)
    tracked.refresh(space.put("index", {"y": link("memory/y")}))
    assert missed(tracked) == {DirtyKey("space", "memory/y")}
    assert not tracked.touches(space.put("memory/x", 1))


def test_a_miss_that_two_documents_link_to_ends_with_the_second(space: Space) -> None:
    space.put("one", link("none"))
    space.put("two", {"a": link("none")})
    space.put("index", [link("one"), link("two")])
    tracked = ask(space, "index", A1)
    tracked.refresh(space.put("one", 1))
    assert missed(tracked) == {DirtyKey("space", "none")}
    referrers = tracked.misses.referrers(InstanceKey(space.name, "space", "none"))
    assert {key.id for key in referrers} == {"two"}
    tracked.refresh(space.delete("two"))
    assert not missed(tracked)


def test_an_absent_root_wakes_when_it_appears(space: Space) -> None:
    tracked = ask(space, "notes", A1, scope="session")
    assert tracked.result is MISSING
    assert not tracked.refresh(space.put("notes", 1, "session", A2))
    assert tracked.refresh(space.put("notes", {"goal": "g"}, "session", A1))
    assert tracked.result == {"goal": "g"}


def test_a_rejected_root_wakes_when_it_changes(space: Space) -> None:
    space.put("x", [])
    tracked = ask(space, "x", A1, {"type": "object"})
    assert tracked.result is MISSING
    assert tracked.refresh(space.put("x", {"a": 1}))
    assert tracked.result == {"a": 1}


def test_a_deleted_document_is_told_as_a_tombstone(space: Space) -> None:
    space.put("x", 1)
    space.put("index", {"x": link("x")})
    tracked = ask(space, "index", A1)
    tracked.refresh(space.delete("x"))
    assert tracked.entities[DirtyKey("space", "x")].deleted
    assert tracked.result == {}
    tracked.refresh(space.put("x", 2))
    assert tracked.result == {"x": 2}


def test_only_a_whole_evaluation_lets_documents_go(space: Space) -> None:
    space.put("x", 1)
    space.put("index", {"x": link("x")})
    tracked = ask(space, "index", A1)
    tracked.refresh(space.put("index", {}))
    assert tracked.gone == set()
    assert DirtyKey("space", "x") in tracked.entities
    tracked.evaluate()
    assert tracked.gone == {DirtyKey("space", "x")}
    assert set(tracked.entities) == tracked.fresh == {DirtyKey("space", "index")}
    assert tracked.evaluate().gone == set()


def test_a_refresh_asks_the_store_for_no_more_than_what_changed(space: Space) -> None:
    for number in range(20):
        space.put(f"memory/{number}", {"n": number})
    links = {str(number): link(f"memory/{number}", "space") for number in range(20)}
    space.put("index", links)
    tracked = ask(space, "index", A1)
    assert (tracked.reads, tracked.visited) == (21, 1)
    tracked.refresh(space.put("memory/3", {"n": 33}))
    assert tracked.reads == 1
    assert tracked.result["3"] == {"n": 33}  # type: ignore[index]


def test_of_a_patched_index_only_the_links_that_changed_are_walked(space: Space) -> None:
    for number in range(20):
        space.put(f"memory/{number}", {"n": number})
    space.put("index", {str(number): link(f"memory/{number}") for number in range(20)})
    tracked = ask(space, "index", A1)
    space.put("memory/new", {"n": "new"})
    tracked.refresh(space.patch("index", {"new": link("memory/new"), "3": None}))
    assert tracked.reads == 2
    assert tracked.result["new"] == {"n": "new"}  # type: ignore[index]


def test_what_an_unchanged_link_misses_is_missed_on_and_what_a_gone_one_did_is_not(
    space: Space,
) -> None:
    space.put("index", {"x": link("x"), "y": link("y"), "also": link("y")})
    tracked = ask(space, "index", A1)
    tracked.refresh(space.patch("index", {"z": "text"}))
    assert missed(tracked) == {DirtyKey("space", "x"), DirtyKey("space", "y")}
    tracked.refresh(space.patch("index", {"x": None, "y": None}))
    assert missed(tracked) == {DirtyKey("space", "y")}
    assert tracked.refresh(space.put("y", {"n": 1}))
    assert tracked.result == {"z": "text", "also": {"n": 1}}


def test_the_narrow_query_of_an_index_sleeps_through_its_bodies(space: Space) -> None:
    space.put("memory/x", {"text": "long"})
    entry = {"title": "t", "summary": "s", "memory": link("memory/x")}
    space.put("index", {"links": {"x": entry}})
    narrow = {"properties": {"title": True, "summary": True}}
    titles = {"properties": {"links": {"additionalProperties": narrow}}}
    tracked = ask(space, "index", A1, titles)
    assert tracked.reads == 1
    assert tracked.result == {"links": {"x": {"title": "t", "summary": "s"}}}
    assert not tracked.touches(space.put("memory/x", {"text": "longer"}))


def test_the_past_stays_as_it_was(space: Space) -> None:
    space.put("x", 1)
    space.put("index", {"x": link("x"), "y": link("y")})
    dirty = space.put("x", 2) | space.put("y", 3)
    tracked = ask(space, "index", A1, at_seq=2)
    assert tracked.result == {"x": 1}
    assert not tracked.touches(dirty)
    assert not tracked.refresh(dirty)
    assert ask(space, "index", A1).result == {"x": 2, "y": 3}


def test_a_clone_goes_its_own_way(space: Space) -> None:
    space.put("index", {"x": link("x"), "y": link("y")})
    tracked = ask(space, "index", A1)
    clone = tracked.clone(A1)
    assert clone.memo is not tracked.memo
    assert (clone.visited, clone.reads, clone.seq) == (0, 0, tracked.seq)
    dirty = space.put("x", 1)
    assert clone.refresh(dirty)
    assert clone.result == {"x": 1}
    assert tracked.result == {}
    assert missed(tracked) == {("space", "x"), ("space", "y")}
    assert missed(clone) == {("space", "y")}
    assert tracked.refresh(dirty)
    assert tracked.result == {"x": 1}


def test_a_link_that_the_identity_cannot_follow_is_noted(space: Space) -> None:
    space.put("index", {"x": link("x", "session"), "y": 1})
    tracked = ask(space, "index", A1._replace(session_id=None))
    assert tracked.unresolved
    assert tracked.result == {"y": 1}
    assert not ask(space, "index", A1).unresolved


@pytest.mark.parametrize(
    ("query", "who", "code"),
    [
        (Query(Address("P", "x", "user")), NOBODY, "identity-missing"),
        (Query(Address("P", "x", "session")), A1._replace(session_id=""), "identity-missing"),
        (Query(Address("P", "x", "own")), A1, "scope-unknown"),  # type: ignore[arg-type]
        (Query(Address("P", "x", scope_key="user:a/b")), A1, "scope-key-malformed"),
        (Query(Address("P", ""), True), A1, "id-invalid"),
        (Query(Address("unknown", "x"), True), A1, "space-invalid"),
        (Query(Address("P", "x"), {"typo": 1}), A1, "watch-invalid"),
        (Query(Address("P", "x"), True, "cell"), A1, "watch-invalid"),
    ],
)
def test_what_cannot_be_watched_is_refused_by_code(
    made: Documents, query: Query, who: Any, code: str
) -> None:
    with pytest.raises(MemoryRefused) as refusal:
        TrackedQuery(made.store, query, who)
    assert refusal.value.code == code


def test_the_memo_of_a_query_serves_its_owner_alone(space: Space) -> None:
    tracked = ask(space, "index", A1)
    for other in (A2, B1, NOBODY):
        with pytest.raises(MemoryRefused) as refusal:
            tracked.memo.bind(other)
        assert refusal.value.code == "identity-changed"
    assert tracked.evaluate().result is MISSING
