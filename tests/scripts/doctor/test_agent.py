"""Doctor's look at the agent's side: settings, plugin, retention, the agent's own memory."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from scripts.doctor import Look
from scripts.doctor.agent import (
    complete,
    events,
    loaded,
    menu,
    native_memory,
    readable,
    registered,
    retention,
    switched_off,
)
from scripts.install_plan import stanza
from tests.support.run_hook import ROOT

HOOKS = {e: [group] for e, group in stanza("/usr/bin/python3.11", str(ROOT)).items()}
PLUGIN = {"brainhooks@market": True}
KNOWN = ".claude/plugins/known_marketplaces.json"
USER, PROJECT, LOCAL = (
    ".claude/settings.json",
    "p/.claude/settings.json",
    "p/.claude/settings.local.json",
)


@pytest.fixture
def look(tmp_path, noon) -> Look:
    (tmp_path / "p" / ".git").mkdir(parents=True)
    env = {"HOME": str(tmp_path), "AGENTIHOOKS_HOME": str(tmp_path / "agentihooks")}
    return Look(env, noon, str(tmp_path / "p"), str(ROOT))


def put(look: Look, name: str, **settings: Any) -> Path:
    path = Path(look.env["HOME"], name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\ufeff" + json.dumps(settings), encoding="utf-8")
    return path


def ran(look: Look, *names: str, ago: timedelta = timedelta()) -> None:
    folder = Path(look.home, "brain", "last-run")
    folder.mkdir(parents=True)
    at = (look.at - ago).timestamp()
    for name in names:
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (at, at))


def test_the_settings_that_hold_are_those_of_project_and_profile(look):
    home = look.env["HOME"]
    assert look.settings_files == [f"{home}/{name}" for name in (LOCAL, PROJECT, USER)]
    other = look._replace(env={**look.env, "CLAUDE_CONFIG_DIR": "/other"})
    assert other.settings_files[-1] == "/other/settings.json"
    at_home = look._replace(cwd=home)
    assert at_home.settings_files == [f"{home}/.claude/settings.local.json", f"{home}/{USER}"]


@pytest.mark.parametrize(
    ("files", "level", "says"),
    [
        pytest.param({}, "warn", "no settings of the agent", id="nothing"),
        pytest.param({USER: {"hooks": HOOKS}}, "ok", USER, id="install"),
        pytest.param({LOCAL: {"hooks": HOOKS}}, "ok", LOCAL, id="project install"),
        pytest.param({USER: {"enabledPlugins": PLUGIN}}, "ok", "brainhooks@market", id="plugin"),
        pytest.param(
            {USER: {"hooks": HOOKS, "enabledPlugins": PLUGIN}},
            "warn",
            "and in the plugin",
            id="both",
        ),
        pytest.param(
            {USER: {"hooks": HOOKS}, LOCAL: {"hooks": HOOKS}}, "warn", " and in ", id="two installs"
        ),
        pytest.param(
            {USER: {"enabledPlugins": {**PLUGIN, "brainhooks@other": True}}},
            "warn",
            "enabled twice",
            id="two plugin copies",
        ),
        pytest.param(
            {
                USER: {"hooks": HOOKS, "enabledPlugins": PLUGIN},
                LOCAL: {"enabledPlugins": {"brainhooks@market": False}},
            },
            "ok",
            USER,
            id="plugin off in this project",
        ),
        pytest.param(
            {USER: {"enabledPlugins": {"other@market": True}, "hooks": {"Stop": 7}}},
            "warn",
            "no settings of the agent",
            id="only others",
        ),
    ],
)
def test_who_starts_the_hooks_is_said_and_twice_is_a_warning(look, files, level, says):
    put(look, KNOWN, market=directory(ROOT), other=directory(ROOT))
    for name, settings in files.items():
        put(look, name, **settings)
    found = list(registered(look))
    assert found[0].level == level
    assert says in found[0].what
    assert found[0].next or level == "ok"


def directory(path: Path) -> dict[str, Any]:
    return {"source": {"source": "directory", "path": str(path)}, "installLocation": str(path)}


def test_a_clone_that_was_moved_or_removed_after_a_plugin_install_is_said(look, tmp_path):
    put(look, USER, enabledPlugins=PLUGIN)
    put(look, KNOWN, market=directory(ROOT))
    assert list(loaded(look)) == []
    put(look, KNOWN, market=directory(tmp_path / "moved away"))
    (found,) = loaded(look)
    assert found.level == "fail"
    assert f"{tmp_path}/moved away, which is gone" in found.what
    assert "claude plugin marketplace add" in found.next
    assert list(registered(look)) == []


def test_a_marketplace_that_the_settings_declare_is_known(look, tmp_path):
    declared = {"market": {"source": {"source": "directory", "path": str(tmp_path / "gone")}}}
    put(look, USER, enabledPlugins=PLUGIN, extraKnownMarketplaces=declared)
    (found,) = loaded(look)
    assert "which is gone" in found.what


@pytest.mark.parametrize("known", [{}, {"market": 7}, {"market": {"source": {"source": "github"}}}])
def test_an_enabled_plugin_without_its_marketplace_is_said(look, known):
    put(look, USER, enabledPlugins=PLUGIN)
    put(look, KNOWN, **known)
    found = list(loaded(look))
    assert [one.level for one in found] == ([] if known else ["fail"])


def test_a_copy_with_what_make_made_is_mentioned(look, tmp_path):
    copy = tmp_path / "cache" / "0.1.0"
    (copy / ".venv").mkdir(parents=True)
    put(
        look,
        ".claude/plugins/installed_plugins.json",
        plugins={"brainhooks@market": [{"installPath": str(copy)}, 7], "other@x": []},
    )
    (found,) = loaded(look)
    assert (found.level, found.next.endswith(f"rm -rf {copy}/.venv")) == ("note", True)


@pytest.mark.parametrize(("name", "option"), [(USER, ""), (LOCAL, " --project")])
def test_an_install_without_its_menu_is_told_to_install_again(look, name, option):
    path = put(look, name, hooks=HOOKS)
    (found,) = menu(look)
    assert found.next == f"brainhooks install{option}"
    (path.parent / "commands" / "brainhooks").mkdir(parents=True)
    assert list(menu(look)) == []


@pytest.mark.parametrize(("name", "option"), [(USER, ""), (LOCAL, " --project")])
def test_an_install_of_a_version_without_some_events_is_told_to_install_again(look, name, option):
    put(look, name, hooks=HOOKS)
    assert list(complete(look)) == []
    later = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
    put(look, name, hooks={event: HOOKS[event] for event in HOOKS if event not in later})
    (found,) = complete(look)
    assert (found.level, found.next) == ("warn", f"brainhooks install{option}")
    assert found.what.endswith("nothing is started at PreToolUse, PostToolUse, PostToolUseFailure")
    put(look, name, hooks={})
    assert list(complete(look)) == []


def test_a_plugin_folder_of_one_session_leaves_only_the_run_itself(look):
    ran(look, "Stop")
    (found,) = registered(look)
    assert (found.level, "2026-11-30" in found.what) == ("note", True)
    (found,) = registered(look._replace(at=look.at + timedelta(days=8)))
    assert found.level == "warn"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1,}', "null"])
def test_settings_that_the_agent_cannot_read_are_a_failure(look, text):
    put(look, LOCAL).write_text(text, encoding="utf-8")
    (found,) = readable(look)
    assert (found.level, LOCAL in found.what) == ("fail", True)
    assert next(registered(look)).level == "warn"


def test_empty_settings_can_be_read(look):
    put(look, USER)
    assert not list(readable(look))


def test_hooks_that_are_switched_off_are_said(look):
    assert not list(switched_off(look))
    put(look, PROJECT, disableAllHooks=True)
    assert [found.level for found in switched_off(look)] == ["fail"]
    put(look, PROJECT, disableAllHooks=False)
    in_ci = look._replace(env={**look.env, "CI": "true"})
    assert [found.level for found in switched_off(in_ci)] == ["note"]
    assert not list(switched_off(in_ci._replace(env={**in_ci.env, "BRAINHOOKS_CI": "1"})))


@pytest.mark.parametrize(
    ("names", "level", "says"),
    [
        ((), "note", "no hook has run yet"),
        (("Stop", "UserPromptSubmit"), "warn", "SessionStart never ran"),
        (("Stop", "SessionStart"), "ok", "SessionStart, Stop"),
    ],
)
def test_registered_is_not_the_same_as_run(look, names, level, says):
    ran(look, *names)
    (found,) = events(look)
    assert (found.level, says in found.what) == (level, True)


@pytest.mark.parametrize(
    ("files", "warned"),
    [
        ({}, False),
        ({USER: 30}, False),
        ({USER: 3650}, False),
        ({USER: 7}, True),
        ({USER: 7, LOCAL: 90}, False),
        ({USER: 90, PROJECT: 1}, True),
        ({USER: "7"}, False),
    ],
)
def test_short_retention_of_transcripts_is_a_warning(look, files, warned):
    for name, days in files.items():
        put(look, name, cleanupPeriodDays=days)
    assert [found.level for found in retention(look)] == ["warn"] * warned


@pytest.mark.parametrize(
    ("settings", "env", "noted"),
    [
        ({}, {}, True),
        ({USER: False}, {}, False),
        ({USER: False, LOCAL: True}, {}, True),
        ({}, {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}, False),
        ({}, {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0"}, True),
    ],
)
def test_a_second_memory_is_noted_and_is_nobodys_fault(look, settings, env, noted):
    for name, on in settings.items():
        put(look, name, autoMemoryEnabled=on)
    found = list(native_memory(look._replace(env={**look.env, **env})))
    assert [each.level for each in found] == ["note"] * noted
