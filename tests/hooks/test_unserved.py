"""Sessions whose settings cannot be used: they are told, and caught up after the mend."""

from __future__ import annotations

import pytest

from tests.support.memories import WEB

MARKER = "<!-- @lesson -->Warm the cache first<!-- @/lesson -->"


def whole(session):
    started = session.start()
    session.prompt("Go on.")
    session.says(MARKER)
    ends = [session.stop(), session.end()]
    session.settle()
    return started, ends


def later(session):
    """Let a session start and end on mended settings; return what the next one is told."""
    mended = session()
    mended.start()
    mended.settle()
    return session().start().context


def settings_file(home, text):
    home.mkdir(parents=True, exist_ok=True)
    (home / "settings.json").write_text(text, encoding="utf-8")


def test_a_session_on_a_broken_settings_file_is_caught_up_after_the_mend(session, home):
    settings_file(home, "{bad")
    started, ends = whole(session())
    path = home / "settings.json"
    assert started.rc == 0
    assert started.message == (
        f"brainhooks: settings.json is '{path}'; it must be one flat JSON object, so memory rests;"
        f" what is marked meanwhile is kept once that is mended. To do: mend {path} or move it"
        " away; every setting can come from the environment instead"
    )
    assert [(run.rc, run.stdout) for run in ends] == [(0, b""), (0, b"")]
    path.unlink()
    assert "Warm the cache first" in later(session)


@pytest.mark.parametrize(
    ("name", "value"), [("BRAIN_SOURCE_TYPE", "flie"), ("BRAIN_CONTEXT_BUDGET", "lots")]
)
def test_a_session_on_a_mistyped_setting_is_caught_up_after_the_mend(session, name, value):
    started, _ = whole(session(env={name: value}))
    assert f"{name} is {value!r}" in started.message
    assert "Warm the cache first" in later(session)


def test_a_session_that_lost_its_settings_on_the_way_keeps_its_place(session, home):
    one = session()
    one.start()
    one.settle()
    index = home / "brain" / "project-sessions.jsonl"
    before = index.read_bytes()
    settings_file(home, "{bad")
    one.says(MARKER)
    one.stop()
    assert index.read_bytes() == before
    (home / "settings.json").unlink()
    assert "Warm the cache first" in later(session)


def test_what_is_personal_in_it_is_of_the_person_of_the_mended_settings(session, home):
    settings_file(home, "{bad")
    one = session()
    one.start()
    one.says("<!-- @lesson scope=user -->I like tabs<!-- @/lesson -->")
    one.end()
    settings_file(home, '{"BRAINHOOKS_PRINCIPAL": "ann"}')
    mended = session()
    mended.start()
    mended.settle()
    assert "I like tabs" in session().start().context


def test_a_home_that_cannot_be_named_is_said_too(session):
    started = session(env={"AGENTIHOOKS_HOME": "here"}).start()
    assert started.message.startswith("brainhooks: AGENTIHOOKS_HOME is 'here'; it must be")
    assert "kept" not in started.message


def test_a_brain_that_can_be_none_is_said_at_the_start(session):
    env = {"BRAIN_SOURCE_TYPE": "file", "BRAIN_SOURCE_PATH": "notes"}
    started = session(env=env).start()
    assert started.message.startswith("brainhooks: BRAIN_SOURCE_PATH is 'notes'")
    assert "in the environment, set BRAIN_SOURCE_PATH to the whole path" in started.message
    assert WEB not in started.message
