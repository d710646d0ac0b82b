"""Make the plugin in ``server/``: the other one's hooks, four of them by its server; its menu.

An event must never go both ways, so the two hooks files are never edited apart. The menu's files
are copies: the client does not follow a link out of a plugin's folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hooks.server import SERVED, TOOL

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "server"
SERVER = "plugin:brainhooks:door"
_COMMON = ("session_id", "transcript_path", "cwd", "prompt_id", "agent_id", "agent_type")
_TOOL = (*_COMMON, "tool_name", "tool_use_id", "tool_input")
FIELDS = {
    "PreToolUse": _TOOL,
    "PostToolUse": (*_TOOL, "tool_response"),
    "PostToolUseFailure": (*_TOOL, "error", "is_interrupt"),
    "MessageDisplay": (*_COMMON, "message_id", "index", "final", "delta"),
}
# Seconds; a hook without a timeout may hold a tool for minutes.
TIMEOUTS = dict.fromkeys(SERVED, 2) | {"MessageDisplay": 1}


def served(event: str) -> dict[str, Any]:
    """Return the entry that gives ``event`` to the server."""
    fields = {name: f"${{{name}}}" for name in FIELDS[event]}
    return {
        "type": "mcp_tool",
        "server": SERVER,
        "tool": TOOL,
        "input": {"event": event, **fields},
        "timeout": TIMEOUTS[event],
    }


def made(plain: dict[str, Any]) -> dict[str, Any]:
    """Return the file's content, made of that of ``hooks/hooks.json``."""
    events = {
        event: [{**group, "hooks": [served(event)]} for group in groups]
        if event in SERVED
        else groups
        for event, groups in plain["hooks"].items()
    }
    return {"description": plain["description"] + "; tools by a server", "hooks": events}


def files() -> dict[str, str]:
    """Return what ``server/`` has to hold of what stands elsewhere too, by its name there."""
    plain = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))
    menu = {
        f"commands/{path.name}": path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "commands").glob("*.md"))
    }
    return {"hooks/hooks.json": json.dumps(made(plain), indent=2) + "\n", **menu}


def main() -> None:
    for name, text in files().items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
