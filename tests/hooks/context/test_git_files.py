"""git's own files, read as git reads them: each answer is compared with the real git's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hooks.context import git_files
from hooks.context.git_files import Config, parse_config
from tests.support.git import git, make_repo
from tests.support.run_hook import PATH

URL = "https://git.example.org/shop/web.git"


@pytest.fixture
def env(tmp_path):
    (tmp_path / "person").mkdir(exist_ok=True)
    return {"HOME": str(tmp_path / "person"), "PATH": PATH, "GIT_CONFIG_NOSYSTEM": "1"}


def found(folder: Path) -> git_files.Repo:
    repo = git_files.find(os.path.realpath(folder))
    assert repo is not None
    return repo


def test_a_subfolder_is_in_its_repository(tmp_path):
    top = make_repo(tmp_path / "web")
    (top / "a" / "b").mkdir(parents=True)
    assert found(top / "a" / "b") == (str(top), str(top / ".git"), str(top / ".git"))


def test_a_worktree_shares_the_common_dir(tmp_path):
    top = make_repo(tmp_path / "web")
    git(top, "worktree", "add", "-q", "../zurich-v1", "-b", "b")
    repo = found(tmp_path / "zurich-v1")
    assert repo.worktree == str(tmp_path / "zurich-v1")
    assert repo.common_dir == str(top / ".git")
    assert git_files.branch(repo.git_dir) == "b"
    assert git_files.branch(found(top).git_dir) == "main"


def test_a_submodule_is_its_own_repository(tmp_path):
    lib = make_repo(tmp_path / "lib")
    top = make_repo(tmp_path / "web")
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib), "vendor/lib")
    repo = found(top / "vendor" / "lib")
    assert repo.common_dir == str(top / ".git" / "modules" / "vendor" / "lib")
    assert repo.worktree == str(top / "vendor" / "lib")


def test_a_bare_repository_has_no_worktree(tmp_path):
    (tmp_path / "web.git").mkdir()
    git(tmp_path / "web.git", "init", "-q", "--bare", "-b", "main")
    assert found(tmp_path / "web.git" / "refs") == (
        "",
        str(tmp_path / "web.git"),
        str(tmp_path / "web.git"),
    )


def test_inside_the_git_folder_is_inside_the_repository(tmp_path):
    top = make_repo(tmp_path / "web")
    assert found(top / ".git" / "refs" / "heads") == found(top)


def test_inside_the_git_folder_of_a_worktree_is_inside_that_worktree(tmp_path):
    top = make_repo(tmp_path / "web")
    git(top, "worktree", "add", "-q", "../side", "-b", "b")
    assert found(top / ".git" / "worktrees" / "side") == found(tmp_path / "side")


@pytest.mark.parametrize("leftover", ["folder", "empty-file", "pointer-to-nowhere"])
def test_a_git_entry_that_leads_nowhere_is_no_other_repository(tmp_path, leftover):
    top = make_repo(tmp_path / "web")
    inner = top / "inner"
    inner.mkdir()
    if leftover == "folder":  # git looks further up
        (inner / ".git").mkdir()
        assert found(inner) == found(top)
        return
    text = "" if leftover == "empty-file" else "gitdir: /nonexistent/.git/worktrees/x\n"
    (inner / ".git").write_text(text, encoding="utf-8")
    assert found(inner) == (str(inner), "", "")


def test_no_repository_is_none(tmp_path):
    assert git_files.find(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("head", "branch"),
    [
        ("ref: refs/heads/main\n", "main"),
        ("ref: refs/heads/feature/ü-1\n", "feature/ü-1"),
        ("0123456789012345678901234567890123456789\n", ""),
        ("ref: refs/heads/.invalid\n", ""),
        ("ref: refs/remotes/origin/x\n", ""),
        ("", ""),
    ],
)
def test_the_branch_is_what_head_says(tmp_path, head, branch):
    (tmp_path / "HEAD").write_text(head, encoding="utf-8")
    assert git_files.branch(str(tmp_path)) == branch


def test_origin_comes_from_the_files(tmp_path, env):
    assert git_files.origin(found(make_repo(tmp_path / "web", URL)), env) == (URL, False, False)


def test_a_worktree_and_a_subfolder_have_the_origin_of_their_repository(tmp_path, env):
    top = make_repo(tmp_path / "web", URL)
    git(top, "worktree", "add", "-q", "../side", "-b", "b")
    (tmp_path / "side" / "docs").mkdir()
    assert git_files.origin(found(tmp_path / "side" / "docs"), env).url == URL


def test_another_remote_is_no_origin(tmp_path, env):
    top = make_repo(tmp_path / "web")
    git(top, "remote", "add", "upstream", URL)
    assert git_files.origin(found(top), env) == ("", False, False)


def test_the_first_of_two_urls_is_fetched_from(tmp_path, env):
    top = make_repo(tmp_path / "web", URL)
    git(top, "remote", "set-url", "--add", "origin", "https://other.example/a/r")
    assert git_files.origin(found(top), env).url == git(top, "remote", "get-url", "origin") == URL


GLOBAL_FILES = {
    "~/.gitconfig": (".gitconfig", {}),
    "~/.config": (".config/git/config", {}),
    "XDG_CONFIG_HOME": ("xdg/git/config", {"XDG_CONFIG_HOME": "xdg"}),
    "GIT_CONFIG_GLOBAL": ("my-config", {"GIT_CONFIG_GLOBAL": "my-config"}),
    "GIT_CONFIG_SYSTEM": ("system", {"GIT_CONFIG_SYSTEM": "system", "GIT_CONFIG_NOSYSTEM": "0"}),
}


@pytest.mark.parametrize(("name", "points"), GLOBAL_FILES.values(), ids=GLOBAL_FILES)
def test_instead_of_in_any_config_of_the_person_is_applied(tmp_path, env, name, points):
    top = make_repo(tmp_path / "web", "work:shop/web.git")
    person = Path(env["HOME"])
    config = person / name
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[url "https://git.example.org/"]\n\tinsteadOf = work:\n', encoding="utf-8")
    paths = {n: v if v == "0" else str(person / v) for n, v in points.items()}
    assert git_files.origin(found(top), {**env, **paths}) == (URL, True, False)


def test_instead_of_that_touches_another_url_needs_env(tmp_path, env):
    top = make_repo(tmp_path / "web", URL)
    config = Path(env["HOME"]) / ".gitconfig"
    config.write_text('[url "ssh://x/"]\n\tinsteadOf = https://elsewhere/\n', encoding="utf-8")
    assert git_files.origin(found(top), env) == (URL, False, False)


def test_an_include_for_one_folder_is_applied(tmp_path, env):
    top = make_repo(tmp_path / "web", "work:shop/web.git")
    person = Path(env["HOME"])
    (person / ".gitconfig").write_text(
        f'[includeIf "gitdir:{tmp_path}/web/"]\n\tpath = .gitconfig-work\n', encoding="utf-8"
    )
    (person / ".gitconfig-work").write_text(
        '[url "https://git.example.org/"]\n\tinsteadOf = work:\n', encoding="utf-8"
    )
    assert git_files.origin(found(top), env) == (URL, True, False)
    elsewhere = make_repo(tmp_path / "other", "work:shop/web.git")
    assert git_files.origin(found(elsewhere), env).url == "work:shop/web.git"


def test_an_include_in_the_repository_is_applied(tmp_path, env):
    top = make_repo(tmp_path / "web")
    (top / ".git" / "more").write_text(f'[remote "origin"]\n\turl = {URL}\n', encoding="utf-8")
    git(top, "config", "include.path", "more")
    assert git_files.origin(found(top), env) == (URL, True, False)


def test_the_config_of_one_worktree_is_applied(tmp_path, env):
    top = make_repo(tmp_path / "web", "work:shop/web.git")
    git(top, "config", "extensions.worktreeConfig", "true")
    git(top, "config", "--worktree", "url.https://git.example.org/.insteadOf", "work:")
    assert git_files.origin(found(top), env) == (URL, True, False)


def test_a_value_over_two_lines_is_left_to_git(tmp_path, env):
    top = make_repo(tmp_path / "web")
    config = top / ".git" / "config"
    text = '[core]\n\tpager = less \\\n[remote "origin"] url = trap\n[remote "origin"]\n\turl = '
    config.write_text(text + URL + "\n", encoding="utf-8")
    assert git_files.origin(found(top), env) == (URL, True, False)


def test_without_git_the_file_speaks(tmp_path, env):
    top = make_repo(tmp_path / "web", "work:shop/web.git")
    config = Path(env["HOME"]) / ".gitconfig"
    config.write_text('[url "https://x/"]\n\tinsteadOf = work:\n', encoding="utf-8")
    config.write_text(config.read_text(encoding="utf-8") + "[broken\n", encoding="utf-8")
    assert git_files.origin(found(top), env) == ("work:shop/web.git", False, False)


def test_no_origin_at_all_is_told_from_a_git_that_is_silent(tmp_path, env, monkeypatch):
    top = make_repo(tmp_path / "web")
    (Path(env["HOME"]) / ".gitconfig").write_text("[include]\n\tpath = x\n", encoding="utf-8")
    assert git_files.origin(found(top), env) == ("", False, False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_files.origin(found(top), env) == ("", False, True)


@pytest.mark.parametrize("kind", ["too large", "a folder"])
def test_a_config_that_cannot_be_read_is_not_read_as_empty(tmp_path, env, kind, monkeypatch):
    top = make_repo(tmp_path / "web", URL)
    config = top / ".git" / "config"
    monkeypatch.setattr(git_files, "TIMEOUT_S", 30.0)  # it reads 6 MB, on whatever machine
    if kind == "too large":
        with config.open("a", encoding="utf-8") as file:
            file.write("#\n" * (3 << 20))
        assert git_files.origin(found(top), env) == (URL, True, False)
    else:
        config.unlink()
        config.mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_files.origin(found(top), env).unsure


def test_git_is_not_pointed_elsewhere_by_variables(tmp_path, env):
    top = make_repo(tmp_path / "web", "work:shop/web.git")
    other = make_repo(tmp_path / "other", "work:evil/other.git")
    (Path(env["HOME"]) / ".gitconfig").write_text(
        '[url "https://git.example.org/"]\n\tinsteadOf = work:\n', encoding="utf-8"
    )
    hostile = {
        **env,
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_COMMON_DIR": str(other / ".git"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "remote.origin.url",
        "GIT_CONFIG_VALUE_0": "https://evil.example/a/r",
    }
    assert git_files.origin(found(top), hostile) == (URL, True, False)


def test_the_root_commit_is_the_oldest_one(tmp_path, env):
    top = make_repo(tmp_path / "web")
    first = git(top, "rev-parse", "HEAD")
    git(top, "commit", "-q", "--allow-empty", "-m", "second")
    assert git_files.root_commits(found(top), env) == (first,)
    assert git_files.has_commits(found(top))
    assert git_files.may_hold(str(top / ".git"), first)


def test_packed_and_borrowed_objects_may_be_anything(tmp_path):
    top = make_repo(tmp_path / "web")
    assert not git_files.may_hold(str(top / ".git"), "0" * 40)
    git(tmp_path, "clone", "-q", "--shared", str(top), "borrower")
    assert git_files.may_hold(str(tmp_path / "borrower" / ".git"), "0" * 40)
    git(top, "gc", "-q")
    assert git_files.may_hold(str(top / ".git"), "0" * 40)
    assert git_files.has_commits(found(top))


def test_a_repository_without_commits_has_no_root(tmp_path, env):
    (tmp_path / "new").mkdir()
    git(tmp_path / "new", "init", "-q", "-b", "main")
    assert not git_files.has_commits(found(tmp_path / "new"))
    assert git_files.root_commits(found(tmp_path / "new"), env) == ()


@pytest.mark.parametrize(
    "text",
    [
        '[remote "origin"]\n\turl = U\n',
        '[remote "origin"] url = U\n',
        '[REMOTE "origin"]\nURL=U',
        "[remote.origin]\nurl = U\n",
        '\ufeff[remote "origin"]\r\n\turl = U\r\n',
        '[remote "origin"]\n\turl = "U" ; why\n',
        '[remote "origin"]\n\turl = U # why\n',
        '[remote "other"]\n\turl = X\n[remote "origin"]\n# url = X\n;url = X\n\turl = U\n',
        '[remote "origin"]\n\tpushurl = X\n\turl = U\n',
        '[remote "or\\igin"]\n\turl = U\n',
        '[branch "a"]\n\turl = X\n[remote "origin"]\n\turl = U\n',
    ],
)
def test_every_way_to_write_an_origin_is_read(tmp_path, text):
    (tmp_path / "config").write_text(text, encoding="utf-8", newline="")
    assert git(tmp_path, "config", "-f", "config", "--get-all", "remote.origin.url") == "U"
    assert parse_config(text) == Config(("U",))


# No tab: versions of git differ on whether it becomes a blank, and a URL holds neither.
@given(st.text(alphabet='ab\\"#; n', max_size=12))
@example('"" a')
@settings(deadline=None, max_examples=60)
def test_a_value_is_read_as_git_reads_it(tmp_path_factory, raw):
    folder = tmp_path_factory.mktemp("config")
    config = folder / "config"
    config.write_text(f'[remote "origin"]\n\turl = {raw}\n', encoding="utf-8")
    done = subprocess.run(
        ["git", "config", "-f", str(config), "-z", "--get", "remote.origin.url"],
        capture_output=True,
        check=False,
    )
    if done.returncode == 0:
        mine = parse_config(config.read_text(encoding="utf-8"))
        assert mine.opaque or mine.urls == (done.stdout.decode().removesuffix("\0"),)


@given(st.text(alphabet='[]"\\=#; \n\torigemtul', max_size=60))
@settings(deadline=None, max_examples=100)
def test_no_text_makes_the_reader_raise(text):
    assert isinstance(parse_config(text), Config)
    assert isinstance(parse_config(f"[remote {text}"), Config)


def test_a_hostile_repository_runs_nothing_when_it_is_looked_at(ask, tmp_path):
    """A partial clone whose missing commit would be fetched through a command of its choice."""
    top = tmp_path / "hostile"
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    ran = tmp_path / "ran"
    config = top / ".git" / "config"
    config.write_text(
        config.read_text()
        + f"[core]\n\tsshCommand = touch {ran} #\n\tfsmonitor = touch {ran} #\n"
        + '[extensions]\n\tpartialClone = evil\n[remote "evil"]\n'
        + "\turl = ssh://nowhere.invalid/x\n\tpromisor = true\n"
        + f"\tuploadpack = touch {ran} #\n",
        encoding="utf-8",
    )
    (top / ".git" / "refs" / "heads").mkdir(parents=True, exist_ok=True)
    (top / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (top / ".git" / "refs" / "heads" / "main").write_text("1" * 40 + "\n")
    assert ask(top).id.startswith("local:")
    assert not ran.exists()
