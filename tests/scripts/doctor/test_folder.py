"""Doctor's look at a file brain's folder, each wrong in one way."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from scripts.doctor import Look
from scripts.doctor.checks import examine
from scripts.doctor.folder import pages
from tests.support.run_hook import ROOT

PAGE = "---\n---\nAsk before rm -rf\n"


@pytest.fixture
def look(home, noon, tmp_path):
    def at(path, **more) -> Look:
        env = {"BRAIN_SOURCE_TYPE": "file", "BRAIN_SOURCE_PATH": str(path), **more}
        return Look({"AGENTIHOOKS_HOME": str(home), **env}, noon, str(tmp_path), str(tmp_path))

    return at


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "notes"
    path.mkdir()
    (path / "rule.md").write_text(PAGE, encoding="utf-8")
    return path


def test_a_folder_that_is_well_says_what_it_holds_and_looking_makes_nothing(look, folder, home):
    assert [tuple(found) for found in pages(look(folder))] == [
        ("ok", f"{folder} holds 1 memory", "")
    ]
    assert not home.exists()
    assert os.listdir(folder) == ["rule.md"]


def test_without_a_file_brain_no_folder_is_looked_for(look, folder):
    assert list(pages(look(folder, BRAIN_SOURCE_TYPE="local"))) == []
    assert list(pages(look(folder, BRAIN_URL="http://127.0.0.1:9"))) == []


def test_a_folder_that_is_not_there_or_is_a_file_is_a_failure(look, folder):
    for path, says in ((folder / "away", "there is no folder"), (folder / "rule.md", "no folder")):
        (found,) = pages(look(path))
        assert (found.level, says in found.what, str(path) in found.what) == ("fail", True, True)
        assert "BRAIN_SOURCE_PATH" in found.next


AS_NOBODY = """
import os, sys
from scripts.doctor import Look
from scripts.doctor.folder import pages
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
env = {"AGENTIHOOKS_HOME": "/nowhere", "BRAIN_SOURCE_TYPE": "file"}
env["BRAIN_SOURCE_PATH"] = sys.argv[1]
for found in pages(Look(env, None, "/", "/")):
    print(*found)
"""


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        (0o555, "warn {} cannot be written"),
        (0o300, "fail the file brain cannot be used now: {}: no"),
    ],
)
def test_a_folder_without_rights_is_told(mode, says):
    with tempfile.TemporaryDirectory() as parent:  # one that another user may enter
        os.chmod(parent, 0o755)
        folder = Path(parent, "notes")
        folder.mkdir()
        (folder / "rule.md").write_text(PAGE, encoding="utf-8")
        folder.chmod(mode)
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-c", AS_NOBODY, str(folder)],
                env={"PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                check=True,
            )
        finally:
            folder.chmod(0o755)
    assert done.stdout.startswith(says.format(folder))


def test_a_folder_inside_the_home_or_around_it_is_told(look, home, tmp_path):
    inside = home / "notes"
    inside.mkdir(parents=True)
    (found,) = pages(look(inside))
    assert (found.level, "lies inside the home" in found.what) == ("warn", True)
    (found,) = pages(look(tmp_path))
    assert (found.level, "holds the home" in found.what) == ("warn", True)
    hidden = Look(
        {**look(tmp_path).env, "AGENTIHOOKS_HOME": str(tmp_path / ".home")}, *look("")[1:]
    )
    assert [found.level for found in pages(hidden)] == ["ok"]


def test_what_is_set_aside_is_named_once_with_the_reason(look, folder):
    (folder / "rule (1).md").write_text(PAGE, encoding="utf-8")
    said = [found for _, found in examine(look(folder)) if "rule (1).md" in found.what]
    assert [found.level for found in said] == ["warn"]
    assert "a sync conflict copy" in said[0].what
    assert said[0].next
