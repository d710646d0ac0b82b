"""The wheel alone, in a fresh environment without the tools of development, away from the clone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import REAL_ENV
from tests.support.git import make_repo
from tests.support.run_hook import ROOT, agent_env, recorded

pytestmark = pytest.mark.timeout(600)  # it builds, and installs from the registry
OFFLINE = ("NewConnectionError", "Could not find a version", "No matching distribution")


def pip_env() -> dict[str, str]:
    """The developer's environment, for the registry; the cache is the clone's."""
    clean = {name: value for name, value in REAL_ENV.items() if not name.startswith("PYTHON")}
    return {"PIP_CACHE_DIR": str(ROOT / ".cache" / "pip"), **clean}


def pip(python: str | Path, *args: str) -> None:
    """Run pip; without a network it skips, but never in CI."""
    done = subprocess.run(
        [python, "-m", "pip", "--quiet", *args],
        env=pip_env(),
        cwd=ROOT.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    if done.returncode and "CI" not in REAL_ENV and any(word in said for word in OFFLINE):
        pytest.skip(f"no package registry: {said.strip().splitlines()[-1]}")
    assert done.returncode == 0, said


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (built,) = folder.glob("brainhooks-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` of an environment that holds the wheel and what it declares."""
    folder = tmp_path_factory.mktemp("installed") / "env"
    made = [sys.executable, "-m", "venv", "--without-pip", folder]
    subprocess.run(made, check=True, env=pip_env())
    python = folder / "bin" / "python"
    pip(sys.executable, "--python", str(python), "install", "--no-compile", str(wheel))
    return folder / "bin"


def run(command: list[str | Path], home: Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        input=given,
        env=agent_env(home),
        cwd=home.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def site_of(installed: Path, home: Path) -> Path:
    code = "import hooks, os; print(os.path.dirname(os.path.dirname(hooks.__file__)))"
    site = Path(run([installed / "python", "-P", "-c", code], home).stdout.strip())
    assert ROOT not in site.parents, "the clone is in reach; this proves nothing"
    return site


def test_the_wheel_holds_the_two_packages_and_the_files_they_need(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"hooks", "scripts"}
    assert {"hooks/__main__.py", "hooks/hooks.json", "hooks/launch.sh"} <= set(names)
    assert not [name for name in names if re.search(r"(^|/)tests?[_/]|\.pyc$|\.db$", name)]


def test_it_declares_no_more_than_it_imports(installed, home):
    """An import of something that only the test extra brings would fail here."""
    site = site_of(installed, home)
    modules = [
        ".".join(path.relative_to(site).with_suffix("").parts)
        for package in ("hooks", "scripts")
        for path in (site / package).rglob("*.py")
        if path.name not in ("__main__.py", "__init__.py")
    ]
    assert modules
    code = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"
    done = run([installed / "python", "-P", "-c", code, *modules], home)
    assert done.returncode == 0, done.stderr


def test_its_commands_answer(installed, home):
    helped = run([installed / "brainhooks", "--help"], home)
    assert helped.returncode == 0, helped.stderr
    assert "remember" in helped.stdout
    status = run([installed / "brain_status", "--json"], home)
    assert status.returncode in (0, 1), status.stderr
    assert isinstance(json.loads(status.stdout), dict)


def test_its_install_writes_the_agents_menu(installed, home):
    done = run([installed / "brainhooks", "install"], home)
    assert done.returncode == 0, done.stderr
    menu = home.parent / ".claude" / "commands" / "brainhooks"
    wanted = {path.name for path in (ROOT / "commands").iterdir()}
    assert {path.name for path in menu.iterdir()} == wanted
    text = (menu / "lessons.md").read_text(encoding="utf-8")
    assert f"{site_of(installed, home)}/hooks/__main__.py" in text


def test_its_hooks_run_by_path_and_by_name(installed, home, tmp_path):
    project = make_repo(tmp_path / "web", "https://git.example.org/shop/web.git")
    given = json.dumps(recorded("SessionStart", cwd=str(project)))
    entry = site_of(installed, home) / "hooks" / "__main__.py"
    real = os.path.realpath(installed / "python")
    by_path = run([real, "-I", "-S", entry, "SessionStart"], home, given)
    assert (by_path.returncode, by_path.stderr) == (0, "")
    assert "git.example.org/shop/web" in json.loads(by_path.stdout)["systemMessage"]

    given = json.dumps(recorded("SessionStart", cwd=str(project), session_id="another"))
    by_name = run([installed / "python", "-P", "-m", "hooks", "SessionStart"], home, given)
    assert (by_name.returncode, by_name.stderr) == (0, "")
    assert json.loads(by_name.stdout)["hookSpecificOutput"]["hookEventName"] == "SessionStart"
