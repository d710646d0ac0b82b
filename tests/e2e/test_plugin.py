"""Every way to install it, alone and together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.client import Client

LESSON = "the staging database is reset every night"
MARKED = f"Done. <!-- @lesson severity=high -->{LESSON}<!-- @/lesson -->"


def install(client: Client, *args: str) -> None:
    done = client.shell(*args)
    assert done.returncode == 0, done.stdout + done.stderr


def round_trip(client: Client, api) -> None:
    """One lesson goes round, once: kept once, told once, said to the person once."""
    api.says(MARKED)
    first = client.run("please look around")
    assert first.message("Stop").count(LESSON) == 1
    client.run("and again")
    assert api.requests()[-1].text.count(LESSON) == 1
    assert client.verb("lessons").count(LESSON) == 1


@pytest.mark.parametrize("what", ["plugin", "marketplace"])
def test_it_passes_the_strict_validator(client, plugin, what):
    path = plugin / ".claude-plugin" / f"{what}.json"
    done = client.cli("plugin", "validate", "--strict", str(path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_folder_as_a_whole_passes_the_strict_validator(client, plugin):
    done = client.cli("plugin", "validate", "--strict", str(plugin))
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_command_of_the_menu_is_one_of_ours(client, plugin):
    init = next(e for e in client.run("hello").events if e.get("subtype") == "init")
    ours = {name for name in init["slash_commands"] if name.startswith("brainhooks:")}
    assert ours == {f"brainhooks:{path.stem}" for path in (plugin / "commands").glob("*.md")}
    assert "brainhooks:forget" in ours
    assert not init.get("plugin_errors")


@pytest.mark.parametrize("where", ["--user", "--project"])
@pytest.mark.parametrize("plugin_too", [False, True])
def test_installed_in_the_settings_the_menu_has_every_verb_once(client, plugin, where, plugin_too):
    client.plugin = plugin if plugin_too else None
    install(client, "install", where)
    assert verbs_of(client) == sorted(path.stem for path in (plugin / "commands").glob("*.md"))
    install(client, "uninstall", where)
    assert bool(verbs_of(client)) is plugin_too


def verbs_of(client: Client) -> list[str]:
    init = next(e for e in client.run("hello").events if e.get("subtype") == "init")
    names = [name.partition(":") for name in init["slash_commands"]]
    return sorted(verb for owner, _, verb in names if owner == "brainhooks")


@pytest.fixture
def installed(client, plugin) -> Client:
    """The plugin through its own marketplace, as README says, and no --plugin-dir."""
    installed_from(client, plugin)
    return client


def test_installed_through_the_marketplace_it_makes_the_round_trip(installed, api):
    round_trip(installed, api)


def test_uninstalling_the_plugin_as_readme_says_leaves_the_memories_only(installed, api):
    round_trip(installed, api)
    for command in ("uninstall", "brainhooks@brainhooks"), ("marketplace", "remove", "brainhooks"):
        done = installed.cli("plugin", *command)
        assert done.returncode == 0, done.stdout + done.stderr
    assert verbs_of(installed) == []
    settings = json.loads((installed.home / ".claude" / "settings.json").read_text())
    assert not any(settings.values())
    installed.run("without it")
    assert LESSON not in api.requests()[-1].text
    assert installed.verb("lessons").count(LESSON) == 1


def test_what_is_pulled_into_the_clone_runs_in_the_next_session(client, tmp_path, plugin):
    installed_from(client, shutil.copytree(plugin, tmp_path / "clone"))
    (tmp_path / "clone" / "commands" / "new.md").write_text("---\ndescription: New\n---\nNew.\n")
    assert "new" in verbs_of(client)


def test_a_clone_that_is_gone_is_said_by_the_doctor(client, tmp_path, plugin):
    installed_from(client, shutil.copytree(plugin, tmp_path / "clone"))
    assert "plugin folder" not in client.verb("doctor")
    (tmp_path / "clone").rename(tmp_path / "moved")
    assert verbs_of(client) == [], "the client loads it from its copy by now"
    assert f"{tmp_path}/clone, which is gone: nothing is remembered" in client.verb("doctor")
    done = client.cli("plugin", "marketplace", "add", str(tmp_path / "moved"))
    assert done.returncode == 0, done.stderr
    assert "lessons" in verbs_of(client)
    assert "which is gone" not in client.verb("doctor")


def installed_from(client: Client, clone: Path, name: str = "brainhooks") -> None:
    for args in (["marketplace", "add", str(clone)], ["install", f"{name}@brainhooks"]):
        done = client.cli("plugin", *args)
        assert done.returncode == 0, done.stdout + done.stderr
    client.plugin = None


def test_installed_in_the_settings_it_makes_the_round_trip(client, api):
    client.plugin = None
    install(client, "install", "--user")
    round_trip(client, api)


def test_plugin_and_settings_together_inject_once_and_capture_once(client, api):
    install(client, "install", "--user")
    round_trip(client, api)


def test_plugin_and_settings_together_answer_every_verb_with_the_same_words(client, api):
    install(client, "install", "--user")
    for number in range(5):  # which of the two is shown is chance
        asked = (f"remember {LESSON} {number}", "lessons", "accept", "nonsense")
        for verb, said in zip(
            asked, ("Remembered", LESSON, "Nothing waits", "has no"), strict=True
        ):
            answer = client.run(f"/brainhooks:{verb}")
            assert said in answer.text
            replies = [hook["stdout"] for hook in answer.hooks("UserPromptSubmit")]
            assert len(set(replies)) == 1, "the client shows either of them"
    assert api.requests() == []


def test_after_uninstall_nothing_runs(client, api):
    client.plugin = None
    install(client, "install", "--user")
    install(client, "uninstall", "--user")
    api.says(MARKED)
    client.run("please look around")
    assert not (client.memory / "brain").exists()
    assert client.files_with(LESSON) == []


def test_in_ci_nothing_is_injected_captured_or_written(client, api):
    client.extra = {"CI": "true"}
    api.says(MARKED)
    client.run("please look around")
    assert not client.memory.exists()
