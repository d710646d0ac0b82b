from __future__ import annotations

import json

import pytest

from tests.support.run_cli import run_cli


def test_whoami_says_id_evidence_and_aliases(home, project):
    done = run_cli("whoami", home=home, cwd=project)
    lines = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert lines["project"] == "git.example.org/shop/web"
    assert lines["because"]
    assert lines["aliases"] == "none"
    assert not home.exists()


def test_whoami_takes_the_folder_that_the_agent_started_in(home, project, tmp_path):
    env = {"CLAUDE_PROJECT_DIR": str(project)}
    done = run_cli("whoami", "--json", home=home, cwd=tmp_path, env=env)
    assert json.loads(done.stdout)["id"] == "git.example.org/shop/web"


def test_an_alias_is_followed_and_told(home, project):
    old, new = "git.example.org/shop/web", "git.example.org/shop/storefront"

    done = run_cli("project", "alias", "https://git.example.org/shop/web.git", new, home=home)
    assert done.returncode == 0, done.stderr

    said = json.loads(run_cli("whoami", "--json", home=home, cwd=project).stdout)
    assert said["id"] == new
    assert said["aliases"] == {old: new}
    assert f"{old} -> {new}" in run_cli("project", "list", home=home).stdout


def test_a_cycle_of_aliases_is_refused_with_exit_1(home):
    assert run_cli("project", "alias", "h/o/a", "h/o/b", home=home).returncode == 0
    done = run_cli("project", "alias", "h/o/b", "h/o/a", home=home)
    assert done.returncode == 1
    assert "  hint: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_without_a_repository_gets_an_id_by_registration_only(home, tmp_path):
    folder = tmp_path / "My Notes"
    folder.mkdir()
    before = json.loads(run_cli("whoami", "--json", home=home, cwd=folder).stdout)
    assert before["id"] == "unknown"

    done = run_cli("project", "register", home=home, cwd=folder)
    assert done.returncode == 0, done.stderr

    after = json.loads(run_cli("whoami", "--json", home=home, cwd=folder).stdout)
    assert after["id"].startswith("local:my-notes-")
    assert after["id"] in run_cli("project", "list", home=home).stdout
    listed = json.loads(run_cli("project", "list", "--json", home=home).stdout)
    assert list(listed["local"]) == [after["id"]]


def test_a_chosen_id_needs_no_prefix_and_another_folder_can_be_named(home, tmp_path):
    (tmp_path / "notes").mkdir()
    args = ["register", "journal", "--folder", "notes"]
    run_cli("project", *args, home=home, cwd=tmp_path)
    said = run_cli("whoami", "--json", home=home, cwd=tmp_path / "notes").stdout
    assert json.loads(said)["id"] == "local:journal"


def test_a_registration_never_overrides_a_remote(home, project):
    done = run_cli("project", "register", "mine", home=home, cwd=project)
    assert done.returncode == 1
    assert "remote is never overridden" in done.stderr


def test_an_alias_is_taken_back(home, project):
    run_cli("project", "alias", "git.example.org/shop/web", "h/o/b", home=home)
    done = run_cli("project", "alias", "--remove", "git.example.org/shop/web", home=home)
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(run_cli("whoami", "--json", home=home, cwd=project).stdout)
    assert (said["id"], said["aliases"]) == ("git.example.org/shop/web", {})


def test_a_registration_is_undone_and_comes_back(home, tmp_path):
    run_cli("project", "register", "notes", home=home, cwd=tmp_path)
    done = run_cli("project", "unregister", "local:notes", home=home)
    assert (done.returncode, done.stderr) == (0, "")
    assert str(tmp_path) in done.stdout
    assert (
        json.loads(run_cli("whoami", "--json", home=home, cwd=tmp_path).stdout)["id"] == "unknown"
    )
    run_cli("project", "register", "notes", home=home, cwd=tmp_path)
    said = json.loads(run_cli("whoami", "--json", home=home, cwd=tmp_path).stdout)
    assert said["id"] == "local:notes"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("alias", "no id", "h/o/b"), "the first of the two is no project id"),
        (("alias", "h/o/a", "h/o/a"), "h/o/a"),
        (("alias", "--remove", "h/o/a"), "this is no alias"),
        (("register", "a b"), "'local:a b' is not local:<id>"),
        (("unregister", "nobody"), "'local:nobody' is not registered"),
    ],
)
def test_what_cannot_be_is_said_without_the_name_of_a_file(home, tmp_path, words, says):
    done = run_cli("project", *words, home=home, cwd=tmp_path)
    assert done.returncode == 1
    assert says in done.stderr.splitlines()[0]
    assert "projects.json" not in done.stderr.splitlines()[0]
    assert "  hint: " in done.stderr


def test_the_list_says_what_each_part_is(home, tmp_path):
    run_cli("project", "register", "notes", home=home, cwd=tmp_path)
    run_cli("project", "alias", "h/o/a", "h/o/b", home=home)
    lines = run_cli("project", "list", home=home).stdout.splitlines()
    assert lines == ["registered:", f"  local:notes  {tmp_path}", "aliases:", "  h/o/a -> h/o/b"]
