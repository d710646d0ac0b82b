"""The verbs from a bare clone: no pip, no site-packages, from whatever folder."""

from __future__ import annotations

import json

import pytest

from hooks.verbs import VERBS
from tests.support.memories import remember
from tests.support.run_hook import run_verb

QUIET = ["lessons", "memory", "accept", "explain"]


@pytest.mark.parametrize("verb", QUIET)
def test_a_verb_that_only_looks_answers_in_an_empty_home_and_makes_nothing(home, verb):
    done = run_verb(verb, home)
    assert (done.rc, done.stderr) == (0, "")
    assert done.stdout
    assert not home.exists()


def test_the_status_is_green_in_an_empty_home_and_makes_nothing(home):
    done = run_verb("brain_status --json", home)
    assert done.rc == 0, done.stderr
    assert json.loads(done.stdout)["level"] == "green"
    assert not home.exists()


def test_the_status_exits_1_when_something_needs_a_person(home):
    home.mkdir()
    (home / "memory-switch.json").write_text("{}", encoding="utf-8")
    done = run_verb("brain_status", home)
    assert done.rc == 1
    assert done.stdout.startswith(b"brainhooks: 1 thing needs you (red)")


def test_remember_forget_and_edit_work_from_a_folder_with_its_own_hooks_package(home, project):
    (project / "hooks").mkdir()
    (project / "hooks" / "__init__.py").write_text("raise SystemExit('hijacked')")
    (project / "json.py").write_text("raise SystemExit('hijacked')")

    said = run_verb("remember the port is 443", home, cwd=project)
    assert (said.rc, said.stderr) == (0, "")
    key = said.stdout.split()[1].rstrip(b":").decode()
    assert b"the port is 443" in run_verb("lessons", home, cwd=project).stdout

    edited = run_verb(f"edit {key} the port is 8443", home, cwd=project)
    assert (edited.rc, edited.stderr) == (0, "")
    new = edited.stdout.split()[2].decode()

    assert run_verb(f"forget {new}", home, cwd=project).rc == 0
    assert b"Nothing is remembered" in run_verb("lessons", home, cwd=project).stdout


@pytest.mark.parametrize(
    ("line", "rc"),
    [("frobnicate", 2), ("wording", 2), ("memory maybe", 2), ("forget", 2), ("forget dead", 1)],
)
def test_what_went_wrong_is_on_stderr_with_a_hint(home, line, rc):
    remember(home, "a1", "something")
    done = run_verb(line, home)
    assert (done.rc, done.stdout) == (rc, b"")
    assert "\n  hint: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_verb_without_a_name_is_usage(home):
    done = run_verb("", home)
    assert done.rc == 2
    assert all(verb in done.stderr for verb in VERBS)


def test_a_person_without_pip_can_ask_the_doctor_for_receipts_and_who_they_are(home, project):
    run_verb("remember the port is 443", home, cwd=project)
    assert b"the port is 443" in run_verb("receipts", home, cwd=project).stdout
    assert json.loads(run_verb("receipts --json", home, cwd=project).stdout)["receipts"]
    assert b"git.example.org/shop/web" in run_verb("whoami", home, cwd=project).stdout
    done = run_verb("doctor", home, cwd=project)
    assert done.rc == 1
    assert b"next: brainhooks install, or install the plugin" in done.stdout
    rows = json.loads(run_verb("doctor --json", home, cwd=project).stdout)
    assert {"settings", "interpreter"} <= {row["check"] for row in rows}


def test_the_doctor_answers_where_the_settings_cannot_be_read(home):
    done = run_verb("doctor", home, env={"BRAIN_CONTEXT_BUDGET": "lots"})
    assert b"BRAIN_CONTEXT_BUDGET is 'lots'" in done.stdout


@pytest.mark.parametrize("verb", ["receipts", "whoami", "doctor"])
def test_a_word_that_they_do_not_know_is_wrong_usage(home, verb):
    assert run_verb(f"{verb} nonsense", home).rc == 2


def test_an_unknown_verb_hears_of_the_shell(home):
    assert "a shell has more" in run_verb("flush", home).stderr
