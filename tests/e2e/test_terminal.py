"""What the person sees in the terminal."""

from __future__ import annotations

from tests.e2e.terminal import Terminal
from tests.e2e.test_plugin import install

LESSON = "the staging database is reset every night"
ANSWER = f"Ready.\n\n<!-- @lesson severity=high -->{LESSON}<!-- @/lesson -->\n\nAnything else?"


def test_the_person_sees_marks_and_lines_and_the_model_gets_the_original(client, api):
    api.says(ANSWER)
    with Terminal(client) as terminal:
        terminal.expect("git.example.org/shop/web")
        terminal.send("please look around")
        terminal.expect(f"◆ lesson: {LESSON}")
        terminal.expect("Anything else?")
        terminal.expect("Stop says:")
        assert not terminal.shows("<!-- @lesson")
        terminal.send("go on")
        terminal.expect("done")
    assert "<!-- @lesson severity=high -->" in api.requests()[-1].text
    assert client.verb("lessons").count(LESSON) == 1


def test_a_verb_is_answered_in_the_terminal_without_the_model(client, api):
    with Terminal(client) as terminal:
        terminal.expect("git.example.org/shop/web")
        terminal.send("/brainhooks:remember tea is at four")
        terminal.expect("Remembered")
        terminal.send("/brainhooks:lessons")
        terminal.expect("tea is at four (you")
    assert api.requests() == []
    assert client.verb("lessons").count("tea is at four") == 1


def test_installed_in_the_settings_the_menu_has_the_verbs_and_the_hook_answers(client, api):
    client.plugin = None
    install(client, "install", "--user")
    with Terminal(client) as terminal:
        terminal.expect("git.example.org/shop/web")
        terminal.send("/brainhooks:remember tea is at four")
        terminal.expect("Remembered")
    assert api.requests() == []
    assert client.verb("lessons").count("tea is at four") == 1


def test_a_new_person_is_asked_once_how_to_mark_a_lesson(client, api):
    with Terminal(client) as terminal:
        terminal.expect("git.example.org/shop/web")
        terminal.send("hello")
        terminal.expect("done")
    assert "<!-- @lesson" in api.requests()[0].text, "the note on how to mark is missing"
    client.run("hello")
    assert "<!-- @lesson" not in api.requests()[-1].text, "nobody reads it in -p"
