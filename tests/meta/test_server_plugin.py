"""The plugin with the server door is the other plugin, but for the four events of its server."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hooks.server import SERVED, TOOL
from tests.support.run_hook import ROOT, agent_env, recorded
from tools.server_plugin import FOLDER, SERVER, TIMEOUTS, files


def load(name: str) -> dict:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def entries(name: str) -> list[tuple[str, str, dict]]:
    return [
        (event, group.get("matcher", ""), entry)
        for event, groups in load(name)["hooks"].items()
        for group in groups
        for entry in group["hooks"]
    ]


@pytest.mark.parametrize("name", files())
def test_what_stands_elsewhere_too_is_the_same_here(name):
    found = FOLDER / name
    held = found.read_text(encoding="utf-8") if found.exists() else ""
    assert held == files()[name], "run python -m tools.server_plugin"


def test_it_has_no_file_that_is_not_meant_for_it():
    kept = {
        "hooks/hooks.json",
        "hooks/__main__.py",
        "hooks/launch.sh",
        ".claude-plugin/plugin.json",
    }
    here = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}
    assert {name for name in here if "__pycache__" not in name} == kept | set(files())
    assert (FOLDER / "hooks" / "launch.sh").read_bytes() == (ROOT / "hooks/launch.sh").read_bytes()


def test_every_event_goes_one_way_and_the_same_tools_are_looked_at():
    plain, served = entries("hooks/hooks.json"), entries("server/hooks/hooks.json")
    assert [row[:2] for row in plain] == [row[:2] for row in served]
    for (event, _, by_process), (_, _, entry) in zip(plain, served, strict=True):
        if event in SERVED:
            assert (entry["type"], entry["server"], entry["tool"]) == ("mcp_tool", SERVER, TOOL)
            assert entry["timeout"] == TIMEOUTS[event] <= 2
            assert entry["input"]["event"] == event
        else:
            assert entry == by_process


def test_the_plugins_differ_in_the_server_alone():
    served, plain = load("server/.claude-plugin/plugin.json"), load(".claude-plugin/plugin.json")
    servers = served.pop("mcpServers")
    assert served == plain
    assert [f"plugin:{plain['name']}:{name}" for name in servers] == [SERVER]


def test_who_does_not_ask_for_it_starts_no_server():
    assert "mcpServers" not in load(".claude-plugin/plugin.json")
    assert not (ROOT / ".mcp.json").exists()
    assert {entry["type"] for _, _, entry in entries("hooks/hooks.json")} == {"command"}


def start(root, *words: str, given: bytes, home) -> subprocess.CompletedProcess[bytes]:
    entry = str(root / "hooks" / "__main__.py")
    return subprocess.run(
        [sys.executable, "-I", "-S", entry, *words],
        input=given,
        env=agent_env(home),
        cwd=home.parent,
        capture_output=True,
        check=False,
    )


def test_the_server_starts_as_the_plugin_says_also_in_a_folder_with_an_odd_name(home, tmp_path):
    clone = tmp_path / 'a "clone" of $HOME'
    clone.symlink_to(ROOT)
    door = load("server/.claude-plugin/plugin.json")["mcpServers"]["door"]
    args = [arg.replace("${CLAUDE_PLUGIN_ROOT}", str(clone / "server")) for arg in door["args"]]
    done = subprocess.run(
        [door["command"], *args],
        input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        env=agent_env(home),
        cwd=home.parent,
        capture_output=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b'{"jsonrpc":"2.0","id":1,"result":{}}\n', b"")


def test_the_other_events_and_verbs_of_the_menu_start_from_its_folder(home):
    given = json.dumps(recorded("UserPromptSubmit", prompt="/brainhooks:whoami")).encode()
    done = start(FOLDER, "UserPromptSubmit", given=given, home=home)
    assert json.loads(done.stdout)["decision"] == "block"
    assert start(FOLDER, "verb", "whoami", given=b"", home=home).returncode == 0


def test_copied_out_of_its_clone_it_says_so_once_a_session(home, tmp_path):
    (tmp_path / "copy" / "hooks").mkdir(parents=True)
    (tmp_path / "copy" / "hooks" / "__main__.py").write_bytes(
        (FOLDER / "hooks" / "__main__.py").read_bytes()
    )
    said = start(tmp_path / "copy", "SessionStart", given=b"{}", home=home)
    assert "clone" in json.loads(said.stdout)["systemMessage"]
    assert (said.returncode, said.stderr) == (0, b"")
    for word in ("Stop", "server"):
        quiet = start(tmp_path / "copy", word, given=b"{}", home=home)
        assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, b"", b"")
