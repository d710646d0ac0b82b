from __future__ import annotations

import json
import re

import pytest

from scripts.app import run
from scripts.commands import COMMANDS
from tests.support.run_cli import start_cli
from tests.support.run_hook import ROOT

VERSION = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]

# pydantic is typer's own way to read arguments
HEAVY = {"redis", "platformdirs", "rich", "asyncio", "logging", "http.client"}


def test_help_names_every_command_and_imports_none_of_them(home):
    done = start_cli("--help", home=home)
    assert done.returncode == 0
    for name in COMMANDS:
        assert f"  {name} " in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, capsys):
    with pytest.raises(SystemExit) as ended:
        run([name, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"Usage: brainhooks {name}")


@pytest.mark.parametrize(
    "args",
    [
        ["frobnicate"],
        ["--frobnicate"],
        ["brain_status", "extra"],
        ["receipts", "--limit", "x"],
        ["memory", "maybe"],
        ["accept", "a", "b"],
        ["project", "frobnicate"],
    ],
    ids=" ".join,
)
def test_wrong_words_are_usage_exit_2_and_change_nothing(home, args):
    done = start_cli(*args, home=home)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert not home.exists()


def test_wrong_words_of_a_verb_come_with_its_usage_for_the_shell(home):
    done = start_cli("memory", "maybe", home=home)
    assert done.stderr.split("\n")[:2] == [
        "memory: 'maybe' is not understood here",
        "  hint: brainhooks memory on|off [--session|--project] [--for 2h]",
    ]


def test_an_error_is_a_sentence_and_a_hint_without_a_traceback(home):
    home.mkdir()
    (home / "settings.json").write_text("[]", encoding="utf-8")
    done = start_cli("lessons", home=home)
    assert done.returncode == 1
    assert done.stderr.startswith("settings.json is ")
    assert "\n  hint: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("function", ["main", "brain_status"])
def test_brain_status_has_a_console_script_of_its_own(home, project, function):
    args = ["brain_status"] if function == "main" else []
    done = start_cli(*args, "--json", home=home, cwd=project, function=function)
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout)
    assert status["level"] == "green"
    assert status["project"]["id"] == "git.example.org/shop/web"
    assert not home.exists()


def test_brain_status_exits_1_when_something_needs_a_person(home):
    home.mkdir()
    (home / "installation.json").write_bytes(b"")
    done = start_cli("brain_status", home=home)
    assert done.returncode == 1
    assert "installation.json cannot be used" in done.stdout


def test_the_words_behind_a_verb_reach_it_unchanged(home):
    done = start_cli("memory", "off", "--for", "2h", home=home)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Memory is off for everything on this installation, until ")
    assert (home / "memory-switch.json").exists()
    assert start_cli("memory", "on", home=home).stdout == "Memory is on here.\n"


def test_a_verb_in_an_agents_shell_knows_the_session(home):
    outside = start_cli("memory", "off", "--session", home=home)
    assert outside.returncode == 1
    assert outside.stderr.startswith("there is no session here")

    env = {"CLAUDE_CODE_SESSION_ID": "abc"}
    inside = start_cli("memory", "off", "--session", home=home, env=env)
    assert inside.stdout.startswith("Memory is off for this session, until you switch it on")
    assert start_cli("memory", home=home).stdout == "Memory is on here.\n"


def test_a_folder_removed_under_the_shell_is_no_traceback(home, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os; os.rmdir({str(gone)!r})"
    done = start_cli("whoami", home=home, cwd=gone, before=code)
    assert done.returncode == 0, done.stderr
    assert "unknown" in done.stdout


def test_no_command_loads_what_it_does_not_need(home):
    code = "import atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    done = start_cli("whoami", home=home, before=code)
    loaded = set(done.stderr.split())
    assert "typer" in loaded
    assert not HEAVY & loaded
    assert "scripts.commands.receipts" not in loaded
    assert "sqlite3" not in loaded


def test_the_version_is_said(home):
    done = start_cli("--version", home=home)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"brainhooks {VERSION}\n"


def test_the_plugin_and_the_package_have_one_version():
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    assert plugin["version"] == VERSION


def test_a_relative_home_is_refused_and_makes_nothing(home, project):
    done = start_cli("remember", "x", home=home, cwd=project, env={"AGENTIHOOKS_HOME": "memory/x"})
    assert done.returncode == 1
    assert "AGENTIHOOKS_HOME is 'memory/x'; it must be the absolute path" in done.stderr
    assert not (project / "memory").exists()
