"""Memories that were put under a name, in the verbs: shown, explained, and how they are changed."""

from __future__ import annotations

import pytest

from hooks.context import injections, own_context
from hooks.context.brain_adapter import principal
from hooks.context.compose import Source
from hooks.context.memory_view import Where, view
from hooks.errors import HookError
from hooks.settings import Settings
from hooks.verbs import accept, edit, explain, forget, lessons, memory, move
from scripts.swarm_v2.memory.library import open_store
from scripts.swarm_v2.memory.memories import writes_for
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from tests.support.memories import WEB, remember


def put(home, name: str, text: str, scope="space", session="session-1", space=WEB, **said) -> None:
    who = Identity(principal(Settings(home=str(home))), session)
    value = {"type": "lesson", "cls": "person", "at": "2026-11-30T10:00:00Z", "text": text, **said}
    store = open_store(str(home))
    key = resolve_scope_key(scope, who)
    store.commit(space, Commit("system", writes_for(name, value, key, scope)))
    store.close()


def test_ones_own_stands_instead_of_the_projects_and_both_are_shown_by_the_name(home, ctx):
    remember(home, "a1", "a marker's")
    put(home, "db", "migrate first")
    assert "  db        2026-11-30  lesson     migrate first" in lessons.run("", ctx)
    put(home, "db", "mine is on port 5433", "user")
    put(home, "db", "migrate twice")  # later, and still the broader one
    put(home, "late", "said first", "user")
    put(home, "late", "said by the project after it")
    listed = lessons.run("", ctx)
    assert listed.startswith("3 memories for web:")
    assert "said first" in listed
    assert "said by the project" not in listed
    assert "mine is on port 5433  (you, personal)" in listed
    assert "migrate" not in listed
    assert "brainhooks memory forget memory/NAME" in listed
    mine, ours = lessons.run("db", ctx).split("\n\nid ")
    assert "mine is on port 5433" in mine
    assert "change   brainhooks memory forget memory/db --scope user (or edit)" in mine
    assert "migrate twice" in ours
    assert "change   brainhooks memory forget memory/db (or edit)\n" in ours
    told = own_context.context_for(ctx.settings, WEB, "session-1")["text"]
    assert "[db, lesson, said by the person, 2026-11-30] mine is on port 5433" in told
    assert "migrate" not in told


def test_what_the_caches_have_of_a_name_is_the_narrowest_too(home, ctx):
    put(home, "db", "mine", "user")
    put(home, "db", "the project's")
    put(home, "port", "the project's port")
    put(home, "port", "this session's port", "session")
    seen = view(ctx.settings, ctx.env, Where(WEB, "session-1", ctx.at))
    told = {item.id: item.text for item in seen.items}
    assert told == {"db": "mine", "port": "this session's port"}
    assert len(seen.items) == len(told)


@pytest.mark.parametrize("name", ["db", "cafe", "Release-plan", "notes-of-mine"])
@pytest.mark.parametrize("verb", [forget, edit, accept, move])
def test_a_verb_that_changes_a_key_says_how_a_name_is_changed(home, ctx, name, verb):
    put(home, name, "kept", "user")
    put(home, name, "of another project", space="git.example.org/shop/other")
    words = f"{name} new" if verb is edit else name
    with pytest.raises(HookError) as refused:
        verb.run(words, ctx)
    assert refused.value.hint == (
        f"in a shell: brainhooks memory forget memory/{name} --scope user (or edit)"
    )
    assert "kept" in lessons.run("", ctx)


def test_what_is_told_and_is_no_memory_is_named_too(home, ctx):
    put(home, "db", "kept")
    for name in ("preferences", "notes", "notes/goals"):
        with pytest.raises(HookError) as refused:
            forget.run(name, ctx)
        document = name.partition("/")[0]
        assert refused.value.hint == f"in a shell: brainhooks memory forget {document} (or edit)"
    assert "forget preferences (or edit)" in lessons.run("preferences", ctx)


def test_a_name_waits_for_nobody_to_accept_it(home, ctx):
    remember(home, "a1", "short answers", scope="user")
    put(home, "db", "mine", "user")
    assert accept.run("", ctx).startswith("1 memory would be seen")
    assert "accept" not in lessons.run("db", ctx)


def test_no_name_and_no_type_makes_a_line_of_its_own(home, ctx):
    put(home, "a\nb  2026", "kept", type="lesson\n  forged  2026-11-30  lesson     row")
    listed = lessons.run("", ctx).splitlines()
    assert [line for line in listed if line.startswith("  ")] == [
        "  a b 202   2026-11-30  lesson forged 2026-11-30 lesson row  kept  (you)"
    ]


def test_a_sessions_own_is_that_sessions_however_it_was_put(home, ctx):
    put(home, "now", "of here", "session")
    put(home, "then", "of another one", "session", session="session-0")
    listed = lessons.run("", ctx)
    assert "of here  (you, only session session-)" in listed
    assert "of another one" not in listed
    assert "1 note of other sessions, for those alone" in listed
    assert lessons.run("", ctx._replace(session_id="")).startswith("0 memories for web")


def test_what_was_told_by_a_name_is_explained(home, ctx):
    put(home, "db", "migrate first")
    put(home, "db", "mine", "user")
    put(home, "now", "of here", "session")
    sources = [Source((name,), f"- [{name}] …") for name in ("db", "now", "preferences", "gone")]
    sources.append(Source(("notes/goals",), "- [notes/goals] …"))
    injections.note(
        ctx.settings.home, "session-1", "SessionStart", "…", sources, at="2026-11-30T12:00:00Z"
    )
    said = explain.run("session-1", ctx._replace(session_id=""))
    assert "db: lesson by you, 2026-11-30, personal, put by name" in said
    assert "now: lesson by you, 2026-11-30, only session session-" in said
    assert "preferences: your preferences in this project" in said
    assert "notes/goals: that session's own notes" in said
    assert said.count("no longer remembered") == 1


@pytest.mark.parametrize("word", memory.SHELL)
def test_a_command_of_the_shell_is_named_as_one(ctx, word):
    with pytest.raises(HookError) as refused:
        memory.run(f"{word} memory/x", ctx)
    assert str(refused.value) == f"memory {word} is a command of the shell"
    assert f"brainhooks memory {word}" in refused.value.hint


def test_a_start_counts_memories_and_nothing_else_that_it_tells(home, session):
    put(home, "db", "migrate first")
    store = open_store(str(home))
    key = resolve_scope_key("user", Identity(principal(Settings(home=str(home)))))
    style = Write("preferences", key, "set", {"style": "dry"})
    store.commit(WEB, Commit("system", (style,)))
    store.close()
    start = session().start()
    assert "[preferences, style, said by the person] dry" in start.context
    assert start.message.endswith("local brain, 1 memory")
