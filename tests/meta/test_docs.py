"""README and the menu say what the code does: settings, verbs, commands, targets."""

from __future__ import annotations

import re

import pytest

from hooks.settings import TABLE
from hooks.verbs import VERBS
from scripts.commands import COMMANDS
from tests.support.run_hook import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([A-Z_]+)` \| (?:`(.*?)` )?\| (.*) \|$", re.MULTILINE)
FIRST_SCREEN = 40  # lines


def test_the_table_of_settings_is_the_one_in_the_code():
    written = {name: (default, line) for name, default, line in ROW.findall(README)}
    assert list(written) == list(TABLE), "run: python -m tools.settings_table"
    assert written == TABLE, "run: python -m tools.settings_table"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_in_readme_and_in_the_menu(verb):
    assert re.search(rf"^\| `{verb}[ `]", README, re.MULTILINE)
    menu = (ROOT / "commands" / f"{verb}.md").read_text(encoding="utf-8")
    assert re.match(r"---\n(?:.*\n)*description: .+\n(?:.*\n)*---\n", menu)


def test_the_menu_has_nothing_but_verbs():
    """Every Markdown file in commands/ becomes a slash command, a README too."""
    assert {path.stem for path in (ROOT / "commands").iterdir()} == set(VERBS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_is_in_readme(command):
    assert COMMANDS[command].line
    assert re.search(rf"`(?:brainhooks )?{command}[ `]", README), f"README does not name {command}"


def test_the_first_screen_is_free_of_what_most_users_never_need():
    first = "\n".join(README.splitlines()[:FIRST_SCREEN])
    rare = [*TABLE, "swarm", "Redis", "ledger", "outbox", "namespace", "SQLite", "hash"]
    assert [word for word in rare if word in first] == []
    assert "make demo" in first
    assert "plugin install" in first


def test_every_target_and_file_that_the_documents_name_exists():
    targets = set(re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert set(re.findall(r"`make ([a-z0-9]+)", text)) <= targets
        for path in re.findall(r"`((?:hooks|scripts|tests|docs|tools|bench|demo)/[\w./-]+)`", text):
            assert (ROOT / path).exists(), f"{name} names {path}, which is not there"


def test_ci_runs_only_what_readme_tells():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (targets,) = re.findall(r"^for target in (.*); do$", script, re.MULTILINE)
    assert targets.split() == ["test", "fuzz", "check", "e2e"]
    assert all(f"`make {target}`" in README for target in targets.split())


def test_the_changelog_has_the_version_that_is_built():
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{version[1]}]" in changelog or "## [Unreleased]" in changelog
