"""What the status says of a file brain's folder that is named wrongly, or is not there."""

from __future__ import annotations

import json

import pytest

from tests.support.keeping import Kept, lesson
from tests.support.run_cli import run_cli

NOT_SET = "BRAIN_SOURCE_TYPE is file, and no BRAIN_SOURCE_PATH names the folder"


def brain_problem(home, **env):
    done = run_cli("brain_status", "--json", home=home, env={"BRAIN_SOURCE_TYPE": "file", **env})
    assert done.returncode == 1
    (problem,) = json.loads(done.stdout)["problems"]
    return problem


@pytest.mark.parametrize("path", ["notes", "./notes", "~someone/notes"])
def test_a_path_that_is_not_whole_is_shown_with_the_reason_and_where_it_was_set(home, path):
    problem = brain_problem(home, BRAIN_SOURCE_PATH=path)
    assert problem["what"].startswith(f"BRAIN_SOURCE_PATH is '{path}', which is no whole path")
    assert problem["next"].startswith("in the environment, set BRAIN_SOURCE_PATH to the whole path")


def test_a_path_from_the_settings_file_is_to_be_mended_there(home):
    home.mkdir()
    path = home / "settings.json"
    path.write_text(json.dumps({"BRAIN_SOURCE_PATH": "notes"}), encoding="utf-8")
    assert brain_problem(home)["next"].startswith(f"in {path}, set BRAIN_SOURCE_PATH")


def test_a_folder_that_nobody_named_is_asked_for(home):
    problem = brain_problem(home)
    assert problem["what"].startswith(NOT_SET)
    assert "set BRAIN_SOURCE_PATH to the whole path" in problem["next"]


def test_a_verb_and_a_flush_say_the_same(home, project):
    env = {"BRAIN_SOURCE_TYPE": "file"}
    kept = Kept(home, project, brain_source="none")
    kept.ask()
    kept.say(lesson("waits"))
    kept.collect()
    assert NOT_SET in run_cli("lessons", home=home, cwd=project, env=env).stdout
    assert NOT_SET in run_cli("flush", home=home, env=env).stderr


@pytest.mark.parametrize("waits", [False, True])
def test_a_folder_that_is_not_there_is_told_once_whether_or_not_something_waits(
    home, project, tmp_path, waits
):
    kept = Kept(home, project, brain_source="none")
    if waits:
        kept.ask()
        kept.say(lesson("waits"))
        kept.collect()
    away = tmp_path / "away"
    problem = brain_problem(home, BRAIN_SOURCE_PATH=str(away))
    assert f"there is no folder {away}; make it, or mount or sync what holds it" in problem["what"]
    assert problem["next"]


def test_the_doctor_names_every_file_that_is_set_aside(home, tmp_path):
    for number in range(5):
        (tmp_path / f"page.md.{number}.orig").touch()
        (tmp_path / f"page{number}.md.orig").touch()
    env = {"BRAIN_SOURCE_TYPE": "file", "BRAIN_SOURCE_PATH": str(tmp_path)}
    run_cli("remember", "x", home=home, env=env)
    status = run_cli("brain_status", home=home, env=env).stdout
    assert "2 more, which `doctor` names" in status
    assert f"a folder of Markdown, {tmp_path}\n" in status
    doctor = run_cli("doctor", home=home, env=env).stdout
    for number in range(5):
        assert f"page{number}.md.orig (left behind" in doctor


def test_the_doctor_names_fields_that_cannot_be_read(home, tmp_path):
    page = "---\nttl: soon\npriority: x\nseverity: high\n---\nAsk first\n"
    (tmp_path / "ask.md").write_text(page, encoding="utf-8")
    env = {"BRAIN_SOURCE_TYPE": "file", "BRAIN_SOURCE_PATH": str(tmp_path)}
    doctor = run_cli("doctor", home=home, env=env).stdout
    assert "ask.md is served without ttl: soon, priority: x\n" in doctor
