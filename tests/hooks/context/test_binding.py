"""Registered projects: who owns an id, what a move, a copy and a replacement come to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hooks.context.binding import name_of, slug_of
from tests.support.git import git, make_repo
from tests.support.run_hook import PATH, ROOT


def entries(home: Path) -> dict[str, dict[str, object]]:
    return json.loads((home / "projects.json").read_text(encoding="utf-8"))["local"]


def test_two_repositories_of_one_name_never_meet(ask, plain):
    one, other = ask(plain("a/app")), ask(plain("b/app"))
    assert one.id != other.id
    assert (one.label, other.label) == ("app", "app")


def test_the_registration_holds_its_evidence(ask, plain, home):
    top = plain("My App")
    found = ask(top)
    assert found.id.startswith("local:my-app-")
    entry = entries(home)[found.id]
    info = (top / ".git").stat()
    assert entry == {
        "by": "resolver",
        "common_dir": str(top / ".git"),
        "folder": str(top),
        "device": info.st_dev,
        "inode": info.st_ino,
        "root_commit": git(top, "rev-parse", "HEAD"),
        "unborn": False,
        "registered_at": "2026-11-30T12:00:00.000000+00:00",
    }


def test_a_moved_repository_is_found_again(ask, plain, tmp_path):
    top = plain("app")
    before = ask(top).id
    os.rename(top, tmp_path / "renamed")
    assert ask(tmp_path / "renamed").id == before
    assert ask(tmp_path / "renamed", register=False).id == before


def test_a_repository_moved_to_another_disk_is_found_again(ask, plain, tmp_path):
    top = plain("app")
    before = ask(top).id
    shutil.copytree(top, tmp_path / "elsewhere", symlinks=True)
    shutil.rmtree(top)
    assert ask(tmp_path / "elsewhere").id == before


def test_a_copy_beside_its_original_is_a_new_project(ask, plain, tmp_path):
    top = plain("app")
    before = ask(top).id
    shutil.copytree(top, tmp_path / "copy", symlinks=True)
    copy = ask(tmp_path / "copy").id
    assert copy != before
    shutil.rmtree(top)
    assert ask(tmp_path / "copy").id == copy


def test_of_two_lost_originals_neither_is_guessed(ask, plain, tmp_path):
    top = plain("app")
    lost = {ask(top).id}
    shutil.copytree(top, tmp_path / "second", symlinks=True)
    lost.add(ask(tmp_path / "second").id)
    shutil.copytree(top, tmp_path / "third", symlinks=True)
    shutil.rmtree(top)
    shutil.rmtree(tmp_path / "second")
    assert ask(tmp_path / "third").id not in lost


def test_a_repository_made_anew_at_the_same_path_is_a_new_project(ask, plain):
    top = plain("app")
    before = ask(top).id
    shutil.rmtree(top / ".git")
    git(top, "init", "-q", "-b", "main")
    unborn = ask(top).id
    assert unborn != before
    (top / "new.txt").write_text("new", encoding="utf-8")
    git(top, "add", ".")
    git(top, "commit", "-qm", "another root")
    assert ask(top).id == unborn


def test_a_repository_moved_away_from_a_path_that_was_taken_over_is_found_again(
    ask, plain, tmp_path
):
    top = plain("app")
    before = ask(top).id
    os.rename(top, tmp_path / "archive")
    taken = ask(plain("app")).id
    assert taken != before
    assert ask(tmp_path / "archive").id == before
    assert ask(tmp_path / "app").id == taken


def test_a_restored_backup_is_the_same_project(ask, plain, tmp_path):
    top = plain("app")
    before = ask(top).id
    shutil.copytree(top, tmp_path / "backup", symlinks=True)
    shutil.rmtree(top)
    os.rename(tmp_path / "backup", top)
    assert ask(top).id == before


def test_the_first_commit_is_evidence_from_then_on(ask, tmp_path, home):
    top = tmp_path / "new"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    before = ask(top).id
    assert entries(home)[before]["root_commit"] == ""
    git(top, "commit", "-q", "--allow-empty", "-m", "first")
    assert ask(top).id == before
    assert entries(home)[before]["root_commit"] == git(top, "rev-parse", "HEAD")
    os.rename(top, tmp_path / "moved")
    assert ask(tmp_path / "moved").id == before


def test_packing_the_repository_changes_nothing(ask, plain):
    top = plain("app")
    before = ask(top).id
    git(top, "gc", "-q")
    git(top, "checkout", "-q", "--orphan", "pages")
    assert ask(top).id == before


def test_the_environment_names_a_folder_without_a_repository(ask, tmp_path):
    notes = tmp_path / "notes"
    (notes / "2026").mkdir(parents=True)
    assert ask(notes, named="local:notes").id == "local:notes"
    assert ask(notes / "2026", named="local:notes").id == "local:notes"


def test_what_the_environment_named_holds_only_while_it_names_it(ask, tmp_path, plain):
    notes, top = tmp_path / "notes", plain("app")
    notes.mkdir()
    ask(notes, named="local:notes")
    assert ask(notes).id == "unknown"
    automatic = ask(top).id
    assert ask(top, named="local:mine").id == "local:mine"
    assert ask(top).id == automatic


def test_the_environment_cannot_take_the_id_of_another_root(ask, tmp_path, plain):  # A15
    notes, other, top = tmp_path / "notes", tmp_path / "other", plain("app")
    notes.mkdir()
    other.mkdir()
    ask(notes, named="local:notes")
    refused = ask(other, named="local:notes")
    assert (refused.id, "refused" in refused.evidence) == ("unknown", True)
    own = ask(top, named="local:notes")
    assert own.id.startswith("local:app-")
    assert "refused" in own.evidence
    stranger = plain("b/app")
    assert ask(stranger, named=own.id).id not in {own.id, "unknown"}


@pytest.mark.parametrize("named", ["unknown", "github.com/acme/w", "local:", "local:../x", "notes"])
def test_the_environment_names_only_local_ids(ask, tmp_path, named, home):
    found = ask(tmp_path, named=named)
    assert found.id == "unknown"
    assert "ignored" in found.evidence
    assert not (home / "projects.json").exists()


def test_the_environment_never_overrides_a_remote(ask, plain, home):
    top = plain("app")
    git(top, "remote", "add", "origin", "https://git.example.org/shop/app")
    found = ask(top, named="local:mine")
    assert found.id == "git.example.org/shop/app"
    assert "does not override" in found.evidence
    assert entries(home) == {}


def test_a_named_folder_that_was_moved_keeps_its_id(ask, tmp_path):
    (tmp_path / "notes").mkdir()
    ask(tmp_path / "notes", named="local:notes")
    os.rename(tmp_path / "notes", tmp_path / "moved")
    assert ask(tmp_path / "moved", named="local:notes").id == "local:notes"


def test_sixteen_first_sessions_agree_on_one_id(plain, home):
    top = plain("app")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from hooks.clock import from_epoch\n"
        "from hooks.context.project import resolve\n"
        "from hooks.settings import Settings\n"
        "sys.stdin.read()\n"
        "env = {'HOME': '/nonexistent', 'PATH': sys.argv[4]}\n"
        "print(resolve(sys.argv[2], Settings(home=sys.argv[3]), env, from_epoch(0)).id)\n"
    )
    argv = [sys.executable, "-I", "-c", code, str(ROOT), str(top), str(home), PATH]
    children = [
        subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(16)
    ]
    for child in children:  # all are loaded and wait for this
        assert child.stdin is not None
        child.stdin.close()
        child.stdin = None
    found = {child.communicate()[0].strip() for child in children}
    assert len(found) == 1
    assert list(entries(home)) == list(found)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("My App!", "my-app"),
        ("名", "project"),
        ("a" * 60, "a" * 40),
        ("--x--", "x"),
        ("", "project"),
    ],
)
def test_a_slug_is_plain(name, slug):
    assert slug_of(name) == slug


def test_a_repository_is_named_by_its_main_folder():
    assert name_of("/src/web/.git") == "web"
    assert name_of("/srv/web.git") == "web"
    assert name_of("/src/web/.git/modules/lib") == "lib"


def test_two_projects_from_one_template_stay_apart(ask, tmp_path):
    """Both have one root commit; both stand, so each is its own."""
    one = make_repo(tmp_path / "one")
    git(tmp_path, "clone", "-q", str(one), "two")
    git(tmp_path / "two", "remote", "remove", "origin")
    assert ask(one).id != ask(tmp_path / "two").id
