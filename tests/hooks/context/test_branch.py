from __future__ import annotations

import pytest

from hooks.context.branch import commits, elsewhere, look, may_switch, shown
from hooks.context.shell_words import commands
from tests.support.git import git


def test_a_branch_is_read_as_git_says_it_and_from_any_folder_below(repo):
    folder = repo("web")
    (folder / "a" / "b").mkdir(parents=True)
    git(folder, "switch", "-qc", "feat/x")
    found = look(str(folder / "a" / "b"))
    assert (found.name, found.commit, found.default) == ("feat/x", "", False)
    assert found == look(str(folder))


def test_a_detached_head_has_a_commit_and_no_branch(repo):
    folder = repo("web")
    git(folder, "switch", "-q", "--detach")
    found = look(str(folder))
    assert (found.name, found.default) == ("", False)
    assert found.commit == git(folder, "rev-parse", "HEAD")[:10]


def test_a_rebase_that_waits_stays_on_its_branch(repo):
    folder = repo("web")
    git(folder, "switch", "-qc", "feat/x")
    (folder / "b.txt").write_text("b\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "b")
    git(folder, "-c", "sequence.editor=sed -i 's/^pick/edit/'", "rebase", "-qi", "HEAD~1")
    assert git(folder, "rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    assert look(str(folder)).name == "feat/x"
    git(folder, "rebase", "--continue")
    assert look(str(folder)).name == "feat/x"


def test_a_bisect_stays_on_its_branch(repo):
    folder = repo("web")
    for name in "bcd":
        git(folder, "commit", "-q", "--allow-empty", "-m", name)
    git(folder, "bisect", "start", "HEAD", "HEAD~3")
    assert git(folder, "rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    assert look(str(folder)).name == "main"


def test_a_rebase_of_a_detached_head_is_detached(repo):
    folder = repo("web")
    git(folder, "commit", "-q", "--allow-empty", "-m", "b")
    git(folder, "switch", "-q", "--detach")
    git(folder, "-c", "sequence.editor=sed -i 's/^pick/edit/'", "rebase", "-qi", "HEAD~1")
    assert look(str(folder)).name == ""


def test_worktrees_are_told_apart_and_share_their_default_branch(repo, tmp_path):
    folder = repo("web")
    git(folder, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    here, there = look(str(folder)), look(str(tmp_path / "tree"))
    assert (here.name, here.default) == ("main", True)
    assert (there.name, there.default) == ("other", False)
    assert here.key != there.key
    assert here.path != there.path


@pytest.mark.parametrize("packed", [False, True])
def test_the_default_branch_is_the_one_of_the_origin(repo, tmp_path, packed):
    origin = repo("origin")
    git(origin, "switch", "-qc", "trunk")
    git(tmp_path, "clone", "-q", str(origin), "clone")
    clone = tmp_path / "clone"
    if packed:
        git(clone, "pack-refs", "--all")
    assert look(str(clone)).default
    git(clone, "switch", "-qc", "main")
    assert not look(str(clone)).default


@pytest.mark.parametrize(
    ("branches", "here", "default"),
    [
        (["main"], "main", True),
        (["master"], "master", True),
        (["main", "master"], "master", False),
        (["main", "dev"], "dev", False),
    ],
)
def test_without_an_origin_the_default_branch_goes_by_its_name(repo, branches, here, default):
    folder = repo("web")
    git(folder, "switch", "-qc", "made")
    git(folder, "branch", "-qD", "main")
    for name in branches:
        git(folder, "branch", name)
    git(folder, "switch", "-q", here)
    assert look(str(folder)).default is default
    git(folder, "pack-refs", "--all")
    assert look(str(folder)).default is default


def test_a_branch_without_a_commit_has_to_begin_somewhere(tmp_path):
    git(tmp_path, "init", "-qb", "main")
    found = look(str(tmp_path))
    assert (found.name, found.default) == ("main", False)


@pytest.mark.parametrize("head", ["", "\n", "ref: refs/heads/.invalid\n"])
def test_a_head_that_says_nothing_is_nothing(repo, head):
    folder = repo("web")
    (folder / ".git" / "HEAD").write_text(head)
    assert look(str(folder)) is None


@pytest.mark.parametrize("folder", ["", "relative", "/nonexistent/x", "/proc/self/stat"])
def test_no_folder_has_no_branch(folder):
    assert look(folder) is None


def test_no_repository_has_no_branch(tmp_path):
    assert look(str(tmp_path)) is None


ODD = "x`rm`;$(id)'\"<!--é-->"


def test_a_name_that_is_no_plain_name_is_kept_and_never_quoted(repo):
    folder = repo("web")
    git(folder, "switch", "-qc", ODD)
    assert look(str(folder)).name == ODD
    assert shown(ODD) == "a branch with an unusual name"


def test_a_name_that_is_not_utf8_is_read(repo):
    folder = repo("web")
    (folder / ".git" / "HEAD").write_bytes(b"ref: refs/heads/b\xffd\n")
    assert shown(look(str(folder)).name) == "a branch with an unusual name"


@pytest.mark.parametrize("name", ["main", "feat/x_1.2", "user@work", "größe/ş", "fix-#12", "v1+2"])
def test_a_plain_name_is_quoted(name):
    assert shown(name) == f"`{name}`"


@pytest.mark.parametrize("name", ["a" * 101, "a b", "a`b", "a\nb", "<b>", "a\u202eb", "a\0"])
def test_a_name_that_could_be_a_text_is_not_quoted(name):
    assert shown(name) == "a branch with an unusual name"


SWITCHES = [
    *("git switch x", "git checkout -b x", "git checkout x", "git -C y rebase main", "git co x"),
    *("git worktree add ../x", "git branch -m new", "git stash branch x", "gh pr checkout 3"),
    *("glab mr checkout 3", "gh pr merge -d", "ls && git switch -", "git bisect start", "git $x"),
    *("bash -c 'git switch x'", "$tool x", "git init", "git symbolic-ref HEAD refs/heads/x"),
    *("jj new", "git flow feature start x", "git checkout x -b y"),
]
STAYS = [
    *("ls", "git status", "git commit -am x", "git push", "git pull", "git checkout -- a.txt"),
    *("git branch", "git branch -a", "git stash", "git stash pop", "git log", "git", "git --help"),
    *("echo git switch x", "git commit -m 'git switch x'", "gh pr create", "gh pr view", "make x"),
]


@pytest.mark.parametrize("text", SWITCHES)
def test_a_command_that_may_switch_is_seen(text):
    assert may_switch(commands(text))


@pytest.mark.parametrize("text", STAYS)
def test_a_command_that_stays_is_known(text):
    assert not may_switch(commands(text))


def test_a_commit_is_seen_and_so_is_another_folder():
    assert commits(commands("git add . && git -C x commit -m y"))
    assert not commits(commands("git add . && echo git commit"))
    assert elsewhere(commands("git -C x switch y"))
    assert elsewhere(commands("cd x && git switch y"))
    assert elsewhere(commands("git --git-dir=/x switch y"))
    assert not elsewhere(commands("git switch y"))
