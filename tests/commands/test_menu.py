"""The slash commands that an installation in the settings writes, and takes back again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from hooks.verbs import VERBS
from scripts.menu import texts
from tests.support.run_cli import run_cli
from tests.support.run_hook import ROOT

NAMES = {path.name for path in (ROOT / "commands").glob("*.md")}


@pytest.fixture
def menu(home) -> Path:
    return home.parent / ".claude" / "commands" / "brainhooks"


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_install_writes_a_file_per_verb_and_uninstall_removes_all(home, menu):
    done = run_cli("install", home=home)
    assert f"The menu has /brainhooks:<verb> now: {menu}" in done.stdout
    assert set(files(menu)) == NAMES
    assert {f"{verb}.md" for verb in VERBS} <= NAMES
    again = run_cli("install", home=home)
    assert "nothing was changed" in again.stdout
    done = run_cli("uninstall", home=home)
    assert "The menu has our verbs no longer" in done.stdout
    assert not (home.parent / ".claude").exists()
    assert not (home / "installs").exists()


def test_the_files_name_this_folder_and_no_variable_of_the_plugin(home, menu):
    run_cli("install", home=home)
    text = "".join(files(menu).values())
    assert "CLAUDE_PLUGIN" not in text
    assert f"{ROOT}/hooks/__main__.py verb lessons" in text


def test_an_interpreter_with_a_blank_in_its_path_is_one_word(tmp_path):
    text = texts(str(ROOT), "/opt/a b/python3")["lessons.md"].decode()
    assert "'/opt/a b/python3' -I -S " in text
    assert "allowed-tools: Bash\n" in text


def test_what_the_person_wrote_or_edited_is_kept_and_named(home, menu):
    menu.mkdir(parents=True)
    own = menu / "lessons.md"
    own.write_text("mine", encoding="utf-8")
    said = run_cli("install", home=home).stdout
    assert f"{own} is not as brainhooks wrote it" in said
    edited = menu / "forget.md"
    edited.write_text(edited.read_text(encoding="utf-8") + "and more\n", encoding="utf-8")
    (menu / "other.md").write_text("theirs", encoding="utf-8")
    said = run_cli("uninstall", home=home).stdout
    assert f"{edited} is not as brainhooks wrote it" in said
    assert set(files(menu)) == {"lessons.md", "forget.md", "other.md"}
    assert own.read_text(encoding="utf-8") == "mine"


def test_an_upgrade_replaces_what_is_as_it_was_written_and_drops_what_is_gone(home, menu):
    run_cli("install", home=home)
    (record,) = (home / "installs").glob("*.menu.json")
    known = json.loads(record.read_text(encoding="utf-8"))
    older, gone = menu / "lessons.md", menu / "gone.md"
    for path in (older, gone):
        path.write_text("an older version's", encoding="utf-8")
        digest = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True)
        known["files"][str(path)] = [digest.stdout.split()[0]]
    record.write_text(json.dumps(known), encoding="utf-8")
    assert "The menu has" in run_cli("install", home=home).stdout
    assert set(files(menu)) == NAMES
    assert "older" not in older.read_text(encoding="utf-8")


def test_without_the_record_what_is_word_for_word_ours_still_goes(home, menu):
    run_cli("install", home=home)
    (record,) = (home / "installs").glob("*.menu.json")
    record.write_bytes(b"{")
    run_cli("uninstall", home=home)
    assert not menu.exists()


def test_a_dry_run_names_the_files_and_writes_none(home, menu):
    done = run_cli("install", "--dry-run", home=home)
    assert f"would write {menu}/lessons.md" in done.stdout
    assert not menu.exists()
    run_cli("install", home=home)
    done = run_cli("uninstall", "--dry-run", home=home)
    assert f"would remove {menu}/lessons.md" in done.stdout
    assert set(files(menu)) == NAMES


def test_a_projects_menu_is_the_projects_and_invisible_to_git(home, project):
    menu = project / ".claude" / "commands" / "brainhooks"
    exclude = project / ".git" / "info" / "exclude"
    before = exclude.read_bytes()
    done = run_cli("install", "--project", home=home, cwd=project)
    assert done.returncode == 0, done.stderr
    assert set(files(menu)) == NAMES
    status = ["git", "-C", str(project), "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""
    run_cli("uninstall", "--project", home=home, cwd=project)
    assert not (project / ".claude").exists()
    assert exclude.read_bytes() == before


def test_a_settings_file_in_one_long_line_is_shown_readably(home):
    settings = home.parent / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model":"opus"}', encoding="utf-8")
    done = run_cli("install", "--dry-run", home=home)
    assert max(len(line) for line in done.stdout.splitlines()) < 300
    assert '+    "SessionStart": [' in done.stdout
    assert settings.read_text(encoding="utf-8") == '{"model":"opus"}'
