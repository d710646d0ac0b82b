from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.display import render, shown
from hooks.context.markers import find
from tests.hooks.context.test_markers import TEXTS
from tests.support.transcript import lesson


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        pytest.param("plain\n", "plain\n", id="no marker"),
        pytest.param(f"a {lesson('b')} c", "a ◆ lesson: b c", id="one line"),
        pytest.param(lesson("\n two\n lines \n") + "\n", "◆ lesson: two\n lines\n", id="lines"),
        pytest.param(f"```\n{lesson('x')}\n```", f"```\n{lesson('x')}\n```", id="fenced"),
        pytest.param(f"`{lesson('x')}`", f"`{lesson('x')}`", id="inline code"),
        pytest.param("a <!-- @lesson -->b", "a <!-- @lesson -->b", id="never closed"),
        pytest.param("<!-- @todo -->x", "<!-- @todo -->x", id="not ours"),
        pytest.param("<!-- @lesson --><!-- @/lesson -->", "<!-- @lesson --><!-- @/lesson -->"),
        pytest.param("<!-- note -->", "<!-- note -->", id="another comment"),
        pytest.param(
            "<!-- @decision why=x -->b<!-- /@decision -->", "◆ decision: b", id="decision"
        ),
    ],
)
def test_what_the_person_sees(written, seen):
    assert render(written, final=True) == seen


def test_an_open_marker_is_held_and_what_stands_before_it_is_not():
    text = "before\nhere <!-- @lesson -->\nbody\n"
    assert render(text, final=False) == "before\nhere "
    assert render(text + "<!-- @/lesson -->\n", final=False) == "before\nhere ◆ lesson: body\n"
    assert render(text, final=True) == text


def test_part_of_an_opener_at_the_end_of_an_unfinished_line_is_held():
    assert render("a <!-", final=False) == "a "
    assert render("a <!- b", final=False) == "a <!- b"
    assert render("`" + lesson("x"), final=False) == "`"
    assert render("a <!-\n", final=False) == "a <!-\n"


def stripped(text):
    """Expected of the whole: each taken marker shown, every other character as written."""
    out, at = "", 0
    for item in find(text):
        if item.marker:
            out, at = out + text[at : item.start] + shown(item.marker), item.end
    return out + text[at:]


def painted(text, cuts):
    """Paint flush by flush as the step does; an answer is what each flush adds."""
    screen, before = "", ""
    for stop in [*cuts, len(text)]:
        final = stop == len(text)
        after = render(text[:stop], final=final)
        assert after.startswith(before), (text, stop)
        screen += after[len(before) :]
        before = after
        if final:
            break
    return screen


@given(TEXTS, st.data())
@settings(deadline=None, max_examples=100)
def test_over_any_cuts_nothing_is_lost_doubled_or_taken_back(text, data):
    cuts = data.draw(st.lists(st.integers(0, max(len(text) - 1, 0)), max_size=6).map(sorted))
    assert painted(text, cuts) == stripped(text)


@given(TEXTS)
@settings(deadline=None, max_examples=100)
def test_over_all_line_ends_and_over_every_character_it_is_the_same(text):
    lines = [at + 1 for at, char in enumerate(text[:-1]) if char == "\n"]
    assert painted(text, lines) == painted(text, range(len(text))) == stripped(text)
