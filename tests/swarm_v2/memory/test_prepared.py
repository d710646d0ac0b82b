from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.document import decode, encode, merge, same
from scripts.swarm_v2.memory.prepared import after_prefix, cut, merge_into, scrubbed
from scripts.swarm_v2.scope_key import DirtyKey

NAMES = st.sampled_from(["a", "b", '"', "é"])
LINK = st.just({"$link": {"id": "m"}})
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.just(1.0), st.just("a"), LINK),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=12,
)
MASKS = st.recursive(
    st.none(), lambda inner: st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
TEXTS = st.text(st.sampled_from("ab\0é\ud7ff\ue000\U0010ffff"), max_size=4)


@given(VALUES, st.lists(VALUES, max_size=4))
@settings(deadline=None, max_examples=100)
def test_merging_in_place_gives_what_merging_gives(value, patches):
    wanted, found = value, decode(encode(value))
    for one in patches:
        wanted, found = merge(wanted, one), merge_into(found, decode(encode(one)))
    assert same(found, wanted)


def holds(value, mask):
    """Say whether any member that ``mask`` removes is in a value."""
    if not isinstance(value, dict) or not isinstance(mask, dict):
        return False
    return any(
        name in value and (mask[name] is None or holds(value[name], mask[name])) for name in mask
    )


@given(VALUES, MASKS)
@settings(deadline=None, max_examples=100)
def test_scrubbing_takes_what_is_named_and_nothing_else(value, mask):
    text = encode(value)
    left = scrubbed(text, mask)
    assert not holds(decode(left), mask)
    if not holds(value, mask):
        assert left == text
    assert scrubbed(left, mask) == left


@given(TEXTS, TEXTS)
@settings(deadline=None, max_examples=100)
def test_what_begins_with_a_prefix_lies_before_what_follows_it(prefix, text):
    end = after_prefix(prefix)
    within = text >= prefix and (end is None or text < end)
    assert within == text.startswith(prefix)


def test_a_page_ends_behind_the_last_instance_of_an_id():
    keys = [DirtyKey(key, id) for id in "cba" for key in ("user:q", "space")]
    assert [one.id for one in cut(keys, 1)] == ["a", "a"]
    assert [tuple(one) for one in cut(keys, 3)][2:] == [("space", "b"), ("user:q", "b")]
    assert cut(keys, 0) == []
    assert len(cut(keys, 100)) == 6
