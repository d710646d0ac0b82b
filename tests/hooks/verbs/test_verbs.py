from __future__ import annotations

import pytest

from hooks.errors import HookError
from hooks.reply import MAX_UNITS, units
from hooks.settings import Settings
from hooks.verbs import VERBS, UnknownVerbError, VerbCtx, answer, parse, run_verb
from hooks.verbs.memory import Wish, duration
from hooks.verbs.memory import parse as parse_memory
from tests.support.memories import remember
from tests.support.run_hook import ROOT

LINES = {
    "no arguments": ("/brainhooks:lessons", ("lessons", "")),
    "one word": ("/brainhooks:forget 3f2a9c11", ("forget", "3f2a9c11")),
    "blanks around": ("  /brainhooks:forget   3f2a9c11  \n", ("forget", "3f2a9c11")),
    "a newline behind the verb": ("/brainhooks:remember\ntext", ("remember", "text")),
    "inner blanks stay": ("/brainhooks:remember a  b\n c", ("remember", "a  b\n c")),
    "quotes and shell are text": (
        "/brainhooks:remember \"a\" 'b' $(c) `d` ; rm -rf ~",
        ("remember", "\"a\" 'b' $(c) `d` ; rm -rf ~"),
    ),
    "no verb": ("/brainhooks:", ("", "")),
    "a blank for a verb": ("/brainhooks: forget", ("", "")),
    "another plugin's": ("/other:forget 1", None),
    "the bare name is the person's own command": ("/forget 1", None),
    "in the middle of a prompt": ("see /brainhooks:forget", None),
    "an empty prompt": ("", None),
}


@pytest.mark.parametrize(("line", "parsed"), LINES.values(), ids=LINES.keys())
def test_a_line_is_a_verb_and_literal_text(line, parsed):
    assert parse(line) == parsed


def context(home, noon) -> VerbCtx:
    return VerbCtx(Settings(home=str(home)), {}, noon, cwd=str(home.parent))


def test_an_unknown_verb_is_answered_with_the_ones_there_are(home, noon):
    with pytest.raises(UnknownVerbError):
        run_verb("/brainhooks:frobnicate", context(home, noon))
    said = answer("/brainhooks:frobnicate", context(home, noon))
    assert "'frobnicate'" in said
    assert "hint: there are brain_status, lessons" in said


def test_a_verb_cannot_name_a_module_that_is_no_verb(home, noon):
    with pytest.raises(UnknownVerbError):
        run_verb("/brainhooks:wording", context(home, noon))


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_module_and_a_menu_entry(verb):
    module = __import__(f"hooks.verbs.{verb}", fromlist=["run"])
    assert callable(module.run)
    menu = (ROOT / "commands" / f"{verb}.md").read_text(encoding="utf-8")
    assert menu.startswith("---\ndescription: ")
    assert f" verb {verb}" in menu


def test_every_menu_entry_is_a_verb():
    """The client makes a command of every .md in the folder, a README too."""
    assert {path.stem for path in (ROOT / "commands").iterdir()} == set(VERBS)


def test_no_menu_entry_hands_what_was_typed_to_a_shell():
    for path in (ROOT / "commands").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "$ARGUMENTS" not in text, path.name
        assert "!`" not in text, path.name
        assert "$0" not in text, path.name
        assert "$1" not in text, path.name


def test_an_answer_is_never_longer_than_the_client_shows(home, noon):
    long = "/brainhooks:" + "x" * (MAX_UNITS + 1)
    assert units(answer(long, context(home, noon))) <= MAX_UNITS


WISHES = {
    "": Wish(""),
    "on": Wish("on"),
    "off": Wish("off"),
    "off --session": Wish("off", "session"),
    "--project on": Wish("on", "project"),
    "off --for 2h": Wish("off", "", duration("2h")),
    "off --for=90m --session": Wish("off", "session", duration("90m")),
}


@pytest.mark.parametrize(("words", "wish"), WISHES.items(), ids=WISHES.keys())
def test_what_can_be_wished_of_the_switch(words, wish):
    assert parse_memory(words) == wish


@pytest.mark.parametrize(
    "words",
    [
        "maybe", "on off", "off --for", "off --for 2", "off --for 2w", "off --for -1h",
        "off --for 0h", "off --for 400d", "off --for ٣h", "off --for 99999999999d",
        "on --for 2h", "--session", "off --session --project", "off extra",
    ],
)  # fmt: skip
def test_other_words_are_refused_with_the_usage(words):
    with pytest.raises(HookError) as caught:
        parse_memory(words)
    assert "/brainhooks:memory on|off" in caught.value.hint


DOING = ["remember a sentence", "forget a1a1a1a1", "edit a1a1a1a1 text", "accept a1a1a1a1"]


@pytest.mark.parametrize("words", [*DOING, "lessons"])
def test_a_broken_installation_record_is_answered_with_a_sentence(home, ctx, words):
    remember(home, "a1", "something", "signal")
    (home / "installation.json").write_bytes(b"")

    said = answer(f"/brainhooks:{words}", ctx)

    assert "installation.json" in said
    assert "hint: " in said
    assert (home / "installation.json").read_bytes() == b""


@pytest.mark.parametrize("words", ["remember a sentence", "memory off", "lessons", "explain"])
def test_a_home_that_is_a_file_is_answered_with_a_sentence(home, ctx, words):
    home.write_bytes(b"")
    said = answer(f"/brainhooks:{words}", ctx)
    assert "Traceback" not in said
    assert said
