from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.document import MISSING, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.evaluation_cache import (
    EvaluationCache,
    Reach,
    Residue,
    classify_reach,
)
from scripts.swarm_v2.memory.queries import Query, TrackedQuery
from scripts.swarm_v2.scope_key import DirtyKey, Identity
from tests.support import graphs
from tests.support.asking import ask, session
from tests.support.documents import A1, A2, B1, B2, NOBODY, Documents, Space, documents, link, of

quick = settings(deadline=None, max_examples=80)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Documents]:
    yield from documents(tmp_path_factory.mktemp("store"))


@pytest.fixture
def space(made: Documents) -> Space:
    return made.space()


@pytest.fixture
def cache() -> EvaluationCache:
    return EvaluationCache(1000)


def counters(cache: EvaluationCache) -> tuple[int, int, int, int]:
    return cache.evaluations, cache.hits, cache.refusals, cache.probes


def evaluated(space: Space, who: Identity, root: str = "index", scope: Any = "space") -> Any:
    return TrackedQuery(space.store, Query(Address(space.name, root, scope)), who).evaluate()


def missed(tracked: TrackedQuery) -> set[DirtyKey]:
    return {DirtyKey(key.scope_key, key.id) for key in tracked.misses}


def test_one_evaluation_serves_eight_people_and_each_is_told_its_own_changes(
    space: Space, cache: EvaluationCache
) -> None:
    """Scenario 27: one evaluation for many."""
    space.put("memory/x", {"text": "old"})
    space.put("index", {"x": link("memory/x", "space")})
    people = [Identity(f"did:key:z{number}", "s") for number in range(8)]
    served = [ask(cache, space, who) for who in people]
    assert counters(cache) == (1, 7, 0, 0)
    assert [one.visited for one in served] == [1] + [0] * 7
    assert [one.identity for one in served] == people
    dirty = space.put("memory/x", {"text": "new"})
    for one in served[1:]:
        assert one.refresh(dirty)
        assert one.result == {"x": {"text": "new"}}
    assert served[0].result == {"x": {"text": "old"}}
    assert served[0].refresh(dirty)


def test_what_is_absent_for_two_is_shared_and_wakes_only_the_one_who_gets_it(
    space: Space, cache: EvaluationCache
) -> None:
    """Scenario 28: absent now, mine later."""
    space.put("index", {"x": link("memory/x", "user"), "n": 1})
    as_a1 = ask(cache, space, A1)
    as_a2, as_b1 = ask(cache, space, A2), ask(cache, space, B1)
    assert counters(cache) == (1, 2, 0, 1)  # A's second session has the very key: no probe
    assert missed(as_a1) == missed(as_a2) == {DirtyKey(of("user", A1), "memory/x")}
    assert missed(as_b1) == {DirtyKey(of("user", B1), "memory/x")}
    assert (as_b1.reads, as_b1.visited) == (1, 0)
    dirty = space.put("memory/x", {"text": "B"}, "user", B2)
    assert as_b1.touches(dirty)
    assert not as_a1.touches(dirty)
    assert not as_a2.touches(dirty)
    assert as_b1.refresh(dirty)
    assert as_b1.result == {"x": {"text": "B"}, "n": 1}
    assert as_a1.result == {"n": 1}


def test_what_somebody_has_is_not_shared_with_them(space: Space, cache: EvaluationCache) -> None:
    """Scenario 29: present means not shared."""
    space.put("index", {"x": link("memory/x", "user")})
    space.put("memory/x", {"text": "B"}, "user", B1)
    assert ask(cache, space, A1).result == {}
    assert ask(cache, space, B1).result == {"x": {"text": "B"}}
    assert counters(cache) == (2, 0, 1, 1)
    again = ask(cache, space, B1)
    assert again.result == {"x": {"text": "B"}}
    assert again.visited == 0
    assert counters(cache) == (2, 1, 2, 2)
    assert ask(cache, space, A2).result == {}
    assert ask(cache, space, B2).result == {"x": {"text": "B"}}  # another identity: its own
    assert cache.evaluations == 3


def test_a_tombstone_counts_as_something_that_one_has(space: Space, cache: EvaluationCache) -> None:
    space.put("index", {"x": link("memory/x", "user")})
    space.put("memory/x", 1, "user", B1)
    space.delete("memory/x", "user", B1)
    ask(cache, space, A1)
    served = ask(cache, space, B1)
    assert cache.refusals == 1
    assert served.entities[DirtyKey(of("user", B1), "memory/x")].deleted


def test_probing_stops_at_the_first_batch_that_has_one(
    space: Space, cache: EvaluationCache
) -> None:
    space.put("index", [link(f"memory/{number}", "user") for number in range(200)])
    for number in range(200):
        space.put(f"memory/{number}", 1, "user", B1)
    ask(cache, space, A1)
    ask(cache, space, B1)
    assert (cache.refusals, cache.probes) == (1, 64)
    ask(cache, space, Identity("did:key:zC", "c"))
    assert (cache.refusals, cache.probes) == (1, 264)


def test_any_commit_rotates_and_a_second_store_is_not_served_from_the_first(
    space: Space, cache: EvaluationCache, tmp_path: Path
) -> None:
    """Scenario 30: any commit rotates."""
    space.put("index", 1)
    ask(cache, space, A1)
    space.put("access", {"reader": "did:key:zB"})  # a permission is a document like others
    assert ask(cache, space, B1).visited == 1
    assert counters(cache)[:2] == (2, 0)
    assert ask(cache, space, A1).visited == 0
    other = Space(Documents(tmp_path).store, space.name)
    other.put("index", "other")
    other.put("access", 1)
    assert other.store.seq(space.name) == space.store.seq(space.name)
    assert ask(cache, other, A1).result == "other"
    assert ask(cache, space, A1).result == 1
    other.store.close()


def test_a_clone_s_memo_binds_to_its_new_owner(space: Space, cache: EvaluationCache) -> None:
    """Scenario 31: the memo guard is loud."""
    space.put("index", {"a": link("x")})
    as_a, as_b = ask(cache, space, A1), ask(cache, space, B1)
    assert as_a.result == as_b.result == {}
    for one, other in ((as_a, B1), (as_b, A1), (as_a, A2)):
        with pytest.raises(MemoryRefused) as refusal:
            one.memo.bind(other)
        assert refusal.value.code == "identity-changed"
    assert as_a.evaluate().result == as_b.evaluate().result == {}


def test_reach_is_told_by_all_that_was_tracked_and_loaded(space: Space) -> None:
    space.put("plain", {"a": link("x"), "b": link("plain")})
    space.put("absent", {"a": link("x", "user"), "b": link("y"), "c": link("z", "session")})
    space.put("own", {"a": link("mine", "user")})
    space.put("mine", 1, "user", A1)
    assert classify_reach(evaluated(space, A1, "plain")) == Reach("pure")
    residue = classify_reach(evaluated(space, A1, "absent"))
    assert residue.kind == "residue"
    assert set(residue.residue) == {
        Residue(of("user", A1), "x", "user"),
        Residue(of("session", A1), "z", "session"),
    }
    assert classify_reach(evaluated(space, A1, "own")) == Reach("tainted")
    assert classify_reach(evaluated(space, B1, "own")).kind == "residue"
    assert classify_reach(evaluated(space, A1, "nothing")) == Reach("pure")


def test_a_scoped_root_taints_though_it_is_absent(space: Space, cache: EvaluationCache) -> None:
    assert classify_reach(evaluated(space, A1, "notes", "session")) == Reach("tainted")
    ask(cache, space, A1, "notes", scope="session")
    assert ask(cache, space, A1, "notes", scope="session").visited == 0
    as_b = ask(cache, space, B1, "notes", scope="session")
    assert as_b.touches(space.put("notes", 1, "session", B1))
    assert counters(cache) == (2, 1, 0, 0)


def test_a_scope_by_name_taints_where_the_key_says_space(space: Space) -> None:
    query = Query(Address(space.name, "index", "user", (), "space"))
    tracked = TrackedQuery(space.store, query, A1).evaluate()
    assert classify_reach(tracked) == Reach("tainted")


def test_whoever_could_not_follow_a_link_shares_with_nobody(
    space: Space, cache: EvaluationCache
) -> None:
    space.put("index", {"x": link("x", "user")})
    assert classify_reach(evaluated(space, NOBODY)) == Reach("tainted")
    ask(cache, space, NOBODY)
    as_a = ask(cache, space, A1)
    assert missed(as_a) == {DirtyKey(of("user", A1), "x")}
    assert ask(cache, space, NOBODY).visited == 0
    assert missed(ask(cache, space, NOBODY)) == set()
    assert cache.evaluations == 2


def test_what_a_session_does_with_its_copy_reaches_no_other(
    space: Space, cache: EvaluationCache
) -> None:
    space.put("index", {"x": link("x"), "y": link("y", "user")})
    first = ask(cache, space, A1)
    dirty = {DirtyKey("space", "x"), DirtyKey("space", "index")}
    for one in (first, ask(cache, space, B1)):
        one.loader.invalidate(dirty)
        one.misses.release(InstanceKey(space.name, "space", "index"))
        one.entities.pop(DirtyKey("space", "index"))
    third = ask(cache, space, A2)
    assert third.visited == 0
    assert missed(third) == {DirtyKey("space", "x"), DirtyKey(of("user", A2), "y")}
    assert set(third.entities) == {DirtyKey("space", "index")}


def test_queries_of_another_shape_are_other_entries(space: Space, cache: EvaluationCache) -> None:
    space.put("index", {"a": 1, "b": [2]})
    ask(cache, space, A1)
    assert ask(cache, space, A1, schema={}).visited == 0  # the same, spelt otherwise
    assert ask(cache, space, A1, schema={"properties": {"a": True}}).visited == 1
    assert ask(cache, space, A1, "b").visited == 1
    assert ask(cache, space, A1, branch="trial").visited == 1
    deeper = Query(Address(space.name, "index", "space", ("b",)))
    assert cache.ask(space.store, deeper, session(space, A1)).result == [2]


def test_the_past_and_keyed_sessions_leave_the_cache_alone(
    space: Space, cache: EvaluationCache
) -> None:
    space.put("index", 1)
    space.put("index", 2)
    keyed = session(space, A1)
    keyed.keyed = True
    query = Query(Address(space.name, "index"))
    cache.ask(space.store, query, keyed)
    assert ask(cache, space, A1, at_seq=1).result == 1
    assert cache.spaces == ()
    ask(cache, space, B1)
    assert cache.ask(space.store, query, keyed).visited == 1
    assert ask(cache, space, B1, at_seq=1).result == 1
    assert (cache.evaluations, cache.hits, cache.weight) == (5, 0, 1)


def test_what_was_read_across_a_commit_is_kept_for_nobody(
    space: Space, cache: EvaluationCache
) -> None:
    space.put("index", 1)
    query = Query(Address(space.name, "index"))

    def slow() -> TrackedQuery:
        tracked = TrackedQuery(space.store, query, A1).evaluate()
        space.put("index", 2)
        return tracked

    cache.ask(space.store, query, session(space, A1), slow)
    assert cache.spaces == ()
    assert ask(cache, space, B1).result == 2


def same_for_its_owner(served: TrackedQuery, anew: TrackedQuery) -> bool:
    return (
        set(served.tracker) == set(anew.tracker)
        and set(served.misses) == set(anew.misses)
        and all(served.misses.referrers(k) == anew.misses.referrers(k) for k in anew.misses)
        and all(served.tracker.selectors(k) == anew.tracker.selectors(k) for k in anew.tracker)
        and dict(served.entities.items()) == dict(anew.entities.items())
        and (served.result is MISSING) == (anew.result is MISSING)
        and (served.result is MISSING or same(served.result, anew.result))
        and (served.unresolved, served.broken) == (anew.unresolved, anew.broken)
    )


@quick
@given(
    graphs.graphs,
    st.lists(
        st.tuples(
            st.sampled_from(graphs.IDENTITIES),
            st.sampled_from(["space", "space", "user", "session"]),
            st.none() | st.builds(DirtyKey, st.sampled_from(graphs.KEYS), st.just("d1")),
        ),
        min_size=2,
        max_size=8,
    ),
)
def test_whoever_asks_gets_what_it_would_have_got_alone_now_and_after_changes(
    made: Documents, rows: dict, script: list
) -> None:
    space, cache = made.space(), EvaluationCache(100)
    space.put_all(rows)
    live: list[TrackedQuery] = []
    for who, scope, changed in script:
        query = Query(Address(space.name, "d0", scope))
        try:
            anew = TrackedQuery(space.store, query, who).evaluate()
        except MemoryRefused:
            continue
        served = cache.ask(space.store, query, session(space, who))
        assert served.identity == who
        assert same_for_its_owner(served, anew)
        live.append(served)
        if changed is not None:
            space.put_all({changed: {"a": link("d2"), "b": link("d0", "user")}})
            for one in live:
                one.refresh({changed})
                alone = TrackedQuery(space.store, one.query, one.identity).evaluate()
                assert set(one.tracker) >= set(alone.tracker)
                assert one.result is MISSING or same(one.result, alone.result)
