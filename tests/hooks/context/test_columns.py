"""Whatever a branch is called, it stays one line, steers no terminal and is as wide as said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.columns import clean, fit, width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("main", "main"),
        ("a\x1b[31mred\x1b[0m", "a[31mred[0m"),
        ("a\x1b]0;title\x07b", "a]0;titleb"),
        ("one\r\ntwo\tthree", "one two three"),
        ("\x9b31mx", "31mx"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("a\u2066b\u200db\ufeffc\u00ad", "abbc"),
        ("a\u2028b\u2029c\x85d", "a b c d"),
        ("bad\udcff", "bad"),
        ("e" + "\u0301" * 50, "e\u0301"),
        ("\u2764\ufe0f", "\u2764"),
        ("  x   y  ", "x y"),
    ],
)
def test_what_would_steer_the_terminal_is_taken_out(text, shown):
    assert clean(text) == shown


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("日本", 4), ("ｗ", 2), ("🙂", 2), ("é", 1), ("e\u0301", 1), ("", 0)],
)
def test_wide_characters_count_two(text, columns):
    assert width(text) == columns


@pytest.mark.parametrize(
    ("text", "columns", "cut"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("ab", 1, "…"),
    ],
)
def test_what_is_too_wide_is_cut_and_shows_it(text, columns, cut):
    assert fit(text, columns) == cut


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(), max_size=60), st.integers(1, 30))
def test_any_text_fits_its_columns_and_holds_nothing_but_printable_characters(text, columns):
    shown = fit(clean(text), columns)
    assert width(shown) <= columns
    assert shown.isprintable()
    assert clean(shown) == shown
