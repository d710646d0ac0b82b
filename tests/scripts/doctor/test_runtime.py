"""Doctor's look at interpreters that are gone, shimmed or too small, and at foreign packages."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from scripts.doctor import Look
from scripts.doctor.runtime import (
    entries,
    git,
    interpreter_trouble,
    other_packages,
    remembered,
    this_interpreter,
)
from scripts.install_plan import stanza
from tests.support.run_hook import ROOT

REAL = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


@pytest.fixture
def look(tmp_path, noon) -> Look:
    env = {"HOME": str(tmp_path), "AGENTIHOOKS_HOME": str(tmp_path / "agentihooks")}
    return Look({**env, "PATH": os.defpath}, noon, str(tmp_path), str(ROOT))


def script(folder: Path, body: str) -> str:
    path = folder / "python ó"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def faked(change: str) -> str:
    return f"exec {REAL} -I -S -c 'import sys; {change}; exec(sys.argv[1])' \"$4\""


NO_FTS5 = """
class Db:
    def execute(self, sql): raise sqlite3.OperationalError("no such module: fts5")
import sqlite3; sqlite3.connect = lambda _: Db()
""".replace('"', '\\"').replace("\n", "\\n")


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        pytest.param(f'exec {REAL} "$@"', f"is a shim of {REAL}", id="a shim"),
        pytest.param(faked("sys.version_info = (3, 9)"), "is older than", id="old"),
        pytest.param(faked('sys.modules["sqlite3"] = None'), "without sqlite3", id="no sqlite3"),
        pytest.param(faked(f'exec("{NO_FTS5}")'), "without FTS5", id="no FTS5"),
        pytest.param("exit 127", "does not start", id="broken"),
        pytest.param("exit 0", "does not start", id="silent"),
    ],
)
def test_what_is_wrong_with_an_interpreter_is_named(tmp_path, body, trouble):
    assert trouble in interpreter_trouble(script(tmp_path, body))


def test_a_real_interpreter_has_no_trouble_and_an_absent_one_is_gone(tmp_path):
    assert interpreter_trouble(REAL) == ""
    assert interpreter_trouble(str(tmp_path / "none")) == "is gone"
    assert interpreter_trouble("python3") == "is not an absolute path"


@pytest.mark.parametrize(
    ("python", "root", "says"),
    [
        (REAL, str(ROOT), []),
        ("/nowhere/python3", str(ROOT), ["/nowhere/python3, which is gone"]),
        (REAL, "/nowhere", ["/nowhere/hooks/__main__.py, which is gone"]),
    ],
)
def test_installed_entries_must_name_what_is_there(look, python, root, says):
    settings = Path(look.settings_files[-1])
    settings.parent.mkdir()
    groups = json.dumps({e: [g] for e, g in stanza(python, str(ROOT)).items()})
    text = groups.replace(f"{ROOT}/hooks", f"{root}/hooks")
    settings.write_text(f'{{"hooks": {text}}}', encoding="utf-8")
    found = list(entries(look))
    assert [each.level for each in found] == ["fail"] * len(says)
    for each, part in zip(found, says, strict=True):
        assert part in each.what
        assert "brainhooks install" in each.next


@pytest.mark.parametrize(
    ("content", "level"),
    [(REAL, None), ("none", "fail"), ("/nowhere/python3", "warn"), ("python3", "warn")],
)
def test_what_the_plugin_remembers_is_looked_at(look, content, level):
    assert not list(remembered(look))
    data = Path(look.profile, "plugins", "data", "brainhooks-market")
    data.mkdir(parents=True)
    (data / "python").write_text(content + "\n", encoding="utf-8")
    assert [found.level for found in remembered(look)] == ([level] if level else [])


def test_this_interpreter_serves(look):
    assert [found.level for found in this_interpreter(look)] == ["ok"]


def test_a_missing_git_is_a_warning(look, tmp_path):
    absent = look._replace(env={**look.env, "PATH": str(tmp_path)})
    assert [found.level for found in git(absent)] == ["warn"]
    (tmp_path / "git").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "git").chmod(0o755)
    assert not list(git(absent))


def test_another_distribution_with_our_package_names_is_a_warning(look, tmp_path, monkeypatch):
    before = [found.what for found in other_packages(look)]
    for name, top in (("webhooks", "hooks"), ("Brain_Hooks", "other")):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "top_level.txt").write_text(f"{top}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (found,) = [found for found in other_packages(look) if found.what not in before]
    assert found.level == "warn"
    assert "webhooks" in found.what
