"""The tools' events and the display by a server of the plugin's own, in place of a process each."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.e2e.test_plugin import installed_from, round_trip, verbs_of

SERVER = "plugin:brainhooks:door"
MARKED = "Done. <!-- @lesson -->the staging database is reset<!-- @/lesson -->"
FAILING = {"tool": "Bash", "input": {"command": "echo 'error: no such table' >&2; exit 3"}}
FAILURES = 5  # from here on the agent is told


@pytest.fixture
def served(client, plugin):
    """The person has asked for the server: ``--plugin-dir`` of its folder in the clone."""
    client.plugin = plugin / "server"
    return client


def init_of(answer) -> dict:
    return next(e for e in answer.events if e.get("subtype") == "init")


def servers_of(home: Path) -> list[int]:
    """The server processes of the person with that home."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            env = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"server" in words and f"HOME={home}".encode() in env:
            found.append(int(folder.name))
    return found


def test_the_plugin_with_the_server_passes_the_strict_validator(served, plugin):
    done = served.cli("plugin", "validate", "--strict", str(plugin / "server"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_who_did_not_ask_for_it_has_no_server(client):
    assert init_of(client.run("hello"))["mcp_servers"] == []


def test_installed_through_the_marketplace_it_is_the_same_plugin(client, api, plugin):
    installed_from(client, plugin, name="brainhooks-server")
    assert verbs_of(client) == sorted(path.stem for path in (plugin / "commands").glob("*.md"))
    round_trip(client, api)
    client.extra = {"PATH": os.pathsep.join([client.env["PATH"], str(client.binary.parent)])}
    looked = client.shell("doctor", "--json").stdout
    assert "the hooks are started by brainhooks-server@brainhooks" in looked
    assert "bears the server door" in looked


def test_a_command_that_fails_again_and_again_is_told_and_nothing_else_is(served, api):
    for _ in range(FAILURES):
        api.says(FAILING)
    answer = served.run("set it up")
    assert [one["name"] for one in init_of(answer)["mcp_servers"]] == [SERVER]
    told = [request.text.count("Stop repeating") for request in api.requests()]
    assert told[-1] >= 1, api.requests()[-1].text
    assert not any(told[:-1])
    assert servers_of(served.home) == []


def test_a_marker_is_shown_as_what_it_is(served, api):
    api.says(MARKED)
    answer = served.run("please look around")
    assert "◆ lesson: the staging database is reset" in answer.text
    assert "@lesson" not in answer.text


def test_a_server_that_is_killed_is_started_again_and_has_forgotten_nothing(served, api):
    killed = []

    def kill_and_fail(_request):
        for pid in servers_of(served.home):
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)
        return [FAILING]

    for _ in range(FAILURES):
        api.does(kill_and_fail)
    served.run("set it up")
    assert len(set(killed)) >= 2, "it was not started again"
    assert "Stop repeating" in api.requests()[-1].text
    for failure in taken_failures(served):
        assert failure["type"] == "hook_non_blocking_error"
        assert "onnection closed" in failure["stderr"]


def test_without_its_server_every_tool_runs_and_the_rest_of_the_plugin_works(
    client, api, tmp_path, plugin
):
    clone = shutil.copytree(plugin, tmp_path / "clone")
    manifest = clone / "server" / ".claude-plugin" / "plugin.json"
    document = json.loads(manifest.read_text())
    document["mcpServers"]["door"] |= {"command": str(tmp_path / "absent")}
    manifest.write_text(json.dumps(document))
    client.plugin = clone / "server"
    api.says({"tool": "Bash", "input": {"command": "echo it ran"}})
    api.says(MARKED)
    answer = client.run("set it up")
    assert "it ran" in api.requests()[-1].text
    assert "the staging database is reset" in answer.message("Stop")
    failures = taken_failures(client)
    assert {failure["hookEvent"] for failure in failures} == {"PreToolUse", "PostToolUse"}
    assert {failure["type"] for failure in failures} == {"hook_non_blocking_error"}


def taken_failures(client) -> list[dict]:
    """What the client noted as failed; it is looked at here, and not once more afterwards."""
    failures = client.hook_errors()
    shutil.rmtree(client.home / ".claude" / "projects")
    return failures
