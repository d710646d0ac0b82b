from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.brains import Item
from hooks.context.shelf import MOST_CHARS, MOST_ITEMS, shelve
from scripts.swarm_v2.wire_json import dumps


def item(number, text="x", **fields):
    return Item(id=f"{number:032x}", type="lesson", text=text, **fields)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=3000), max_size=30), st.integers(200, 20_000))
def test_a_shelf_fits_its_document_and_counts_what_it_leaves_out(texts, max_bytes):
    items = [item(number, text) for number, text in enumerate(texts)]
    shelf = shelve(items, max_bytes)
    assert len(dumps(list(shelf.items))) <= max_bytes
    assert len(shelf.items) + shelf.left_out == len(items)


def test_what_a_person_said_is_shelved_first():
    agents = [item(number, "words " * 100) for number in range(100)]
    person = item(999, "mine", cls="person")
    shelf = shelve([*agents, person], 4_000)
    assert shelf.items[0]["text"] == "mine"
    assert shelf.left_out > 0


def test_a_text_longer_than_any_line_is_cut_and_many_memories_are_bounded():
    shelf = shelve([item(number, "é" * 5_000) for number in range(MOST_ITEMS + 7)], 1 << 26)
    assert shelf.left_out == 7
    assert all(len(str(row["text"])) <= MOST_CHARS + 2 for row in shelf.items)
