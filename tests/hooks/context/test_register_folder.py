"""What a person registers: whose it is, what lies in it, and what it never overrides."""

from __future__ import annotations

import json

import pytest

from hooks.context.binding import BoundElsewhere
from hooks.context.project import register_folder, renamed_from
from hooks.context.registry import ProjectRefused
from hooks.errors import StateError
from tests.conftest import NOON
from tests.support.git import git


def test_a_registered_folder_owns_its_subfolders_and_nothing_beside_it(ask, tmp_path, home):
    notes = tmp_path / "notes"
    (notes / "2026" / "deep").mkdir(parents=True)
    (tmp_path / "notes-old").mkdir()
    assert register_folder(str(home), str(notes), "local:notes", at=NOON) == str(notes)
    assert {ask(notes).id, ask(notes / "2026" / "deep").id} == {"local:notes"}
    assert ask(notes).label == "local:notes".removeprefix("local:")
    assert ask(tmp_path / "notes-old").id == ask(tmp_path).id == "unknown"

    register_folder(str(home), str(notes / "2026"), "local:year", at=NOON)
    assert ask(notes / "2026" / "deep").id == "local:year"
    assert ask(notes).id == "local:notes"


def test_a_repository_in_a_registered_folder_is_its_own_project(ask, plain, tmp_path, home):
    top = plain("notes/app")
    register_folder(str(home), str(tmp_path / "notes"), "local:notes", at=NOON)
    assert ask(top).id.startswith("local:app-")


def test_a_registered_folder_that_becomes_a_repository_keeps_its_id(ask, tmp_path, home):
    notes = tmp_path / "notes"
    (notes / "2026").mkdir(parents=True)
    register_folder(str(home), str(notes), "local:notes", at=NOON)
    git(notes, "init", "-q", "-b", "main")
    assert ask(notes / "2026").id == "local:notes"
    git(notes, "remote", "add", "origin", "https://git.example.org/shop/notes")
    found = ask(notes)
    assert found.id == "git.example.org/shop/notes"
    assert renamed_from(str(home), found) == "local:notes"


def test_a_person_may_rename_a_local_repository_and_is_told_of_the_old_id(ask, plain, home, env):
    top = plain("app")
    automatic = ask(top).id
    (top / "docs").mkdir()
    register_folder(str(home), str(top / "docs"), "local:better", env=env, at=NOON)
    found = ask(top)
    assert found.id == "local:better"
    assert renamed_from(str(home), found) == automatic


def test_registering_twice_changes_nothing(ask, tmp_path, home):
    for _ in range(2):
        register_folder(str(home), str(tmp_path), "local:notes", at=NOON)
    assert list(json.loads((home / "projects.json").read_bytes())["local"]) == ["local:notes"]
    assert ask(tmp_path).id == "local:notes"


def test_a_registered_id_is_refused_to_another_folder_until_its_own_is_gone(ask, tmp_path, home):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    register_folder(str(home), str(one), "local:notes", at=NOON)
    with pytest.raises(BoundElsewhere, match="belongs to") as refused:
        register_folder(str(home), str(other), "local:notes", at=NOON)
    assert refused.value.root == str(one)
    assert ask(one).id == "local:notes"
    one.rmdir()
    register_folder(str(home), str(other), "local:notes", at=NOON)
    assert ask(other).id == "local:notes"


def test_registration_never_overrides_a_remote(plain, home, env):
    top = plain("app")
    git(top, "remote", "add", "origin", "https://bob:s3cret@git.example.org/shop/app")
    with pytest.raises(StateError, match="never overridden") as refused:
        register_folder(str(home), str(top), "local:mine", env=env, at=NOON)
    assert "git.example.org/shop/app" in refused.value.hint
    assert "s3cret" not in refused.value.hint
    assert not (home / "projects.json").exists()


@pytest.mark.parametrize(
    "project_id", ["notes", "github.com/a/b", "local:", "local:a b", "unknown"]
)
def test_only_local_ids_are_registered(tmp_path, home, project_id):
    with pytest.raises(ProjectRefused, match="is not local"):
        register_folder(str(home), str(tmp_path), project_id, at=NOON)


def test_a_folder_that_is_not_there_is_not_registered(tmp_path, home):
    with pytest.raises(StateError, match="no such folder"):
        register_folder(str(home), str(tmp_path / "gone"), "local:notes", at=NOON)
