from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.misses import MissLedger
from scripts.swarm_v2.memory.selectors import EVERYTHING, Selector

quick = settings(deadline=None, max_examples=100)
WHOLE = Selector((), EVERYTHING)
TEXT = Selector(("text",), EVERYTHING)


def key(name: str, scope_key: str = "space") -> InstanceKey:
    return InstanceKey("p", scope_key, name)


def test_a_miss_ends_when_the_last_document_that_links_there_is_walked_again() -> None:
    misses = MissLedger()
    misses.miss(key("x"), WHOLE, key("one"))
    misses.miss(key("x"), TEXT, key("two"))
    assert misses.release(key("one")) == set()
    assert misses.selectors(key("x")) == {WHOLE, TEXT}
    assert misses.release(key("two")) == {key("x")}
    assert key("x") not in misses
    assert misses.release(key("two")) == set()


def test_a_document_that_appears_gives_back_what_was_wanted_of_it() -> None:
    misses = MissLedger()
    misses.miss(key("x"), WHOLE, key("one"))
    misses.miss(key("y"), WHOLE, key("one"))
    assert misses.resolve(key("x")) == {WHOLE}
    assert misses.resolve(key("x")) == frozenset()
    assert misses.missed_by(key("one")) == {key("y")}


def test_misses_of_somebody_are_told_from_those_of_the_space() -> None:
    misses = MissLedger()
    misses.miss(key("x", "user:a"), WHOLE, key("one"))
    misses.miss(key("y"), WHOLE, key("one"))
    assert misses.scoped() == (key("x", "user:a"),)
    other = misses.rekeyed(lambda one: one._replace(scope_key="user:b") if one.id == "x" else one)
    assert other.scoped() == (key("x", "user:b"),)
    assert other.referrers(key("x", "user:b")) == {key("one")}
    assert misses.scoped() == (key("x", "user:a"),)


names = st.sampled_from("abc")
steps = st.lists(
    st.tuples(st.sampled_from(["miss", "release", "resolve", "fork"]), names, names), max_size=30
)


@quick
@given(steps)
def test_the_three_maps_always_agree(script: list) -> None:
    misses, plain = MissLedger(), set()
    for what, one, other in script:
        if what == "miss":
            misses.miss(key(one), WHOLE, key(other))
            plain.add((one, other))
        elif what == "release":
            misses.release(key(other))
            plain = {pair for pair in plain if pair[1] != other}
        elif what == "resolve":
            misses.resolve(key(one))
            plain = {pair for pair in plain if pair[0] != one}
        else:
            misses = misses.fork()
        assert set(misses.keys()) == {key(pair[0]) for pair in plain}
        assert len(misses) == len(misses.keys())
        for name in "abc":
            assert misses.referrers(key(name)) == {key(y) for x, y in plain if x == name}
            assert misses.missed_by(key(name)) == {key(x) for x, y in plain if y == name}
            assert bool(misses.selectors(key(name))) == (key(name) in misses)
