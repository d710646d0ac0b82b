"""The status's pieces about the hooks: when each ran last, and what they last had to say."""

from __future__ import annotations

import os

from hooks.clock import from_epoch, iso, parse_iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

KEPT_S = 86_400  # what was said a day ago is history; the log has it
_TAIL_BYTES = 1 << 16


def last_runs(home: str) -> dict[str, str]:
    """Return when each event's hook ran last; {} where none did."""
    folder = os.path.join(home, "brain", "last-run")
    try:
        with os.scandir(folder) as entries:
            found = {entry.name: iso(from_epoch(entry.stat().st_mtime)) for entry in entries}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return dict(sorted(found.items()))


def logged(home: str, at: datetime) -> dict[str, Any]:
    """Return ``last`` {"at","event","what"} and how many lines the last day has; {} for none.

    Raises:
        OSError: the log is there and cannot be read.
    """
    path = os.path.join(home, "logs", "hooks.log")
    rows = [row for line in _tail(path).split("\n") if (row := _parse(line, at)) is not None]
    return {"last": rows[-1], "lines": len(rows)} if rows else {}


def _tail(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    try:
        start = max(0, os.fstat(fd).st_size - _TAIL_BYTES)
        return os.pread(fd, _TAIL_BYTES, start).decode("utf-8", "replace")
    finally:
        os.close(fd)


def _parse(line: str, now: datetime) -> dict[str, str] | None:
    """Read ``<at> <event> <session> <text>``; None for what is no line of the last day."""
    at, _, rest = line.partition(" ")
    event, _, rest = rest.partition(" ")
    said, when = rest.partition(" ")[2], parse_iso(at)
    if when is None or not said or abs((now - when).total_seconds()) > KEPT_S:
        return None
    return {"at": at, "event": event, "what": said}


def describe(data: Mapping[str, Any]) -> str:
    from hooks.verbs.wording import minute

    if not data:
        return "nothing in the last day"
    last, more = data["last"], data["lines"] - 1
    said = f"{minute(last['at'])} {last['event']}: {last['what']}"
    return said + (f" ({more} more in logs/hooks.log)" if more else "")
