"""The one log: a line per event that had something to say. No content, no URL, no environment."""

from __future__ import annotations

import os

from hooks.atomic import append_line

MAX_LINE = 2_000  # characters; a line tells what happened, the rest is in the ledger
_MISSING_S = 1  # seconds since the epoch
MAX_LOG_BYTES = 1 << 20  # then the file becomes hooks.log.1, replacing the one before


def log(home: str, at: str, event: str, session: str, text: str) -> None:
    """Append ``<at> <event> <session> <text>``; a log that cannot be written is given up quietly.

    A full disk or a read-only home must not turn into a failure of the hook. ``lacks_lines``
    says so later, where at least the file's time could be set.
    """
    path = os.path.join(home, "logs", "hooks.log")
    line = f"{at} {event} {session[:36] or '-'} {text}"[:MAX_LINE]
    # Line ends, escape sequences and lone surrogates: a log is read in a terminal.
    safe = "".join(character if character.isprintable() else " " for character in line)
    try:
        _rotate(path)
        append_line(path, safe.encode("utf-8"))
    except OSError:
        _note_missing(path)


def _note_missing(path: str) -> None:
    """Leave a time that no clock gives, for which a full disk has room; the next line ends it."""
    try:
        os.utime(path, (_MISSING_S, _MISSING_S))
    except OSError:
        return


def lacks_lines(home: str) -> bool:
    """Say whether something could not be logged since the last line."""
    try:
        return os.stat(os.path.join(home, "logs", "hooks.log")).st_mtime == _MISSING_S
    except OSError:
        return False


def _rotate(path: str) -> None:
    if not _is_full(path):
        return
    from hooks.lock import try_lock

    lock = try_lock(path + ".lock")
    if lock is None:
        return
    with lock:
        # Again under the lock: a second rotation would push the first one's lines away.
        if _is_full(path):
            os.replace(path, path + ".1")


def _is_full(path: str) -> bool:
    try:
        return os.stat(path).st_size > MAX_LOG_BYTES
    except FileNotFoundError:
        return False
