"""One printing process per occurrence of an event, however often the hook is installed.

Plugin and settings entry, or two copies of the plugin, run side by side within milliseconds.
Capturing twice is harmless (keys are idempotent); printing twice is not.
"""

from __future__ import annotations

import os

from hooks.atomic import make_folder
from scripts.swarm_v2.digest import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hooks.payload import Event

# Hooks of one event start together; a resume, a compaction or a clear needs at least a request
# in between. Only events that carry no id of their own fall back on this window.
TWINS_S = 5.0


def folder(home: str) -> str:
    return os.path.join(home, "brain", "claims")


def claim(home: str, event: Event, env: Mapping[str, str], at: datetime) -> bool:
    """Say whether this process answers this occurrence of ``event``; only the first one does.

    A home that cannot be written answers: a doubled note is better than none.
    """
    own = event.prompt_id if event.name == "UserPromptSubmit" else event.agent_id
    parts = (event.name, event.session_id, own or event.source, event.prompt if own else "")
    timed = "" if own else env.get("CLAUDE_PID", "")
    name = short_digest("\0".join((*parts, timed)).encode("utf-8", "replace"))
    path = os.path.join(folder(home), name)
    try:
        make_folder(folder(home))
        if not own:
            _forget_older(path, at)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    except OSError:
        return True
    return True


def _forget_older(path: str, at: datetime) -> None:
    try:
        if abs(at.timestamp() - os.stat(path).st_mtime) > TWINS_S:
            os.unlink(path)
    except FileNotFoundError:
        return
