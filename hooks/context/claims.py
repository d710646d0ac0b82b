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
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from hooks.payload import Event

# Hooks of one event start together; a resume, a compaction or a clear needs at least a request
# in between. Only events that carry no id of their own fall back on this window.
TWINS_S = 5.0
WAIT_S = 8.0  # for the answer of the other installation; the agent waits for both, up to 20 s
LATE = (
    "brainhooks has just answered this: its answer stands beside this line or above it. "
    "The same words a few seconds later are answered anew."
)
SLOW = "brainhooks is still at work on this through its other installation"
_DONE = b"."  # what a finished claim begins with; an answer may follow


def folder(home: str) -> str:
    return os.path.join(home, "brain", "claims")


def claim(home: str, event: Event, env: Mapping[str, str], at: datetime) -> bool:
    """Say whether this process answers this occurrence of ``event``; only the first one does.

    A home that cannot be written answers: a doubled note is better than none.
    """
    path, timed = _path(home, event, env)
    try:
        make_folder(folder(home))
        if timed:
            _forget_older(path, at)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        _note_twin(home, event)
        return False
    except OSError as err:
        from hooks.clock import iso
        from hooks.log import log

        log(home, iso(at), event.name, event.session_id, f"the claim to answer: {err}")
    return True


def answer_once(
    home: str, event: Event, env: Mapping[str, str], at: datetime, work: Callable[[], str]
) -> str:
    """Return what ``work`` says; of the processes of one occurrence one calls it, all say the same.

    The agent shows the answer of one of them, and nobody knows of which. So whoever holds the
    claim's lock works and leaves its answer there for the others. The kernel frees the lock of a
    process that was killed: the next one finds no answer and works again, which every verb
    allows. A home that cannot be written works without asking.
    """
    from hooks.errors import StateError
    from hooks.lock import held, try_lock

    path, timed = _path(home, event, env)
    try:
        lock = try_lock(path)
        if lock is None:
            _note_twin(home, event)  # before the wait: the one at work looks for it at its end
            lock = held(path, wait_s=WAIT_S)
    except StateError:
        return SLOW
    except OSError:
        return work()
    with lock:
        said = _said(path, at if timed else None)
        if said is None:
            text = work()
            _leave(home, event, path, text, at)
            return text
        _note_twin(home, event)
        _write(path, _DONE)  # two installations are the rule; memories do not stay lying here
        return said or LATE


def _path(home: str, event: Event, env: Mapping[str, str]) -> tuple[str, bool]:
    """Return the claim's path, and whether only the window tells this occurrence from the next."""
    own = event.prompt_id if event.name == "UserPromptSubmit" else event.agent_id
    parts = (event.name, event.session_id, own or event.source, event.prompt)
    client = "" if own else env.get("CLAUDE_PID", "")
    name = short_digest("\0".join((*parts, client)).encode("utf-8", "replace"))
    return os.path.join(folder(home), name), not own


def _forget_older(path: str, at: datetime) -> None:
    try:
        if _is_older(path, at, TWINS_S):
            os.unlink(path)
    except FileNotFoundError:
        return


def _is_older(path: str, at: datetime, seconds: float) -> bool:
    return abs(at.timestamp() - os.stat(path).st_mtime) > seconds


def _said(path: str, window: datetime | None) -> str | None:
    """Return the answer that was left; "" where none was, None where nobody finished yet."""
    from hooks.atomic import read

    data = read(path) or b""
    if not data or (window is not None and _is_older(path, window, TWINS_S)):
        return None
    return data[len(_DONE) :].decode("utf-8", "replace")


def _leave(home: str, event: Event, path: str, text: str, at: datetime) -> None:
    """Mark the claim as finished, with its answer where this session was seen to have a twin.

    A memory's words stand in an answer: with one installation nobody would take them away again.
    """
    if os.path.exists(_twin_note(home, event)):
        drop_answers(home, at, WAIT_S)
        _write(path, _DONE + text.encode("utf-8", "replace"))
    else:
        _write(path, _DONE)


def _write(path: str, data: bytes) -> None:
    from hooks.atomic import write

    try:
        write(path, data, durable=False)
    except OSError:  # then the other one works as well
        return


def drop_answers(home: str, at: datetime, age_s: float = 0.0) -> None:
    """Empty every answer that nobody took within ``age_s`` seconds."""
    try:
        with os.scandir(folder(home)) as rows:
            left = [row.path for row in rows if row.stat().st_size > len(_DONE)]
    except FileNotFoundError:
        return
    for path in left:
        if not age_s or _is_older(path, at, age_s):
            _write(path, _DONE)


def _twin_note(home: str, event: Event) -> str:
    session = short_digest(event.session_id.encode("utf-8", "replace"))
    return os.path.join(folder(home), f"twin-{session}")


def _note_twin(home: str, event: Event) -> None:
    """Leave the file that says: this session's events are answered by two installations."""
    path = _twin_note(home, event)
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        os.utime(path)
    except OSError:
        return
