"""Real git repositories with no configuration but their own."""

from __future__ import annotations

import atexit
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from tests.support.run_hook import PATH

_ENV = {
    "PATH": PATH,
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Dev",
    "GIT_AUTHOR_EMAIL": "dev@example.invalid",
    "GIT_COMMITTER_NAME": "Dev",
    "GIT_COMMITTER_EMAIL": "dev@example.invalid",
}

# As git writes it; what would need its quotes it gets from git itself.
_PLAIN = re.compile(r"[\w@:/.~+-]+")
_ORIGIN = """[remote "origin"]
\turl = {}
\tfetch = +refs/heads/*:refs/remotes/origin/*
"""


def git(folder: Path, *args: str) -> str:
    """Run git in ``folder`` and return its stdout; a failure is the test's failure."""
    done = subprocess.run(
        ["git", *args], cwd=folder, env=_ENV, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr}"
    return done.stdout.strip()


def make_repo(folder: Path, remote: str = "") -> Path:
    """Make a repository with one commit on ``main`` and, if given, an ``origin``.

    It is a copy of one that git made: nothing in a repository says where it lies.
    """
    shutil.copytree(_template(), folder, dirs_exist_ok=True)
    if _PLAIN.fullmatch(remote):
        with (folder / ".git" / "config").open("a", encoding="utf-8") as config:
            config.write(_ORIGIN.format(remote))
    elif remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


@cache
def _template() -> Path:
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder)
    git(folder, "init", "-q", "-b", "main")
    shutil.rmtree(folder / ".git" / "hooks", ignore_errors=True)  # samples
    (folder / "a.txt").write_text("hello file\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "init")
    return folder
