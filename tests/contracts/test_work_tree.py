"""Nothing of ours appears where a person works, wherever in it their session runs."""

from __future__ import annotations

import pytest

from hooks.dispatch import EVENTS
from tests.support.git import git, make_repo
from tests.support.keeping import lesson
from tests.support.session import Session

URL = "https://git.example.org/shop/web.git"


def tree(folder):
    return {str(one): one.read_bytes() if one.is_file() else b"" for one in folder.rglob("*")}


def plain(tmp_path):
    return make_repo(tmp_path / "web", URL), "."


def git_folder(tmp_path):
    return make_repo(tmp_path / "web", URL), ".git/refs"


def packages(tmp_path):
    top = make_repo(tmp_path / "web", URL)
    (top / "node_modules" / "left-pad").mkdir(parents=True)
    return top, "node_modules/left-pad"


def bare(tmp_path):
    top = tmp_path / "web.git"
    top.mkdir()
    git(top, "init", "-q", "--bare", "-b", "main")
    git(top, "remote", "add", "origin", URL)
    return top, "."


def submodule(tmp_path):
    lib, top = make_repo(tmp_path / "lib"), make_repo(tmp_path / "web", URL)
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib), "lib")
    return top, "lib"


def worktree(tmp_path):
    top = make_repo(tmp_path / "web", URL)
    git(top, "worktree", "add", "-q", str(top / ".claude" / "worktrees" / "b"), "-b", "b")
    return top, ".claude/worktrees/b"


def no_repository(tmp_path):
    (tmp_path / "web").mkdir()
    return tmp_path / "web", "."


@pytest.mark.parametrize(
    "where",
    [plain, git_folder, packages, bare, submodule, worktree, no_repository],
    ids=lambda where: where.__name__,
)
def test_a_whole_session_leaves_the_persons_folder_as_it_was(home, tmp_path, where):
    top, below = where(tmp_path)
    before = tree(top)
    one = Session(home, top / below)
    one.start()
    one.prompt("go")
    one.says(lesson("kept"))
    assert "kept 1 lesson" in one.stop().message
    for event in EVENTS:
        assert one.fire(event, last_assistant_message="so").rc == 0
    one.prompt("/brainhooks:remember the staging key")
    one.settle()
    assert tree(top) == before
    if where is not no_repository:
        git(top, "fsck", "--strict")
