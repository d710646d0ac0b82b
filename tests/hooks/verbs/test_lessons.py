from __future__ import annotations

import pytest

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
    assert said[1] == "  b2b2b2b2  2026-11-29  decision   newer  (you)"
    assert said[2] == "  a1a1a1a1  2026-11-01  lesson     older  (agent, high)"
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
    assert "the port is 443  (you, not delivered yet)" in said


def test_what_waits_for_a_brain_that_was_never_made_is_listed(ctx):
    keep("the port is 443", ctx._replace(settings=ctx.settings._replace(brain_source="none")))
    assert "the port is 443  (you, not delivered yet)" in run("", ctx)


def test_one_memory_matches_and_two_match(home, ctx):
    remember(home, "a1", "migrations come first")
    assert run("migrations", ctx).startswith("1 memory of web matches ")
    remember(home, "b2", "the migrations are slow")
    assert run("migrations", ctx).startswith("2 memories of web match ")


@pytest.mark.parametrize("source", ["local", "none"])
def test_what_still_waits_in_the_outbox_is_searched_listed_and_shown_whole(home, ctx, source):
    remember(home, "a1", "the port of the shop")
    nobrain = ctx._replace(settings=ctx.settings._replace(brain_source="none"))
    key = keep("The PORT is 443", nobrain).split()[1].rstrip(":")
    asked = ctx._replace(settings=ctx.settings._replace(brain_source=source))

    assert f"{key}  2026-11-30  lesson     The PORT is 443" in run("443 port", asked)
    assert "The PORT is 443  (you, not delivered yet)" in run("", asked)
    assert "state    not delivered to the brain yet" in run(key, asked)
    assert "Nothing" in run("zebra", asked)


def test_what_says_almost_the_same_is_one_line(home, ctx):
    remember(home, "a1", "Run the tests before a commit!", ts="2026-11-01T10:00:00Z")
    remember(home, "b2", "run the tests before a commit")
    remember(home, "c3", "another")
    said = run("", ctx)
    assert "run the tests before a commit  (agent, noted 2 times)" in said
    assert "Run the tests" not in said


def test_personal_memories_and_notes_of_a_session_say_what_they_are(home, ctx):
    remember(home, "a1", "the project's")
    remember(home, "b2", "short answers", scope="user")
    remember(home, "c3", "mine", scope="session", session_id="session-1")
    remember(home, "d4", "of another one", scope="session", session_id="session-0")

    said = run("", ctx)

    assert said.startswith("3 memories for web:")
    assert "short answers  (agent, personal)" in said
    assert "mine  (agent, only session session-)" in said
    assert "of another one" not in said
    assert "1 note of other sessions" in said
    assert "of another one" in run("another", ctx)
    assert "for      personal" in run("b2b2b2b2", ctx)


def test_what_was_kept_for_no_project_is_listed_apart(home, ctx):
    remember(home, "a1", "here")
    remember(home, "b2", "nowhere", project_id="")
    remember(home, "c3", "for all", share="fleet", project_id="")
    nobrain = ctx._replace(
        settings=ctx.settings._replace(brain_source="none"), cwd="/", session_id=""
    )
    keep("waits for no project", nobrain)

    said = run("--no-project", ctx)

    assert said.startswith("2 memories for no project:")
    assert "nowhere" in said
    assert "waits for no project" in said
    assert "waits for no project" in run("--no-project", nobrain)
    assert "nowhere" not in run("", ctx)


def test_a_word_for_how_grave_it_is_that_nobody_knows_is_not_told_as_one(home, ctx):
    remember(home, "a1", "known", severity="High")
    remember(home, "b2", "unknown", severity="apocalyptic")
    said = run("", ctx)
    assert "known  (agent, high)" in said
    assert "unknown  (agent)" in said
    assert "type     lesson (apocalyptic)" in run("b2b2b2b2", ctx)


def test_only_what_can_cross_projects_is_said_to_be_accepted(home, ctx):
    remember(home, "a1", "a person's lesson", **{"class": "person"})
    remember(home, "b2", "a person's signal", "signal", **{"class": "person"})
    remember(home, "c3", "an agent's signal", "signal")
    assert "state" not in run("a1a1a1a1", ctx)
    assert "state    accepted for every project" in run("b2b2b2b2", ctx)
    assert "state    crosses projects once you accept it" in run("c3c3c3c3", ctx)
