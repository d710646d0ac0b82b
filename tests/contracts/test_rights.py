"""A home that its own person may write to and not read: it goes on, and they are told."""

from __future__ import annotations

import os

import pytest

from tests.support.keeping import lesson
from tests.support.nobody import nobody


@pytest.fixture
def person():
    with nobody() as found:
        yield found


def keeps(person, session, text):
    person.fire("SessionStart", session)
    return person.fire("Stop", session, last_assistant_message=lesson(text))


def log_of(person):
    path = person.home / "logs" / "hooks.log"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_a_home_that_can_be_written_and_not_listed_still_remembers(person):
    assert "kept 1 lesson" in keeps(person, "one", "known before").message
    person.home.chmod(0o300)
    told = person.fire("SessionStart", "two")
    assert "known before" in told.context
    assert "kept 1 lesson" in keeps(person, "three", "said meanwhile").message
    assert "said meanwhile" in person.fire("SessionStart", "four").context


def test_an_outbox_that_cannot_be_read_is_told_once_a_session_and_hides_nothing_else(person):
    keeps(person, "one", "known before")
    (person.home / "brain-outbox").chmod(0o300)
    told = person.fire("SessionStart", "two")
    assert "known before" in told.context
    assert told.message == (
        f"brainhooks: {person.home / 'brain-outbox'} cannot be read, "
        "so what it holds is not told; what to do: /brainhooks:doctor"
    )
    for event in ("UserPromptSubmit", "Stop", "SessionEnd"):
        run = person.fire(event, "two")
        assert (run.rc, run.stdout, run.stderr) == (0, b"", "")
    (person.home / "brain-outbox").chmod(0o700)
    healed = person.fire("SessionStart", "three")
    assert (healed.message, "known before" in healed.context) == ("", True)


def test_where_it_cannot_be_read_what_was_forgotten_nothing_is_told_but_that(person):
    keeps(person, "one", "known before")
    graves = person.home / "brain" / "tombstones.jsonl"
    graves.touch()
    graves.chmod(0o000)
    told = person.fire("SessionStart", "two")
    assert "known before" not in told.context
    assert f"{graves} cannot be read" in told.message
    assert person.fire("UserPromptSubmit", "two").stdout == b""


@pytest.mark.parametrize("folder", ["brain", "brain/project-memory", "locks"])
def test_a_folder_that_can_be_written_and_not_listed_hides_nothing(person, folder):
    keeps(person, "one", "known before")
    (person.home / folder).chmod(0o300)
    assert "kept 1 lesson" in keeps(person, "two", "said meanwhile").message
    (person.home / folder).chmod(0o700)
    told = person.fire("SessionStart", "three").context
    assert "known before" in told
    assert "said meanwhile" in told
    assert "unforeseen" not in log_of(person)


def files_of(folder):
    return {str(path) for path in folder.rglob("*")}


def test_a_project_that_nobody_may_write_to_is_remembered_and_left_as_it_is(person):
    before = files_of(person.project)
    for folder in [*person.project.rglob("*"), person.project]:
        folder.chmod(0o555)
    keeps(person, "one", "known before")
    assert "known before" in person.fire("SessionStart", "two").context
    assert files_of(person.project) == before
    person.project.chmod(0o700)


HOMELESS = {
    "nothing at all": {},
    "no HOME": {"PATH": "/usr/bin:/bin"},
    "empty": {"HOME": ""},
    "root": {"HOME": "/"},
    "absent": {"HOME": "/nonexistent"},
    "not ours": {"HOME": "/proc"},
    "a file": {"HOME": "/etc/passwd"},
    "no place for scratch": {"HOME": "/nonexistent", "TMPDIR": "/nonexistent"},
}


@pytest.mark.skipif(os.geteuid() != 0, reason="whose home is who knows where")
@pytest.mark.parametrize("name", HOMELESS)
def test_without_a_home_of_its_own_a_hook_stops_nobody_and_writes_nowhere(person, name):
    before = files_of(person.folder)
    env = {"PWD": str(person.project), **HOMELESS[name]}
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        run = person.fire(event, "one", env=env, last_assistant_message=lesson("so"))
        assert (run.rc, run.stderr) == (0, "")
    assert files_of(person.folder) == before


def test_a_home_elsewhere_needs_neither_home_nor_scratch_folder(person):
    env = {"AGENTIHOOKS_HOME": str(person.home), "TMPDIR": "/nonexistent"}
    person.fire("SessionStart", "one", env=env)
    run = person.fire("Stop", "one", env=env, last_assistant_message=lesson("kept"))
    assert "kept 1 lesson" in run.message
    assert "kept" in person.fire("SessionStart", "two", env=env).context
