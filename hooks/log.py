"""The one log: a line per event that had something to say. No content, no URL, no environment."""

from __future__ import annotations

import os

from hooks.atomic import append_line, make_folder

MAX_LOG_BYTES = 1 << 20  # then the file becomes hooks.log.1, replacing the one before


def log(home: str, at: str, event: str, session: str, text: str) -> None:
    """Append ``<at> <event> <session> <text>``; a log that cannot be written is given up quietly.

    A full disk or a read-only home must not turn into a failure of the hook.
    """
    path = os.path.join(home, "logs", "hooks.log")
    line = f"{at} {event} {session[:36] or '-'} {text}".replace("\n", " ").replace("\r", " ")
    try:
        make_folder(os.path.dirname(path))
        if os.path.exists(path) and os.path.getsize(path) > MAX_LOG_BYTES:
            os.replace(path, path + ".1")
        append_line(path, line.encode("utf-8", "replace"))
    except OSError:
        return
