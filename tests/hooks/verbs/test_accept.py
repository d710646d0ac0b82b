from __future__ import annotations

import pytest

from hooks.context.brain_adapter import namespace
from hooks.context.project_cache import load
from hooks.errors import HookError, NotOneMemory
from hooks.verbs.accept import run
from tests.support.memories import remember


def feed(ctx) -> list[str]:
    found = load(ctx.settings.home, namespace(ctx.settings), "feed", at=ctx.at) or {"items": []}
    return [item["id"] for item in found["items"]]


def test_without_an_id_it_lists_what_asks_to_cross_projects(home, ctx):
    remember(home, "a1", "the API is down", "signal")
    remember(home, "b2", "I like short answers", scope="user")
    remember(home, "c3", "stays here")

    said = run("", ctx)

    assert said.startswith("2 memories would be seen")
    assert "a1a1a1a1" in said
    assert "b2b2b2b2" in said
    assert "c3c3c3c3" not in said


def test_an_accepted_signal_is_in_the_feed_at_once(home, ctx):
    key = remember(home, "a1", "the API is down", "signal")
    assert feed(ctx) == []

    assert run("a1a1", ctx) == "Accepted a1a1a1a1, every project sees it now: the API is down"

    assert feed(ctx) == [key]
    assert "was accepted before" in run("a1a1", ctx)
    assert run("", ctx).startswith("Nothing waits")


def test_a_projects_own_lesson_does_not_cross(home, ctx):
    remember(home, "c3", "stays here")
    remember(home, "d4", "a person said so, here", **{"class": "person"})
    for key in ("c3c3c3c3", "d4d4d4d4"):
        assert "stays in its project" in run(key, ctx)
    assert feed(ctx) == []


@pytest.mark.parametrize("wanted", ["dead", "x", "'; DROP TABLE", "a1"])
def test_an_id_must_name_one_memory(home, ctx, wanted):
    remember(home, "a1", "one", "signal")
    with pytest.raises(NotOneMemory):
        run(wanted.split()[0], ctx)


def test_two_memories_of_one_beginning_are_told(home, ctx):
    remember(home, "a1b2", "one", "signal")
    remember(home, "a1b2c", "two", "signal")
    with pytest.raises(NotOneMemory, match="2 memories have"):
        run("a1b2", ctx)


def test_in_an_empty_home_nothing_waits_and_no_id_is_known(ctx):
    assert run("", ctx) == "Nothing is remembered here yet."
    with pytest.raises(HookError, match="nothing is remembered"):
        run("a1a1a1a1", ctx)
