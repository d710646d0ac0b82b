from __future__ import annotations

import itertools
import os
import random

import pytest

from hooks.context.display import render
from hooks.context.flushes import Flushes, held, sweep

TEXT = "one\n<!-- @lesson -->\nkeep\nthis\n<!-- @/lesson -->\nif a <\nb\n```\n<x\n```\nend"


def cut(text):
    return text.splitlines(keepends=True)


def no_wait(_seconds):
    """The earlier flush does not come, however long we wait."""


def show(folder, parts, index, **options):
    flushes = Flushes(str(folder), index, parts[index])
    return flushes.show(final=index == len(parts) - 1, sleep=no_wait, **options)


def test_flushes_in_order_show_the_whole_message_rendered(tmp_path):
    parts = cut(TEXT)
    shown = [show(tmp_path, parts, index) for index in range(len(parts))]
    assert "".join(shown) == render(TEXT, final=True)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))), ids=str)
def test_in_any_order_no_word_is_lost(tmp_path, order):
    parts = ["if a <\n", "<!-- @lesson -->x", "<!-- @/lesson --> b <", "then\n"]
    shown = {index: show(tmp_path, parts, index) for index in order}
    screen = "".join(shown[index] for index in range(4))
    for word in ("if a <", "x", " b <", "then"):
        assert word in screen, (order, shown)


@pytest.mark.parametrize("seed", range(150))
def test_dead_and_late_hooks_lose_no_line(tmp_path, seed):
    rng = random.Random(seed)
    lines = [
        f"line {n} {rng.choice(['', '<', '<!', '<!-- @lesson -->', '<!-- @/lesson -->'])}"
        for n in range(6)
    ]
    parts = [line + "\n" for line in lines]
    dead = {index for index in range(6) if rng.random() < 0.25}
    order = [index for index in rng.sample(range(6), 6) if index not in dead]
    shown = {index: show(tmp_path, parts, index) for index in order}
    screen = "".join(shown.get(index, parts[index]) for index in range(6))
    for number in range(6):
        assert f"line {number}" in screen, (parts, dead, order, screen)


def test_what_is_held_is_what_the_end_would_add():
    assert held("if a <") == "<"
    assert held("plain\n") == ""


def test_messages_that_are_over_leave_no_words_behind(tmp_path):
    for name, age in (("old", 61), ("new", 5), ("mine", 500)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "0").write_text("words")
        os.utime(tmp_path / name, (1_000 - age, 1_000 - age))
    sweep(str(tmp_path), "mine", 1_000.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "new"]
