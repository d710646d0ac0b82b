from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType

import pytest

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.evaluation_cache import MAX_SPACES, EvaluationCache
from scripts.swarm_v2.memory.queries import Query, TrackedQuery
from tests.support.asking import ask, session
from tests.support.documents import A1, B1, Documents, Space, documents, link


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Documents]:
    yield from documents(tmp_path_factory.mktemp("store"))


@pytest.fixture
def space(made: Documents) -> Space:
    return made.space()


@pytest.fixture
def cache() -> EvaluationCache:
    return EvaluationCache(1000)


def test_weight_is_the_number_of_documents_held(space: Space, cache: EvaluationCache) -> None:
    space.put("index", {"x": link("x", "space")})
    space.put("x", 1)
    ask(cache, space, A1)
    assert cache.weight == 2
    ask(cache, space, B1)
    assert cache.weight == 2


def test_over_budget_other_spaces_go_first_and_then_what_was_kept_before(
    made: Documents,
) -> None:
    cache = EvaluationCache(4)
    old, new = made.space(), made.space()
    for one in (old, new):
        one.put("index", {"x": link("x", "space")})
        one.put("x", 1)
        one.put("three", [link("x"), link("index")])
    ask(cache, old, A1)
    ask(cache, new, A1)
    assert (cache.spaces, cache.weight) == ((old.name, new.name), 4)
    ask(cache, new, A1, "three")
    assert cache.spaces == (new.name,)
    assert cache.weight == 3
    assert ask(cache, new, A1, "three").visited == 0
    assert ask(cache, new, A1).visited == 1


def test_what_is_heavier_than_the_whole_budget_is_not_kept_and_evicts_nothing(
    made: Documents,
) -> None:
    cache = EvaluationCache(2)
    small, large = made.space(), made.space()
    small.put("index", 1)
    large.put("index", [link("x"), link("y"), link("z")])  # three misses weigh too
    ask(cache, small, A1)
    assert ask(cache, large, A1).result == [None, None, None]
    assert cache.spaces == (small.name,)
    assert ask(cache, small, B1).visited == 0


def test_the_budget_holds_though_a_later_part_of_the_request_fails(made: Documents) -> None:
    cache = EvaluationCache(3)
    one, other = made.space(), made.space()
    for where in (one, other):
        where.put("index", {"x": link("x", "space")})
        where.put("x", 1)
    ask(cache, one, A1)
    ask(cache, other, A1)
    with pytest.raises(MemoryRefused):
        ask(cache, other, A1, schema={"typo": 1})

    def fails() -> TrackedQuery:
        raise MemoryRefused("store-busy", "the store did not answer")

    query = Query(Address(other.name, "failing"))
    with pytest.raises(MemoryRefused):
        cache.ask(other.store, query, session(other, A1), fails)
    assert cache.weight <= 3
    assert cache.spaces == (other.name,)
    assert ask(cache, other, A1, "failing").visited == 1


def test_at_most_eight_spaces_are_kept_the_ones_asked_last(made: Documents) -> None:
    cache = EvaluationCache(1000)
    spaces = [made.space() for _ in range(MAX_SPACES + 1)]
    for one in spaces:
        one.put("index", one.name)
    for one in spaces[:-1]:
        ask(cache, one, A1)
    assert ask(cache, spaces[0], B1).visited == 0
    ask(cache, spaces[-1], A1)
    assert len(cache.spaces) == MAX_SPACES
    assert spaces[1].name not in cache.spaces
    assert ask(cache, spaces[0], B1).result == spaces[0].name
    assert ask(cache, spaces[1], B1).visited == 1


def test_the_weight_is_that_of_what_is_kept_and_one_more_question_costs_the_same(
    space: Space, cache: EvaluationCache
) -> None:
    """Many watches of one session: each is asked once, beside all that were asked before."""

    def calls(first: int, last: int) -> int:
        count = 0

        def counting(frame: FrameType, event: str, what: object) -> None:
            nonlocal count
            count += event == "call"

        before = sys.getprofile()
        sys.setprofile(counting)
        try:
            for number in range(first, last):
                ask(cache, space, A1, f"n/{number}")
        finally:
            sys.setprofile(before)
        return count

    few, _, many = calls(0, 10), calls(10, 300), calls(300, 310)
    assert cache.weight == 310
    assert many < few * 1.5
