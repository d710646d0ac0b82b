"""Checks of the server door: whether the agent's client bears it, and whether it may be started.

Looked at before anybody asks for it too: a client that is too old says nothing, and runs no hook
at all of a plugin with that door.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from scripts.doctor import Finding
from scripts.doctor.agent import SERVED_PLUGIN, plugins, read_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.doctor import Look

SERVER = "plugin:brainhooks:door"
LEAST = (2, 1, 120)  # seen to work; 2.1.117 drops every hook of such a plugin
WAITS = (2, 1, 332)  # seen to hold an event until the server is there; 2.1.200 does not
_TIMEOUT_S = 20
_INSTEAD = (
    "update the client, or take the other door:"
    f" claude plugin uninstall {SERVED_PLUGIN}@brainhooks,"
    " then claude plugin install brainhooks@brainhooks"
)


def bears(look: Look) -> Iterator[Finding]:
    """The client's version against those that bear the door, whether it was asked for or not."""
    copies = [one for one in plugins(look) if one.partition("@")[0] == SERVED_PLUGIN]
    version = client_version(look)
    if version is None:
        if copies:
            what = f"whether the client bears the server door of {copies[0]} could not be asked"
            todo = f"it takes {_text(LEAST)} or newer: claude --version"
            yield Finding("note", what, todo)
    elif version < LEAST:
        yield _too_old(version, copies)
    elif version < WAITS:
        what = f"the client {_text(version)} does not wait for the server door to be there"
        todo = f"a session's first tools may go unseen; {_text(WAITS)} waits"
        yield Finding("note", what, todo)
    else:
        yield Finding("ok", f"the client {_text(version)} bears the server door")
    yield from _denied(look, copies)


def _too_old(version: tuple[int, ...], copies: list[str]) -> Finding:
    if copies:
        what = f"the client {_text(version)} runs no hook at all of the plugin {copies[0]}"
        return Finding("fail", f"{what}: it knows no server door", _INSTEAD)
    what = f"the client {_text(version)} does not bear the server door"
    return Finding("note", what, f"update it to {_text(LEAST)} or newer before asking for that")


def _denied(look: Look, copies: list[str]) -> Iterator[Finding]:
    for path in look.settings_files:
        rows = read_settings(path).get("deniedMcpServers")
        names = [row.get("serverName") for row in rows or () if isinstance(row, dict)]
        if copies and SERVER in names:
            what = f"{path} denies the server {SERVER}: no tool's event is seen"
            yield Finding("fail", what, f"take it out of deniedMcpServers, or {_INSTEAD}")


def client_version(look: Look) -> tuple[int, ...] | None:
    """Ask the client that a shell would start; None where there is none or it does not say."""
    binary = shutil.which("claude", path=look.env.get("PATH", ""))
    if binary is None:
        return None
    try:
        done = subprocess.run(
            [binary, "--version"],
            env=dict(look.env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    found = re.match(r"(\d+)\.(\d+)\.(\d+)\b", done.stdout)
    return tuple(map(int, found.groups())) if found else None


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
