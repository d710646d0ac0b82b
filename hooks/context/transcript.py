"""Read what an assistant wrote from a transcript that may have changed in any way since.

Byte search proposes, JSON decides: a line is parsed only where it holds the bytes of an opening
marker, or a working folder or branch other than the last known. Line boundaries are newline
bytes only.
"""

from __future__ import annotations

import os
import stat

from hooks.context.line_window import LineWindow
from hooks.context.position import Position, position_at, valid
from hooks.errors import StateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from typing import NamedTuple

    from hooks.context.line_reader import LineReader
    from hooks.context.markers import Candidate
    from hooks.context.transcript_lines import Line
else:
    from hooks.record import NamedTuple

BATCH = 256


class Sighted(NamedTuple):
    """One candidate in an assistant's text block; ``ordinal`` counts the block's candidates."""

    line: Line
    block: int
    ordinal: int
    candidate: Candidate


class Moved(NamedTuple):
    """The session's working folder or branch changed (or was first seen) on this line.

    ``at`` is the line's own time, else that of the dated line before it, else None.
    """

    at: datetime | None
    cwd: str
    branch: str
    offset: int
    session_id: str


class Batch(NamedTuple):
    """At most ``BATCH`` sightings and moves, each in file order.

    Everything before ``position`` is in this batch or an earlier one, and maybe more is.
    """

    sightings: list[Sighted]
    moves: list[Moved]
    position: Position


class Counts(NamedTuple):
    """Lines that told us less than they should, without the unfinished last one.

    A damaged line counts as unparsed when it does not end like an object, or when we had a
    reason to parse it.
    """

    unparsed: int = 0
    oversized: int = 0
    nul: int = 0
    glued: int = 0
    bad_utf8: int = 0
    resumed: int = 0  # of the unparsed ones, those with a whole object behind the damage


class Scan:
    """One pass over the new part of a transcript. Iterate ``batches`` once, to the end.

    Afterwards ``position`` is where the next pass starts, ``cwd`` and ``branch`` are what is
    known there, ``counts`` what was damaged. ``restarted`` says that a start position was given and
    no longer held. Where the file does not exist there is nothing, and ``position`` is None.
    """

    def __init__(self, fd: int, start: Position | None, cwd: str, branch: str) -> None:
        self.position = start if fd >= 0 else None
        self.cwd, self.branch = cwd, branch
        self.counts = Counts()
        self.restarted = False
        self._fd = fd
        if fd >= 0 and (start is None or not valid(start, fd)):
            self.restarted = start is not None
            self.position = position_at(fd, 0)
            self.cwd = "" if self.restarted else cwd
            self.branch = "" if self.restarted else branch

    def batches(self) -> Iterator[Batch]:
        if self._fd < 0 or self.position is None:
            return
        from hooks.context.line_reader import LineReader

        fd, self._fd = self._fd, -1
        with open(fd, "rb", buffering=0) as file:
            reader = LineReader(LineWindow(file, self.position.offset), fd, self.cwd, self.branch)
            more = True
            while more:
                more = reader.step()
                while batch := _next_batch(reader, fd, last=not more):
                    yield batch
            self.cwd, self.branch = reader.known
            self.counts = reader.counts()
            self.position = position_at(fd, reader.done)

    def close(self) -> None:
        """Let go of the file; only needed where ``batches`` is not iterated."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _next_batch(reader: LineReader, fd: int, *, last: bool) -> Batch | None:
    """Take a full batch, or at the end what is left."""
    most = max(len(reader.sightings), len(reader.moves))
    if not most or (most < BATCH and not last):
        return None
    sightings, moves = reader.sightings[:BATCH], reader.moves[:BATCH]
    del reader.sightings[:BATCH], reader.moves[:BATCH]
    waiting = [seen.line.offset for seen in reader.sightings[:1]]
    waiting += [moved.offset for moved in reader.moves[:1]]
    return Batch(sightings, moves, position_at(fd, min([*waiting, reader.done])))


def scan(path: str, start: Position | None, *, cwd: str = "", branch: str = "") -> Scan:
    """Open a transcript at ``start``, or at its beginning where ``start`` no longer holds.

    ``cwd`` and ``branch`` are what was last known at ``start``. A missing file and an empty
    path are an empty scan: the client names a transcript before it exists.

    Raises:
        StateError: it is a folder, a pipe or a device, or cannot be opened or read.
    """
    fd = open_transcript(path)
    try:
        return Scan(fd, start, cwd, branch)
    except OSError as err:
        os.close(fd)
        raise unreadable(path, err) from err


def open_transcript(path: str) -> int:
    """Return a descriptor of a regular file, -1 where there is none.

    Raises:
        StateError: see ``scan``.
    """
    try:
        # a pipe without a writer must not hold the hook
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return -1
    except (OSError, ValueError) as err:  # ValueError: a NUL or a lone surrogate in the path
        raise unreadable(path, err) from err
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise unreadable(path, "it is not a regular file")


def unreadable(path: str, why: object) -> StateError:
    what = getattr(why, "strerror", None) or why
    hint = "nothing was taken from this transcript; the next event tries again"
    return StateError(path, f"the transcript cannot be read: {what}", hint=hint)


def prompt_before(path: str, offset: int) -> str:
    """Return the ``promptId`` of the last user line that ends at or before ``offset``, or ``""``.

    Raises:
        StateError: see ``scan``.
    """
    from hooks.context.lookback import lines_before

    fd = open_transcript(path)
    if fd < 0:
        return ""
    try:
        for line in lines_before(fd, offset, b'"promptId"'):
            prompt = line.get("promptId")
            if line.get("type") == "user" and isinstance(prompt, str) and prompt:
                return prompt
    except OSError as err:
        raise unreadable(path, err) from err
    finally:
        os.close(fd)
    return ""
