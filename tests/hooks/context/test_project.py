"""One resolver: which project a folder belongs to, in real repositories."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hooks.context import project, registry
from hooks.context.project import launch_folder, renamed_from
from hooks.errors import StateError
from tests.support.git import git, make_repo
from tests.support.run_hook import PATH, ROOT

WEB = "git.example.org/shop/web"
URL = "https://git.example.org/shop/web.git"


def files_below(folder: Path) -> set[str]:
    return {str(p) for p in folder.rglob("*")}


def test_a_worktree_has_the_project_of_its_repository(ask, repo):  # A1
    main = repo("web", URL)
    git(main, "worktree", "add", "-q", "../zurich-v1", "-b", "b")
    there, here = ask(main.parent / "zurich-v1"), ask(main)
    assert there.id == here.id == WEB
    assert (there.label, there.branch, here.branch) == ("web", "b", "main")
    assert there.worktree == str(main.parent / "zurich-v1")
    assert there.common_dir == here.common_dir


def test_a_worktree_of_a_repository_without_a_remote_shares_its_id(ask, repo):
    main = repo("web")
    git(main, "worktree", "add", "-q", "../side", "-b", "b")
    assert ask(main.parent / "side").id == ask(main).id
    assert ask(main.parent / "side").id.startswith("local:web-")


def test_a_subfolder_of_a_repository_without_a_remote_is_not_its_own_project(ask, repo):  # A3
    top = repo("R")
    (top / "docs").mkdir()
    assert ask(top / "docs").id == ask(top).id
    assert ask(top).id.startswith("local:r-")


def test_folders_that_differ_in_case_are_two_projects(ask, repo):  # A7
    assert ask(repo("Project")).id != ask(repo("project")).id


def test_another_spelling_of_one_folder_is_one_project(ask, repo, home):  # A5
    """What a filesystem that ignores case shows us: another path to the same inode."""
    top = repo("Repo")
    first = ask(top).id
    found = registry.load(str(home))
    spelled = str(top.parent / "other-spelling")
    os.symlink(top, spelled)
    found.local[first]["common_dir"] = os.path.join(spelled, ".git")
    registry.change(str(home), lambda now: now.local.update(found.local))
    assert ask(top).id == first


def test_a_renamed_remote_is_told_with_the_id_it_had(ask, repo, home):  # A9
    top = repo("web", URL)
    assert renamed_from(str(home), ask(top)) == ""
    git(top, "remote", "set-url", "origin", "https://git.example.org/shop/storefront.git")
    moved = ask(top)
    assert moved.id == "git.example.org/shop/storefront"
    assert renamed_from(str(home), moved) == WEB

    project.add_alias(str(home), WEB, moved.id)
    assert renamed_from(str(home), ask(top)) == ""


def test_a_remote_renamed_the_other_way_round_is_one_project_too(ask, repo, home):
    top = repo("web", URL)
    ask(top)
    project.add_alias(str(home), "git.example.org/shop/storefront", WEB)
    git(top, "remote", "set-url", "origin", "https://git.example.org/shop/storefront.git")
    found = ask(top)
    assert (found.id, found.remote) == (WEB, "git.example.org/shop/storefront")
    assert renamed_from(str(home), found) == ""


def test_a_remote_given_later_is_told_with_the_local_id(ask, repo, home):
    top = repo("web")
    local = ask(top).id
    git(top, "remote", "add", "origin", URL)
    assert ask(top).id == WEB
    assert renamed_from(str(home), ask(top)) == local
    project.add_alias(str(home), local, WEB)
    git(top, "remote", "remove", "origin")
    assert ask(top).id == WEB


def test_the_home_folder_and_a_folder_of_ten_repositories_are_no_project(
    ask, repo, home, tmp_path
):  # A11
    for number in range(10):
        repo(f"Dev/r{number}", f"https://git.example.org/shop/r{number}")
    for folder in (home.parent, tmp_path / "Dev", Path("/")):
        found = ask(folder)
        assert (found.id, found.label, found.worktree) == ("unknown", "", "")
        assert "no repository" in found.evidence
    assert not home.exists()


def test_the_launch_folder_wins_and_the_branch_is_read_from_git(ask, repo):  # A13
    main = repo("web", URL)
    git(main, "worktree", "add", "-q", "../name", "-b", "worktree-name")
    launched = launch_folder(str(main), {"CLAUDE_PROJECT_DIR": str(main.parent / "name")})
    assert ask(launched).branch == "worktree-name"
    assert launch_folder(str(main), {"CLAUDE_PROJECT_DIR": ""}) == str(main)


def test_clones_by_ssh_and_by_https_are_one_project(ask, repo):  # L15
    one = repo("one", "git@github.com:Acme/Widgets.git")
    other = repo("elsewhere/two", "https://bob:s3cret@github.com/acme/widgets/")
    assert ask(one).id == ask(other).id == "github.com/acme/widgets"


def test_no_secret_of_the_remote_gets_anywhere(ask, repo, home):
    top = repo("web", "https://bob:s3cret@git.example.org/shop/web.git")
    assert "s3cret" not in repr(ask(top))
    assert b"s3cret" not in (home / "projects.json").read_bytes()
    odd = repo("odd", "https://bob:12/s3cret@git.example.org/shop/web.git")
    assert "s3cret" not in repr(ask(odd))
    assert b"s3cret" not in (home / "projects.json").read_bytes()


def test_a_submodule_is_its_own_project(ask, repo):
    lib = repo("lib")
    top = repo("web", URL)
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib), "lib")
    git(top / "lib", "remote", "set-url", "origin", "git@git.example.org:shop/lib")
    assert ask(top / "lib").id == "git.example.org/shop/lib"
    assert ask(top).id == WEB


def test_a_bare_repository_is_a_project_without_a_worktree(ask, tmp_path):
    bare = tmp_path / "web.git"
    bare.mkdir()
    git(bare, "init", "-q", "--bare", "-b", "main")
    found = ask(bare)
    assert found.id.startswith("local:web-")
    assert (found.worktree, found.branch) == ("", "main")


@pytest.mark.parametrize("inside", [".git", ".git/refs/heads", "node_modules/x", "sealed"])
def test_nothing_is_made_in_the_work_tree(ask, repo, inside):  # J7
    top = repo("web", URL)
    (top / inside).mkdir(parents=True, exist_ok=True)
    if inside == "sealed":
        (top / inside).chmod(0o500)
    before = files_below(top)
    assert ask(top / inside).id == WEB
    assert ask(repo("plain")).id.startswith("local:")
    assert files_below(top) == before


def test_a_path_through_a_link_is_the_same_project(ask, repo, tmp_path):
    top = repo("web")
    (top / "docs").mkdir()
    (tmp_path / "link").symlink_to(top / "docs")
    found = ask(tmp_path / "link")
    assert found.id == ask(top).id
    assert (found.cwd, found.worktree) == (str(tmp_path / "link"), str(top))


def test_a_removed_worktree_inside_the_repository_keeps_its_project(ask, repo):
    top = repo("web", URL)
    gone = top / ".claude" / "worktrees" / "fix" / "src"
    found = ask(gone)
    assert (found.id, found.branch) == (WEB, "")
    assert "gone" in found.evidence


@pytest.mark.parametrize("cwd", ["", "web", "./web", "~", "/nonexistent/x", "/a\0b", "/a\ud800b"])
def test_a_path_that_is_nothing_is_no_project(ask, cwd):
    assert ask(cwd).id == "unknown"


def test_a_folder_that_is_gone_is_not_bound_to_its_parent(ask, home):
    assert ask(home.parent / "gone", named="local:notes").id == "unknown"
    assert not (home / "projects.json").exists()


def test_a_broken_worktree_is_unknown_not_the_repository_around_it(ask, repo):
    top = repo("web", URL)
    (top / "side").mkdir()
    (top / "side" / ".git").write_text("gitdir: /nonexistent\n", encoding="utf-8")
    assert ask(top / "side").id == "unknown"


@pytest.mark.parametrize("url", ["/srv/web.git", "../web", "file:///srv/web.git", "ext::sh web"])
def test_a_remote_without_a_server_is_as_good_as_none(ask, repo, url):
    assert ask(repo("web", url)).id.startswith("local:web-")


def test_rewritten_urls_are_what_counts(ask, repo, home):
    (home.parent / ".gitconfig").write_text(
        '[url "https://git.example.org/"]\n\tinsteadOf = work:\n', encoding="utf-8"
    )
    found = ask(repo("web", "work:shop/web"))
    assert (found.id, found.evidence) == (WEB, "origin, as git rewrites it")


def test_what_neither_a_file_nor_git_tells_is_unknown(ask, repo, home, tmp_path, monkeypatch):
    top = repo("web")
    (home.parent / ".gitconfig").write_text("[include]\n\tpath = x\n", encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ask(top).id == "unknown"
    assert not (home / "projects.json").exists()
    monkeypatch.undo()
    assert ask(top).id.startswith("local:web-")


def test_looking_without_registering_writes_nothing(ask, repo, home):
    assert ask(repo("web", URL), register=False).id == WEB
    assert ask(repo("plain"), register=False).id == "unknown"
    assert not home.exists()


def test_a_damaged_registry_is_left_alone_and_remotes_still_resolve(ask, repo, home):
    home.mkdir()
    (home / "projects.json").write_text('{"schema_version":"2.0","aliases":', encoding="utf-8")
    before = (home / "projects.json").read_bytes()
    web = ask(repo("web", URL))
    assert (web.id, "damaged" in web.evidence) == (WEB, True)
    plain = ask(repo("plain"))
    assert (plain.id, "damaged" in plain.evidence) == ("unknown", True)
    with pytest.raises(StateError, match="unusable"):
        renamed_from(str(home), web)
    assert (home / "projects.json").read_bytes() == before


def test_a_home_that_cannot_be_written_does_not_stop_a_remote(ask, repo, home):  # J9
    home.write_bytes(b"")
    assert ask(repo("web", URL)).id == WEB
    found = ask(repo("plain"))
    assert (found.id, "cannot be registered" in found.evidence) == ("unknown", True)


def test_a_second_look_asks_git_nothing(ask, repo, tmp_path, monkeypatch):
    """A stand-in for git leaves a trace when it is started."""
    web, plain = repo("web", URL), repo("plain")
    before = ask(web).id, ask(plain).id
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(f"#!/bin/sh\n: > {tmp_path}/asked\n", encoding="utf-8")
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert (ask(web).id, ask(plain).id) == before
    assert not (tmp_path / "asked").exists()
    assert ask(tmp_path / "plain" / "..").id == "unknown"
    ask(repo_without_commits(tmp_path / "new"))
    assert not (tmp_path / "asked").exists()


def repo_without_commits(folder: Path) -> Path:
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "refs").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    return folder


CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from hooks.clock import from_epoch
from hooks.context.project import resolve
from hooks.settings import Settings
env = {"HOME": sys.argv[3], "PATH": sys.argv[5]}
settings = Settings(home=sys.argv[3] + "/hooks")
print(resolve(sys.argv[2], settings, env, from_epoch(0)).id)
wanted = set(sys.argv[4].split())
print(" ".join(sorted(wanted & set(sys.modules))))
"""
COSTLY = "re typing json hashlib pathlib uuid enum dataclasses functools contextlib subprocess"


def run_child(cwd: str, person: str, **env: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", CHILD, str(ROOT), cwd, person, COSTLY, PATH],
        env={"PATH": PATH, **env},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().split("\n")


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_a_home_with_blanks_and_other_scripts_works_in_any_locale(tmp_path, locale):
    person = tmp_path / "Gómez 名前 😀"
    named = make_repo(person / "src" / "über web")
    (person / ".gitconfig").write_text(
        '[url "https://git.example.org/"]\n\tinsteadOf = work:\n', encoding="utf-8"
    )
    web = make_repo(person / "src" / "名", "work:shop/web")
    assert run_child(str(web), str(person), LC_ALL=locale)[0] == WEB
    first = run_child(str(named), str(person), LC_ALL=locale)[0]
    assert first.startswith("local:ber-web-")
    assert run_child(str(named), str(person), LC_ALL="C.UTF-8")[0] == first


def test_a_hook_pays_for_no_costly_module(tmp_path):
    web = make_repo(tmp_path / "web", URL)
    (tmp_path / "person").mkdir()
    assert run_child(str(web), str(tmp_path / "person"))[:2] == [WEB, ""]
