"""The events stand in four places; whoever adds one finds the others here."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from hooks.context.branch import EDITS
from hooks.dispatch import EVENTS
from scripts.install_plan import stanza
from tests.support.run_hook import ROOT

PYTHON, CLONE = "/usr/bin/python3.11", "/opt/brainhooks"


def load(name: str) -> dict[str, Any]:
    return dict(json.loads((ROOT / name).read_text(encoding="utf-8")))


def test_the_example_is_what_install_writes(tmp_path):
    clone = tmp_path / "clone"  # a name that needs no quotes, wherever the real one lies
    clone.symlink_to(ROOT)
    written = json.dumps(stanza(PYTHON, str(clone))).replace(str(clone), CLONE)
    assert load("settings.example.json") == {"hooks": json.loads(_listed(written))}


def _listed(groups: str) -> str:
    return json.dumps({event: [group] for event, group in json.loads(groups).items()})


def test_plugin_example_and_dispatch_know_the_same_events_in_the_same_order():
    plugin, example = (
        load(name)["hooks"] for name in ("hooks/hooks.json", "settings.example.json")
    )
    assert list(plugin) == list(example) == list(EVENTS)


def test_every_entry_states_a_timeout_and_starts_its_own_event():
    for name in ("hooks/hooks.json", "settings.example.json"):
        for event, groups in load(name)["hooks"].items():
            (entry,) = groups[0]["hooks"]
            assert entry["type"] == "command"
            assert 0 < entry["timeout"] <= 60, "seconds, not milliseconds"
            assert f" {event}" in entry["command"]
    assert load("hooks/hooks.json")["hooks"]["MessageDisplay"][0]["hooks"][0]["timeout"] == 2


MCP = {"mcp__github__create_pull_request", "mcp__files__write"}
CARED_FOR = {
    "PreToolUse": {"Bash", "Read", "WebFetch", *MCP},  # a known read; what may be denied
    "PostToolUse": {"Bash", "Read", "WebFetch", *MCP, *EDITS},
}
OTHERS = {"BashOutput", "ReadMcpResourceTool", "TodoWrite", "Glob", "Grep", "Agent", "mcp"}
TOOLS = {*OTHERS, *EDITS, *CARED_FOR["PostToolUse"]}


def started(event: str) -> set[str]:
    """As the client reads a matcher with other signs than a name has: a pattern, searched for."""
    (group,) = load("hooks/hooks.json")["hooks"][event]
    return {tool for tool in TOOLS if re.search(group.get("matcher", ""), tool)}


@pytest.mark.parametrize("event", CARED_FOR)
def test_a_process_starts_for_the_tools_that_a_guard_cares_for_and_for_no_other(event):
    assert started(event) == CARED_FOR[event]


def test_every_failure_is_counted_and_what_may_be_denied_is_also_seen_to_succeed():
    """Otherwise a failure that was repaired long ago would still count for a denial."""
    assert started("PostToolUseFailure") == TOOLS
    assert started("PreToolUse") <= started("PostToolUse")


def test_no_matcher_stands_where_the_client_ignores_it():
    hooks = load("hooks/hooks.json")["hooks"]
    matched = {event for event, (group,) in hooks.items() if "matcher" in group}
    assert matched <= {"PreToolUse", "PostToolUse", "PostToolUseFailure"}


def test_the_plugin_and_the_distribution_have_one_version():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plugin = load(".claude-plugin/plugin.json")
    assert (plugin["name"], plugin["version"]) == (project["name"], project["version"])
    listed, served = load(".claude-plugin/marketplace.json")["plugins"]
    assert (listed["name"], listed["source"]) == (plugin["name"], "./")
    assert (served["name"], served["source"]) == (f"{plugin['name']}-server", "./server")
