"""Look backward in a transcript for the last line that says something."""

from __future__ import annotations

import os

from hooks.context.line_window import MAX_LINE
from hooks.context.transcript_lines import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK = 64 << 10


def lines_before(
    fd: int, offset: int, needle: bytes, floor: int = 0
) -> Iterator[dict[str, object]]:
    """Yield the objects of the lines that end at or before ``offset`` and hold ``needle``.

    Nearest first, none far before ``floor``. Lines longer than ``MAX_LINE`` are passed over.
    """
    low = high = offset  # [low, high) is what is in memory and not yet looked at
    held = b""
    while True:
        found = held.rfind(needle)
        if found < 0:
            if low <= floor:
                return
            # keep the head: the needle, or the line's start, may continue to the left
            held = held[: len(needle) - 1]
            high = low + len(held)
            step = min(_CHUNK, low)
            low -= step
            held = os.pread(fd, step, low) + held
            continue
        start = _line_start(fd, low + found)
        if start is None:
            high = max(low + found, 0)
        else:
            raw = _line(fd, start, offset)
            yield from reversed(parse(raw).objects)
            high = start
        if high <= low:
            held, low = b"", high
        else:
            held = held[: high - low]


def _line_start(fd: int, offset: int) -> int | None:
    """Return where the line around ``offset`` begins; None where that is too far away."""
    low = offset
    while low and offset - low <= MAX_LINE:
        step = min(_CHUNK, low)
        low -= step
        cut = os.pread(fd, step, low).rfind(b"\n")
        if cut >= 0:
            return low + cut + 1
    return None if low else 0


def _line(fd: int, start: int, limit: int) -> bytes:
    """Return the line at ``start`` without its newline; empty where it is too long."""
    raw = b""
    while len(raw) <= MAX_LINE:
        part = os.pread(fd, min(_CHUNK, limit - start - len(raw)), start + len(raw))
        raw += part
        cut = raw.find(b"\n", len(raw) - len(part))
        if cut >= 0:
            return raw[:cut]
        if not part:
            return raw
    return b""
