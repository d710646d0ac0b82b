"""The server door as the agent's client has it: a process, a line for each message."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.support.run_hook import ROOT, agent_env

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LISTED = json.loads((ROOT / "server" / "hooks" / "hooks.json").read_text(encoding="utf-8"))
ENTRIES: dict[str, dict[str, Any]] = {
    event: entry
    for event, groups in LISTED["hooks"].items()
    for group in groups
    for entry in group["hooks"]
    if entry["type"] == "mcp_tool"
}


def filled(template: object, payload: Mapping[str, object]) -> object:
    """Fill ``${name}`` in as the client does: each field is a text, an absent one "" too."""
    if isinstance(template, dict):
        return {name: filled(value, payload) for name, value in template.items()}
    if not isinstance(template, str) or not template.startswith("${"):
        return template
    value = payload.get(template[2:-1])
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Door:
    """One server process. ``call`` gives it an event by the template that the plugin has."""

    def __init__(self, home: Path, env: Mapping[str, str] | None = None) -> None:
        entry = str(ROOT / "hooks" / "__main__.py")
        home.parent.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", entry, "server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**agent_env(home), **(env or {})},
            cwd=home.parent,
        )
        self.asked = 0

    def __enter__(self) -> Door:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            try:
                pipe.close()
            except BrokenPipeError:  # what nobody reads any more
                pass

    def write(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert answer["jsonrpc"] == "2.0"
        return answer

    def request(self, method: str, params: object = None) -> dict[str, Any]:
        self.asked += 1
        self.send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        answer = self.read()
        assert answer["id"] == self.asked
        return answer

    def begin(self, version: str = "2025-06-18") -> dict[str, Any]:
        """Shake hands; return what the server says of itself."""
        found: dict[str, Any] = self.request(
            "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}}
        )["result"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return found

    def call(self, event: str, payload: Mapping[str, object]) -> dict[str, Any]:
        """Return what the hook says of the event."""
        return self.tool(filled(ENTRIES[event]["input"], payload))

    def tool(self, arguments: object, name: str = "hook") -> dict[str, Any]:
        answer = self.request("tools/call", {"name": name, "arguments": arguments})
        assert answer["result"].keys() == {"content"}, answer
        (block,) = answer["result"]["content"]
        assert block["type"] == "text"
        found: dict[str, Any] = json.loads(block["text"])
        return found

    def ended(self) -> tuple[int, bytes, str]:
        """Close its input and return its exit code and the rest of what it wrote."""
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err.decode()

    def open_files(self) -> int:
        """Count them between two events."""
        self.request("ping")  # what follows an answer is over when the next message is read
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))
