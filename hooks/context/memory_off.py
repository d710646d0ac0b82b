"""Where and when a marker was written, for the switch alone: it must hold also where records fail.

Loaded with what keeps, used only in a home whose memory was ever switched off.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from hooks.context.collect import Task
    from hooks.context.keeping import Origin

MOST_BYTES = 4 << 20  # looked through for a time, before a line that has none


def dated_before(path: str, offset: int) -> datetime | None:
    """Return the time of the nearest dated line before ``offset``; None where none is near."""
    from hooks.clock import parse_iso
    from hooks.context.lookback import lines_before
    from hooks.context.transcript import open_transcript

    fd = open_transcript(path) if path and offset else -1
    if fd < 0:
        return None
    try:
        for line in lines_before(fd, offset, b'"timestamp"', max(offset - MOST_BYTES, 0)):
            at = parse_iso(line.get("timestamp"))
            if at is not None:
                return at
    finally:
        os.close(fd)
    return None


def projects(task: Task, origin: Origin, cwd: str) -> list[str]:
    """Return every project that a session without a scope log may have been in.

    What its start noted; else those of its line's folder and of the event's.
    """
    from hooks.context import session_index
    from hooks.context.project import launch_folder, resolve

    noted = [
        row.project_id
        for row in session_index.read(task.home)
        if row.session_id == origin.session and row.project_id
    ]
    if noted:
        return noted[-1:]
    folders = {folder for folder in (cwd, launch_folder(task.cwd, task.env)) if folder}
    found = {
        resolve(folder, task.settings, task.env, task.at, register=False).id
        for folder in sorted(folders)
    }
    return sorted(found) or [""]
