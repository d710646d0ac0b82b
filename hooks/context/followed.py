"""Transcripts that something follows: where it came in each, and the lines behind that.

A mark says where to go on, in a form that a changed file does not answer to (see ``position``):
one that was truncated, rotated or replaced is read again from its first line. Who follows must
know again what it has met; then reading twice changes nothing.
"""

from __future__ import annotations

import os

from hooks.context.line_window import LineWindow
from hooks.context.position import position_at
from hooks.context.sources import Source, regular, sources, subagents
from hooks.context.transcript import open_transcript, unreadable
from hooks.context.transcript_lines import parse
from hooks.errors import StateError
from scripts.swarm_v2.digest import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hooks.payload import Event

MAIN = "main"
MOST_FILES = 500  # marks that a session keeps; an older one's file would be read again
_HASH = 16


class Follower:
    """One pass over what is new in a transcript. Iterate ``objects`` to the end, then ``close``.

    ``unread`` is how many bytes are new; afterwards ``mark`` says where the next pass begins.
    """

    def __init__(self, path: str, mark: str) -> None:
        """Raises StateError: it is no regular file, or cannot be read."""
        self.mark, self.unread, self._path, self._start = mark, 0, path, 0
        self._fd = open_transcript(path)
        if self._fd < 0:
            return
        try:
            self._start = _start(self._fd, mark)
            self.unread = os.fstat(self._fd).st_size - self._start
        except OSError as err:
            self.close()
            raise unreadable(path, err) from err

    def objects(self, needles: Sequence[bytes]) -> Iterator[dict[str, object]]:
        """Yield the objects of the new lines that hold one of ``needles``, in file order.

        A last line without a newline counts where it is whole JSON; it is met again next time.

        Raises:
            StateError: the file can no longer be read.
        """
        if self._fd < 0:
            return
        try:
            with open(self._fd, "rb", buffering=0, closefd=False) as file:
                window = LineWindow(file, self._start)
                while window.advance():
                    for raw in _lines(window.buffer, window.end, needles):
                        yield from parse(raw).objects
                last = window.unfinished()
                self.mark = _mark(self._fd, window.base)
            if last and any(needle in last for needle in needles):
                found = parse(last)
                yield from found.objects if found.whole else ()
        except OSError as err:
            raise unreadable(self._path, err) from err

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def open_all(found: Sequence[Source], marks: Mapping[str, object]) -> dict[str, Follower]:
    """Open each source at its mark, by the name of its mark; the caller closes them.

    A subagent's that cannot be read is left out, its mark where it was: it holds up no other. So
    is what is more than ``MOST_FILES``, of which a system may not open all at once.

    Raises:
        StateError: the session's own cannot be read.
    """
    opened: dict[str, Follower] = {}
    for source in [source for source in found if source.path][: MOST_FILES + 1]:
        name = name_of(source)
        try:
            opened[name] = Follower(source.path, str(marks.get(name, "")))
        except StateError:
            if source.main:
                close_all(opened)
                raise
    return opened


def close_all(opened: Mapping[str, Follower]) -> None:
    for follower in opened.values():
        follower.close()


def name_of(source: Source) -> str:
    return MAIN if source.main else os.path.basename(source.path).removesuffix(".jsonl")


def followed(event: Event, env: Mapping[str, str], *, fresh: bool) -> list[Source]:
    """Return what an event is about; all of the session where nothing was read yet."""
    found = sources(event, env)
    path = regular(event.transcript_path, event.cwd, env)
    if not fresh or not path:
        return [source for source in found if source.path]
    return everything(path, event.session_id)


def everything(transcript: str, session: str) -> list[Source]:
    return [Source(transcript, session, main=True), *subagents(transcript, session)]


def marks_of(document: Mapping[str, object]) -> dict[str, object]:
    marks = document.get("marks")
    return dict(marks) if isinstance(marks, dict) else {}


def moved(marks: Mapping[str, object], opened: Mapping[str, Follower]) -> dict[str, object]:
    """Return the marks after a pass; those moved last stand last, the oldest are forgotten."""
    made = dict(marks)
    for name, follower in opened.items():
        if made.get(name) != follower.mark:
            made.pop(name, None)
            made[name] = follower.mark
    for name in [name for name in made if name != MAIN][:-MOST_FILES]:
        del made[name]
    return made


def _start(fd: int, mark: str) -> int:
    offset = mark.split(".")[2] if mark.count(".") == 3 else ""
    number = int(offset) if offset.isascii() and offset.isdigit() and len(offset) < 19 else 0
    return number if number and _mark(fd, number) == mark else 0


def _mark(fd: int, offset: int) -> str:
    at = position_at(fd, offset)
    digest = short_digest(f"{at.head_hash}{at.tail_hash}".encode("ascii"))[:_HASH]
    return f"{at.device}.{at.inode}.{at.offset}.{digest}"


def _lines(buffer: bytearray, end: int, needles: Sequence[bytes]) -> Iterator[bytes]:
    """Yield each line of ``buffer[:end]`` that holds a needle; the others cost a search only."""
    at = 0
    places = dict.fromkeys(needles, -1)
    while True:
        for needle, place in places.items():
            if place < at:
                found = buffer.find(needle, at, end)
                places[needle] = found if found >= 0 else end
        nearest = min(places.values(), default=end)
        if nearest >= end:
            return
        start = buffer.rfind(b"\n", at, nearest) + 1 or at
        at = buffer.find(b"\n", nearest, end) + 1 or end
        yield bytes(buffer[start : at - 1])
