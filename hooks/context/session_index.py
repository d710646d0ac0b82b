"""``project-sessions.jsonl``: which sessions there were, where, with which transcript.

One line a start; the newest line of a session wins. The worker keeps the newest 500 sessions.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.lock import held
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

MAX_SESSIONS = 500
MAX_BYTES = 8 << 20


class Entry(NamedTuple):
    """One session as its latest start described it."""

    session_id: str
    at: str
    project_id: str = ""
    project: str = ""
    cwd: str = ""
    worktree: str = ""
    transcript_path: str = ""
    source: str = ""
    client_pid: str = ""  # the agent's process on this machine, where it told us
    principal: str = ""  # whose session it is, as set; "" for the installation's own person


def path_of(home: str) -> str:
    return os.path.join(home, "brain", "project-sessions.jsonl")


def _lock(home: str) -> str:
    return os.path.join(home, "locks", "index")


def append(home: str, entry: Entry) -> None:
    """Add one start. The lock keeps it from falling between a trim's read and its replace."""
    atomic.make_folder(os.path.join(home, "brain"))
    with held(_lock(home), wait_s=1.0):
        atomic.append_line(path_of(home), dumps(entry._asdict()).encode("ascii"))


def read(home: str) -> list[Entry]:
    """Return the newest entry of each session, oldest session first; torn lines are passed over."""
    data = atomic.read(path_of(home), MAX_BYTES) or b""
    found: dict[str, Entry] = {}
    for line in data.split(b"\n"):
        entry = parse(line)
        if entry is not None:
            found.pop(entry.session_id, None)
            found[entry.session_id] = entry
    return list(found.values())


def parse(line: bytes) -> Entry | None:
    """Read one line; None without a session id. A row of an older format lacks some fields."""
    row = load_object(line) if line.strip() else None
    if row is None or not isinstance(row.get("session_id"), str):
        return None
    texts = {"at": ""}
    texts.update((name, text) for name in Entry._fields if isinstance(text := row.get(name), str))
    return Entry(**texts)


# A client that wrote nothing for an hour may have lost its hooks; then we read for it.
SILENT_S = 3_600


def is_live(entry: Entry, at: datetime, ours: str = "") -> bool:
    """Say whether the session's own client runs and wrote lately: its hooks will read the rest.

    ``ours`` is the client that starts another session now. It has left this one; or this one's
    client had the same number in a container of its own, where each agent may be process 7.
    """
    if not entry.client_pid.isdigit() or entry.client_pid == ours:
        return False
    try:
        os.kill(int(entry.client_pid), 0)
        written = os.stat(entry.transcript_path).st_mtime
    except PermissionError:
        return True
    except (OSError, OverflowError, ValueError):
        return False
    return at.timestamp() - written < SILENT_S


def trim(home: str) -> int:
    """Keep the newest ``MAX_SESSIONS`` sessions; return how many were dropped."""
    with held(_lock(home), wait_s=1.0):
        entries = read(home)
        dropped = len(entries) - MAX_SESSIONS
        if dropped <= 0:
            return 0
        lines = [dumps(entry._asdict()) for entry in entries[dropped:]]
        atomic.write(path_of(home), ("\n".join(lines) + "\n").encode("ascii"))
        return dropped
