"""A project that was renamed: an alias leads the old id here, and what it holds is told here."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.support.run_cli import run_cli

OLD, NEW = "git.example.org/shop/web", "git.example.org/shop/renamed"


@pytest.fixture
def renamed(cli, home, project):
    cli("put", "memory/x", "theword")
    cli("put", "plan", "not told elsewhere")
    url = f"https://{NEW}.git"
    subprocess.run(["git", "remote", "set-url", "origin", url], cwd=project, check=True)
    done = run_cli("project", "alias", OLD, NEW, home=home)
    assert done.returncode == 0, done.stderr
    return cli


def test_what_the_context_tells_is_listed_shown_and_forgotten_from_here(either, renamed, home):
    assert "theword" in renamed("show", "context").stdout
    ((line),) = renamed("list", "memory/").stdout.splitlines()
    assert f"memory/x  [{OLD}] theword" in line
    (found,) = json.loads(renamed("list", "memory/", "--json").stdout)
    assert (found["id"], found["project"]) == ("memory/x", OLD)
    assert "theword" in renamed("show", "memory/x").stdout
    renamed("show", "plan", rc=4)
    assert renamed("forget", "memory/x").stdout.startswith("Forgot memory/x (space).")
    assert renamed("list", "memory/").stdout == ""
    assert "theword" not in renamed("show", "context").stdout
    renamed("forget", "memory/x", rc=4)
    assert b"theword" not in (home / "brain" / "local.db").read_bytes()


def test_ones_own_of_that_name_comes_first(renamed):
    renamed("put", "memory/x", "newer")
    assert "newer" in renamed("show", "memory/x").stdout
    renamed("forget", "memory/x")
    assert "theword" in renamed("show", "memory/x").stdout
