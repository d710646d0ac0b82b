from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.overlay import Overlay

quick = settings(deadline=None, max_examples=100)
keys = st.integers(0, 5)
steps = st.lists(
    st.tuples(st.sampled_from(["set", "pop", "fork", "swap"]), keys, st.none() | st.integers()),
    max_size=40,
)


@quick
@given(steps)
def test_it_answers_as_a_dict_would_and_no_fork_sees_what_another_writes(script: list) -> None:
    pairs = [(Overlay({0: None}), {0: None})]
    for what, key, value in script:
        overlay, plain = pairs[-1]
        if what == "set":
            overlay[key] = value
            plain[key] = value
        elif what == "pop":
            assert overlay.pop(key, 99) == plain.pop(key, 99)
        elif what == "fork":
            pairs.append((overlay.fork(), dict(plain)))
        else:
            pairs.insert(0, pairs.pop())
        for one, other in pairs:
            assert dict(one.items()) == other
            assert len(one) == len(other) == len(set(one)) == len(list(one.values()))
            assert [one.get(key, 7) for key in range(6)] == [other.get(n, 7) for n in range(6)]
            assert [key in one for key in range(6)] == [key in other for key in range(6)]


def test_a_fork_of_what_nobody_changed_copies_nothing() -> None:
    first: Overlay[int, int] = Overlay()
    for number in range(1000):
        first[number] = number
    one, other = first.fork(), first.fork()
    assert one._base is other._base is first._base
    assert not one._own
