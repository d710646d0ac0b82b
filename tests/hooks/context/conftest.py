"""What the tests of the project resolver stand on."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.context.project import resolve
from hooks.settings import Settings
from tests.conftest import NOON
from tests.support.git import git
from tests.support.keeping import Kept
from tests.support.run_hook import PATH


@pytest.fixture
def env(home):
    return {"HOME": str(home.parent), "PATH": PATH, "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def ask(home, env):
    """Resolve a folder as a hook does; ``named`` is AGENTIHOOKS_PROJECT_ID."""

    def run(folder, named="", **options):
        settings = Settings(home=str(home), project_id=named)
        return resolve(str(folder), settings, env, NOON, **options)

    return run


@pytest.fixture
def plain(tmp_path):
    """Make a repository without a remote whose root commit is its own."""

    made = []

    def make(name: str) -> Path:
        top = tmp_path / name
        made.append(name)
        top.mkdir(parents=True)
        git(top, "init", "-q", "-b", "main")
        (top / "name.txt").write_text(f"{name} {len(made)}", encoding="utf-8")
        git(top, "add", ".")
        git(top, "commit", "-qm", "init")
        return top

    return make


@pytest.fixture
def kept(home: Path, project: Path) -> Kept:
    """One session whose transcript is written by hand and collected in this process."""
    return Kept(home, project)
