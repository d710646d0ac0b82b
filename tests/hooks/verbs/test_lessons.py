from __future__ import annotations

from hooks.verbs.lessons import MOST, run
from hooks.verbs.remember import run as keep
from tests.support.memories import remember


def test_an_empty_home_has_no_lessons_and_stays_absent(home, ctx):
    assert run("", ctx) == "Nothing is remembered here yet."
    assert not home.exists()


def test_this_projects_memories_are_listed_newest_first_with_id_date_and_speaker(home, ctx):
    remember(home, "a1", "older", ts="2026-11-01T10:00:00Z", severity="high")
    remember(home, "b2", "newer", "decision", **{"class": "person"})
    remember(home, "c3", "elsewhere", project_id="git.example.org/shop/api")

    said = run("", ctx).split("\n")

    assert said[0].startswith("2 memories for ")
    assert said[1] == "  b2b2b2b2  2026-11-29  decision  newer  (you)"
    assert said[2] == "  a1a1a1a1  2026-11-01  lesson    older  (agent, high)"
    assert "elsewhere" not in "".join(said)


def test_a_query_finds_words(home, ctx):
    remember(home, "a1", "run migrations before the seed")
    remember(home, "b2", "the linter is strict")

    said = run("migrations seed", ctx)

    assert "a1a1a1a1" in said
    assert "b2b2b2b2" not in said
    assert "Nothing" in run("zebra", ctx)


def test_an_id_shows_the_whole_memory(home, ctx):
    long = "word " * 200 + "end"
    remember(home, "a1", long, path="src/db.py")

    said = run("A1A1A1A1", ctx)

    assert said.endswith("word end")
    assert "path     src/db.py" in said
    assert "id       " + "a1" * 16 in said


def test_a_word_of_hex_digits_that_is_no_id_is_searched(home, ctx):
    remember(home, "12", "the cafe closes early")
    assert "12121212" in run("cafe", ctx)


def test_a_long_list_says_how_many_are_left(home, ctx):
    for number in range(MOST + 3):
        remember(home, f"{number:032x}", f"note {number}", ts=f"2026-11-29T10:00:{number:02}Z")
    said = run("", ctx)
    assert "3 older" in said
    assert said.count("\n") == MOST + 2


def test_without_a_brain_what_waits_on_disk_is_listed(ctx):
    nobrain = ctx._replace(settings=ctx.settings._replace(brain_source="none"))
    keep("the port is 443", nobrain)

    said = run("", nobrain)

    assert "no brain is configured" in said
    assert "the port is 443  (you)" in said


def test_what_waits_for_a_brain_that_was_never_made_is_listed(ctx):
    keep("the port is 443", ctx._replace(settings=ctx.settings._replace(brain_source="none")))
    assert "the port is 443  (you)" in run("", ctx)
