"""Append a session's turns, redacted, to ``logs/transcripts/<session>.jsonl``; off unless asked.

Where it came in each transcript is session state. Where that is lost it reads from the first
line again, and the log itself says which lines it has, by uuid: it is read under the log's lock
before anything is appended. Falls open: without state nothing is logged, and what was missed is
logged with the next event, since no mark moved.
"""

from __future__ import annotations

import os

from hooks.atomic import PRIVATE_FILE, make_folder
from hooks.clock import parse_iso
from hooks.context.followed import close_all, marks_of, moved, open_all
from hooks.context.line_window import LineWindow
from hooks.context.session_state import Key, change, document
from hooks.lock import held
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from hooks.context.followed import Follower
    from hooks.context.session_state import Document, SessionState
    from hooks.context.sources import Source
    from hooks.context.turn_filter import Filter
    from hooks.settings import Settings

KIND = "logger"
VERSION = 1
FOLDER = os.path.join("logs", "transcripts")
KEPT_DAYS = 30
# What a hook reads itself, of transcripts and of the log: redaction takes most of the time.
FOREGROUND_BYTES = 256 << 10
FOREGROUND_LOG_BYTES = 4 << 20
WAIT_S = 0.2  # for another process that writes the same log; the worker waits longer
PATIENT_S = 60.0
_NEEDLES = (b'"user"', b'"assistant"')
_PART = 1 << 20  # characters of turns that are held before they are appended


def path_of(home: str, session: str) -> str:
    return os.path.join(home, FOLDER, f"{session}.jsonl")


def key_of(session: str) -> Key:
    return Key(KIND, session)


def log_of(
    state: SessionState,
    settings: Settings,
    env: Mapping[str, str],
    at: datetime,
    session: str,
    folder: str,
) -> Log | None:
    """Return the session's log; None while nothing can be known about the memory switch.

    ``folder`` is where the session is, for a session that nothing else knows.
    """
    from hooks.context.turn_filter import Filter

    allowed = Filter(settings, env, at, session, folder, kept_days=KEPT_DAYS)
    return None if allowed.damaged else Log(settings.home, session, state, allowed)


class Log:
    """One session's log, to be written by one process at a time."""

    def __init__(self, home: str, session: str, state: SessionState, allowed: Filter) -> None:
        self._home, self._session, self._state, self._allowed = home, session, state, allowed
        self._path = path_of(home, session)

    def write(self, choose: Callable[[Document], Sequence[Source]], *, patient: bool) -> bool:
        """Append what is new. False, and nothing done, where that would take long: not ``patient``.

        Raises:
            StateDown: no mark moved; what was appended is known by its uuid.
            StateError: a transcript cannot be read, or another process holds the log.
            OSError: the log cannot be written; it ends with a whole line.
        """
        name = short_digest(f"transcript-log:{self._session}".encode("ascii"))
        lock = os.path.join(self._home, "locks", name)
        with held(lock, wait_s=PATIENT_S if patient else WAIT_S):
            [kept] = self._state.read([key_of(self._session)])
            marks = marks_of(document(kept))
            opened = open_all(choose(document(kept)), marks)
            try:
                new = sum(follower.unread for follower in opened.values())
                if not patient and (new > FOREGROUND_BYTES or self._size() > FOREGROUND_LOG_BYTES):
                    return False
                if new:
                    self._append(opened)
                    self._remember(opened)
            finally:
                close_all(opened)
        return True

    def _remember(self, opened: Mapping[str, Follower]) -> None:
        def edit(now: Document) -> Mapping[str, object]:
            return {"v": VERSION, "marks": moved(marks_of(now), opened)}

        change(self._state, key_of(self._session), edit)

    def _append(self, opened: Mapping[str, Follower]) -> None:
        """Append a part at a time: killed in the middle, what is there is known by its uuid."""
        fd, known = -1, set[str]()
        try:
            for name, follower in opened.items():
                for rows in self._parts(name, follower):
                    if fd < 0:
                        fd = _open(self._path)
                        known = _mend(fd)
                    _write_new(fd, rows, known)
        finally:
            if fd >= 0:
                os.close(fd)

    def _parts(self, name: str, follower: Follower) -> Iterator[list[dict[str, object]]]:
        """Yield the new turns, no more at once than are held in memory without a thought.

        A part ends behind an assistant's line: whose those before it are, it says itself.
        """
        from hooks.context.turn import turn

        agent = "" if name == "main" else name.removeprefix("agent-")
        rows: list[tuple[dict[str, object], datetime | None]] = []
        dated: datetime | None = None
        size = 0
        for line in follower.objects(_NEEDLES):
            dated = parse_iso(line.get("timestamp")) or dated
            said = turn(line, session=self._session, agent=agent)
            if said is None:
                continue
            rows.append((said, dated))
            size += len(str(said["text"]))
            if size > _PART and (said["role"] == "assistant" or size > 2 * _PART):
                yield from self._taken(rows)
                rows, size = [], 0
        yield from self._taken(rows)

    def _taken(
        self, rows: list[tuple[dict[str, object], datetime | None]]
    ) -> Iterator[list[dict[str, object]]]:
        _credit(rows, self._session)
        taken = [row for row, when in rows if self._allowed.takes(when, str(row["session"]))]
        if taken:
            yield taken

    def _size(self) -> int:
        try:
            return os.stat(self._path).st_size
        except FileNotFoundError:
            return 0


def _credit(rows: list[tuple[dict[str, object], datetime | None]], session: str) -> None:
    """Give the lines that a fork copied to whom they are from.

    Only the assistant's say so; they are copied together, so what stands before one is a copy too.
    """
    origin = ""
    for row, _ in reversed(rows):
        if row["session"] != session:
            origin = str(row["session"])
        elif origin:
            row["session"] = origin


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags, PRIVATE_FILE)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        return os.open(path, flags, PRIVATE_FILE)


def _mend(fd: int) -> set[str]:
    """Return the uuids of the log's whole lines; half a line at its end is cut off."""
    with open(fd, "rb", buffering=0, closefd=False) as file:
        window = LineWindow(file, 0)
        known: set[str] = set()
        while window.advance():
            known.update(_uuids(bytes(window.buffer[: window.end])))
        last = window.unfinished()
        whole = set(_uuids(last))
        if whole:  # somebody's editor took the last newline
            _write_all(fd, b"\n")
        elif os.fstat(fd).st_size > window.base:
            os.ftruncate(fd, window.base)
    return known | whole


def _uuids(lines: bytes) -> Iterator[str]:
    for line in lines.split(b"\n"):
        row = load_object(line) if line else None
        if row is not None and isinstance(row.get("uuid"), str):
            yield str(row["uuid"])


def _write_new(fd: int, rows: list[dict[str, object]], known: set[str]) -> None:
    """Append those whose uuid is not ``known``, and know them from now on."""
    lines = []
    for row in rows:
        uuid = str(row["uuid"])
        if uuid not in known:
            known.add(uuid)
            lines.append(dumps(row) + "\n")
    _write_all(fd, "".join(lines).encode("ascii"))


def _write_all(fd: int, data: bytes) -> None:
    """Append and sync ``data``, or nothing of it: the mark that follows must not outlive it."""
    size = os.fstat(fd).st_size
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    except OSError:
        os.ftruncate(fd, size)
        raise
