"""A long text in parts: inside the limit, under keys of its own, and the same text again."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.parts import join, part_key, read_name, split

KEY = "ab" * 16
# What is cut badly most easily: white space of many kinds, between letters of several sizes.
TEXTS = st.text(alphabet=" \n\t\u00a0\u2003aé設😀", max_size=200).map(str.strip).filter(bool)


@settings(deadline=None, max_examples=100)
@given(text=TEXTS, limit=st.integers(1, 40))
def test_parts_stay_inside_the_limit_whole_after_a_strip_and_make_the_same_text(text, limit):
    found = split(text, KEY, limit)
    for part in found:
        assert 1 <= len(part.text) <= limit
        assert part.text == part.text.strip()
    if len(found) == 1:
        assert (found[0].name, found[0].key, found[0].text) == ("", KEY, text)
        return
    assert [part.name for part in found] == [f"{n}/{len(found)}" for n in range(1, len(found) + 1)]
    assert join([(part.name, part.gap, part.text) for part in reversed(found)]) == text


@settings(deadline=None, max_examples=100)
@given(words=st.lists(st.text("abc", min_size=2, max_size=6), min_size=5, max_size=60))
def test_no_cut_is_beside_white_space_where_there_is_another_place(words):
    text = " ".join(words)
    for part in split(text, KEY, 12):
        assert part.gap == ""
    assert "".join(part.text for part in split(text, KEY, 12)) == text


@pytest.mark.parametrize(("length", "count"), [(4_096, 1), (4_097, 2), (8_192, 2), (8_193, 3)])
def test_the_limit_counts_characters_not_bytes(length, count):
    assert len(split("設" * length, KEY, 4_096)) == count


def test_no_limit_leaves_any_text_whole():
    assert len(split("x" * 100_000, KEY, 0)) == 1


def test_a_parts_key_is_the_published_one():
    named = uuid.uuid5(uuid.NAMESPACE_URL, f"k2-part:{KEY}:2/3")
    assert part_key(KEY, "2/3") == named.hex


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["1/2"], id="one is missing"),
        pytest.param(["1/2", "2/2", "2/2"], id="one is double"),
        pytest.param(["1/2", "2/3"], id="of two different texts"),
        pytest.param(["1/1", "x"], id="no name"),
        pytest.param([], id="none"),
    ],
)
def test_what_is_not_whole_is_not_joined(names):
    assert join([(name, "", "text") for name in names]) in (None, "")


@pytest.mark.parametrize("name", ["", "1", "/", "1/", "0/2", "3/2", "-1/2", "1/2/3", "a/b", "²/3"])
def test_what_is_no_name_of_a_part_is_none(name):
    assert read_name(name) is None
