"""The demo works, also in CI, and what the targets make is never seen by git."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.support.git import git
from tests.support.run_hook import ROOT

MADE = [".venv", ".cache", ".demo", ".e2e", "build", "dist", ".pytest_cache", ".mypy_cache"]


def test_the_demo_passes_all_its_checks_where_ci_is_set(tmp_path):
    env = {**os.environ, "CI": "true"}  # noqa: TID251 - a developer's shell, not a hook's
    done = subprocess.run(
        [sys.executable, "-m", "demo", tmp_path / "demo"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^All \d+ checks passed", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("name", [*MADE, "hooks/__pycache__", "brainhooks.egg-info"])
def test_git_ignores_what_the_targets_make(name):
    assert git(ROOT, "check-ignore", f"{name}/x")
