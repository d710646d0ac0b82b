"""Real git repositories with no configuration but their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

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


def git(folder: Path, *args: str) -> str:
    """Run git in ``folder`` and return its stdout; a failure is the test's failure."""
    done = subprocess.run(
        ["git", *args], cwd=folder, env=_ENV, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"git {' '.join(args)}: {done.stderr}"
    return done.stdout.strip()


def make_repo(folder: Path, remote: str = "") -> Path:
    """Make a repository with one commit on ``main`` and, if given, an ``origin``."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("hello file\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "init")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder
