from __future__ import annotations

import subprocess

import pytest

from hooks.clock import iso
from hooks.context import flush, injections, outbox
from hooks.context.brains import open_brain
from hooks.context.compose import Source
from hooks.context.ledger import Ledger
from hooks.context.memory_view import Where, view
from hooks.errors import BrainConflict, HookError, NotOneMemory
from hooks.verbs import VerbUsageError
from hooks.verbs.edit import run as edit
from hooks.verbs.explain import run as explain
from hooks.verbs.forget import run as forget
from hooks.verbs.lessons import run as lessons
from hooks.verbs.memory import run as memory
from hooks.verbs.remember import run as remember
from tests.support.memories import WEB
from tests.support.memories import remember as post


def id_of(answer: str) -> str:
    return answer.split()[1].rstrip(":")


def shown(ctx) -> list[str]:
    """The texts that a session starting in the project would see."""
    seen = view(ctx.settings, ctx.env, Where(WEB, "session-2", ctx.at))
    return [item.text for item in seen.items]


def states(ctx) -> dict[str, str]:
    ledger = Ledger.read_only(ctx.settings.home)
    assert ledger is not None
    try:
        return {receipt.key: receipt.state for receipt in ledger.receipts()}
    finally:
        ledger.close()


def test_a_remembered_sentence_is_verbatim_the_persons_and_shown_at_once(ctx):
    text = "Ask  before `rm -rf`;\n\"quotes\" 'stay' <b>so</b> $(do this)"

    said = remember(text, ctx)

    assert said.startswith("Remembered ")
    assert shown(ctx) == [text]
    item = view(ctx.settings, ctx.env, Where(WEB, "s", ctx.at)).items[0]
    assert (item.cls, item.project, item.session) == ("person", WEB, "session-1")
    assert list(states(ctx).values()) == ["committed"]
    assert outbox.is_empty(ctx.settings.home)


def test_a_secret_is_taken_out_and_that_is_said(home, ctx):
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"

    said = remember(f"the forge wants {secret} here", ctx)

    assert "Taken out before it was stored" in said
    assert secret not in said
    found = subprocess.run(["grep", "-r", secret, str(home)], capture_output=True, check=False)
    assert found.returncode == 1, found.stdout


def test_remembering_nothing_is_usage(ctx, home):
    with pytest.raises(VerbUsageError):
        remember("", ctx)
    assert not home.exists()


def test_the_same_sentence_twice_is_one_memory(ctx):
    first, again = remember("say it twice", ctx), remember("say it twice", ctx)
    assert id_of(first) == id_of(again)
    assert shown(ctx) == ["say it twice"]


def test_without_a_project_it_is_kept_and_told_that_nobody_hears_of_it(ctx, tmp_path):
    said = remember("nowhere", ctx._replace(cwd=str(tmp_path)))
    assert "belongs to no project" in said
    assert list(states(ctx).values()) == ["committed"]


def test_without_a_brain_it_waits(ctx):
    nobrain = ctx._replace(settings=ctx.settings._replace(brain_source="none"))
    said = remember("wait for it", nobrain)
    assert said.startswith("Remembered ")
    assert said.endswith("It waits in the outbox: no brain is configured.")
    assert len(outbox.names(ctx.settings.home)) == 1


def test_while_memory_is_off_the_persons_own_word_is_kept_and_that_is_said(ctx):
    memory("off", ctx)
    said = remember("keep this", ctx)
    assert "Memory is off for everything" in said
    assert lessons("", ctx).count("keep this") == 1


def test_a_forgotten_memory_is_gone_from_every_cache_and_never_comes_back(home, ctx):
    key = post(home, "a1", "the old way of zanzibar")
    assert shown(ctx) == ["the old way of zanzibar"]

    said = forget("a1a1a1a1", ctx)

    assert said.startswith("Forgot a1a1a1a1: the old way of zanzibar")
    assert shown(ctx) == []
    assert post(home, "a1", "the old way of zanzibar") == key
    assert shown(ctx) == []
    found = subprocess.run(["grep", "-rl", "zanzibar", str(home)], capture_output=True, check=False)
    assert found.returncode == 1, found.stdout


def test_a_second_forget_says_so(home, ctx):
    post(home, "a1", "the old way")
    forget("a1a1a1a1", ctx)
    assert forget("a1a1a1a1", ctx) == "a1a1a1a1 is already forgotten."
    nobrain = ctx._replace(settings=ctx.settings._replace(brain_source="none"))
    with pytest.raises(HookError):
        forget("dead", nobrain)


def test_forget_in_another_project_names_the_memorys_own(home, ctx, tmp_path):
    for key in ("a1", "b2"):
        post(home, key, "of the web shop")
    post(home, "c3", "of nothing", project_id="")
    elsewhere = ctx._replace(cwd=str(tmp_path))
    assert forget("a1a1a1a1", ctx).startswith("Forgot a1a1a1a1: of the web")
    assert forget("b2b2b2b2", elsewhere).startswith(f"Forgot b2b2b2b2, of {WEB}: of the web")
    assert forget("c3c3c3c3", ctx).startswith("Forgot c3c3c3c3, of no project: ")


def test_what_still_waits_for_a_brain_can_be_forgotten(ctx):
    nobrain = ctx._replace(settings=ctx.settings._replace(brain_source="none"))
    key = id_of(remember("wait for it", nobrain))

    forget(key, nobrain)

    assert outbox.is_empty(ctx.settings.home)
    assert list(states(ctx).values()) == ["forgotten"]
    flush.drain(ctx.settings, ctx.env, ctx.at)
    assert shown(ctx) == []


def test_a_forgotten_sentence_can_be_said_again(ctx):
    first = id_of(remember("change of mind", ctx))
    forget(first, ctx)
    second = id_of(remember("change of mind", ctx))
    assert first != second
    assert shown(ctx) == ["change of mind"]


@pytest.mark.parametrize("words", ["", "a1a1 b2b2"])
def test_forget_takes_one_id(ctx, words):
    with pytest.raises(VerbUsageError):
        forget(words, ctx)


@pytest.mark.parametrize("wanted", ["dead", "../..", "a1", "%"])
def test_forgetting_what_is_not_there_changes_nothing(home, ctx, wanted):
    post(home, "a1", "stays")
    with pytest.raises(NotOneMemory):
        forget(wanted, ctx)
    assert shown(ctx) == ["stays"]


def test_forget_takes_the_words_out_of_what_sessions_were_told(home, ctx):
    key = post(home, "a1", "the old way of zanzibar")
    other = post(home, "b2", "another")
    sources = [Source((key,), "- the old way of zanzibar"), Source((other,), "- another")]
    injections.note(str(home), "session-1", "SessionStart", "…zanzibar…", sources, at=iso(ctx.at))

    forget("a1a1a1a1", ctx)

    said = explain("", ctx)
    assert "zanzibar" not in said
    assert "(forgotten)" in said
    assert "- another" in said


def test_an_edit_replaces_the_text_and_keeps_the_old_one_as_history(home, ctx):
    key = post(home, "a1", "the port is 80", "decision")
    assert shown(ctx) == ["the port is 80"]

    said = edit("a1a1a1a1 the port is 443", ctx)

    assert said.startswith("a1a1a1a1 is ")
    assert said.endswith("Before: the port is 80")
    [item] = view(ctx.settings, ctx.env, Where(WEB, "s", ctx.at)).items
    assert (item.text, item.type, item.cls) == ("the port is 443", "decision", "person")
    brain = open_brain(ctx.settings, ctx.env)
    try:
        assert [old.id for old in brain.history(item.id)] == [key]
    finally:
        brain.close()


def test_the_second_of_two_edits_is_refused_and_shown_the_first(home, ctx):
    post(home, "a1", "the port is 80")
    edit("a1a1a1a1 the port is 443", ctx)

    with pytest.raises(BrainConflict) as caught:
        edit("a1a1a1a1 the port is 8080", ctx)

    assert "the port is 443" in str(caught.value)
    assert shown(ctx) == ["the port is 443"]
    assert outbox.is_empty(ctx.settings.home)


def test_an_edited_memory_is_forgotten_with_its_history(home, ctx):
    post(home, "a1", "the port of zanzibar is 80")
    new = edit("a1a1a1a1 the port of zanzibar is 443", ctx).split()[2]

    forget(new, ctx)

    assert shown(ctx) == []
    found = subprocess.run(["grep", "-rl", "zanzibar", str(home)], capture_output=True, check=False)
    assert found.returncode == 1, found.stdout


@pytest.mark.parametrize("words", ["", "a1a1a1a1", "a1a1a1a1   "])
def test_edit_takes_an_id_and_a_text(ctx, words):
    with pytest.raises(VerbUsageError):
        edit(words.strip(), ctx)


def test_editing_what_is_not_there_is_an_error_with_a_hint(home, ctx):
    post(home, "a1", "stays")
    with pytest.raises(HookError) as caught:
        edit("dead a new text", ctx)
    assert caught.value.hint


def test_what_is_forgotten_under_another_brain_is_gone_from_this_one_at_once(home, ctx):
    key = id_of(remember("hushhush the plan", ctx))
    none = ctx._replace(settings=ctx.settings._replace(brain_source="none"))
    assert forget(key, none).startswith(f"Forgot {key}")
    holds = [p for p in home.rglob("*") if p.is_file() and b"hushhush" in p.read_bytes()]
    assert holds == []
    assert "hushhush" not in lessons("", ctx)
    assert forget(key, ctx) == f"{key} is already forgotten."


def test_a_verb_erases_from_a_folder_what_was_forgotten_while_it_was_not_the_brain(ctx, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    path = str(folder)
    file = ctx._replace(settings=ctx.settings._replace(brain_source="file", brain_path=path))
    key = id_of(remember("hushhush the plan", file))
    forget(key, ctx._replace(settings=ctx.settings._replace(brain_source="none")))
    assert "hushhush" not in lessons("", file)
    assert [p.name for p in folder.iterdir() if b"hushhush" in p.read_bytes()] == []


def test_an_edit_names_the_other_brain_that_has_the_memory(ctx, tmp_path):
    key = id_of(remember("Warm the cache", ctx))
    settings = ctx.settings._replace(brain_source="file", brain_path=str(tmp_path))
    with pytest.raises(HookError, match=f"{key} is in another brain"):
        edit(f"{key} Cool it", ctx._replace(settings=settings))


def test_a_page_that_is_set_aside_is_named_to_who_wants_to_change_it(ctx, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    path = str(folder)
    file = ctx._replace(settings=ctx.settings._replace(brain_source="file", brain_path=path))
    key = id_of(remember("Warm the cache", file))
    (page,) = folder.glob("*.md")
    page.write_text("<<<<<<< ours\n" + page.read_text() + "=======\n>>>>>>> theirs\n")
    (tmp_path / "person" / "agentihooks" / "ledger.db").unlink()  # as another home sees the page
    for verb, args in ((edit, f"{key} Cool it"), (forget, key)):
        with pytest.raises(HookError, match="is set aside") as caught:
            verb(args, file)
        assert str(page) in str(caught.value)
        assert caught.value.hint == "mend that page, then say it again"


def test_an_edit_that_lost_leaves_no_refused_receipt(ctx):
    key = id_of(remember("port 80", ctx))
    edit(f"{key} port 8080", ctx)
    with pytest.raises(BrainConflict):
        edit(f"{key} port 9090", ctx)
    assert sorted(states(ctx).values()) == ["committed", "committed", "dropped"]
    assert outbox.is_empty(ctx.settings.home)
