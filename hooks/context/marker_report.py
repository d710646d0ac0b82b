"""Every place in a transcript that looks like a marker, and what became of it."""

from __future__ import annotations

from hooks.context.hint import HINT
from hooks.context.line_window import LineWindow
from hooks.context.markers import OPENING, find
from hooks.context.transcript import open_transcript, unreadable
from hooks.context.transcript_lines import parse, text_blocks, why_not

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NamedTuple

    from hooks.context.markers import Candidate
else:
    from hooks.record import NamedTuple

SHOWN = 60  # characters of a candidate's text in a row
LOOKED_AT = 1 << 14  # characters in which secrets are looked for: longer than any key


class Row(NamedTuple):
    """One candidate. ``reason`` is empty when it is taken.

    Besides the reasons of ``markers.Candidate``: ``<type>-line`` (not the assistant's line),
    ``meta``, ``compact-summary``, ``client-message``, ``<type>-block`` (thinking, tool input …),
    ``repeated-line`` (a ``uuid`` seen before), and, without a candidate, ``unparsed`` and
    ``line-too-long``.
    """

    line: int  # counted from 1
    message_id: str
    type: str
    taken: bool
    reason: str
    text: str


def explain(path: str) -> list[Row]:
    """Read a whole transcript; a missing one has no rows.

    Raises:
        StateError: it is no regular file or cannot be read.
    """
    fd = open_transcript(path)
    if fd < 0:
        return []
    try:
        with open(fd, "rb", buffering=0) as file:
            return list(_rows(LineWindow(file, 0)))
    except OSError as err:
        raise unreadable(path, err) from err


def _rows(window: LineWindow) -> Iterator[Row]:
    seen: set[str] = set()
    before = too_long = 0
    while window.advance():
        for _ in range(window.oversized - too_long):
            before += 1
            yield Row(before, "", "", False, "line-too-long", "")
        too_long = window.oversized
        block = bytes(window.buffer[: window.end])
        if HINT in block:
            for number, raw in enumerate(block.split(b"\n"), before + 1):
                yield from _line_rows(number, raw, seen)
        before += block.count(b"\n")
    raw = window.unfinished()
    if parse(raw).whole:  # a torn last line is still being written
        yield from _line_rows(before + 1, raw, seen)


def _line_rows(number: int, raw: bytes, seen: set[str]) -> Iterator[Row]:
    if HINT not in raw:
        return
    parsed = parse(raw)
    for line in parsed.objects:
        message = line.get("message")
        message_id = message.get("id") if isinstance(message, dict) else None
        said = str(message_id or line.get("uuid") or "")
        for text, reason in _texts(line, seen):
            for found in find(text):
                why = found.reason or reason
                yield Row(number, said, found.type, not why, why, shown(text, found))
    if not parsed.whole:
        yield Row(number, "", "", False, "unparsed", "")


def _texts(line: dict[str, object], seen: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each text of the line with a marker's opening, and why it does not count or ``""``."""
    reason = why_not(line)
    if reason == "not-assistant":
        reason = f"{line.get('type') or 'unknown'}-line"
    if reason:
        yield from ((text, reason) for text in _strings(line))
        return
    uuid = line.get("uuid")
    repeated = "repeated-line" if isinstance(uuid, str) and uuid in seen else ""
    if isinstance(uuid, str) and uuid:
        seen.add(uuid)
    for _, text in text_blocks(line):
        yield text, repeated
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else []:
        kind = block.get("type") if isinstance(block, dict) else "unknown"
        if kind != "text":
            yield from ((text, f"{kind}-block") for text in _strings(block))


def _strings(value: object) -> Iterator[str]:
    """Yield every string inside ``value`` that holds an opening, in order."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if OPENING in item:
                yield item
        elif isinstance(item, dict):
            waiting.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            waiting.extend(reversed(item))


def shown(text: str, found: Candidate) -> str:
    """Return the beginning of a candidate's text, or of its place, on one line, without secrets."""
    from hooks.context.redact import redact

    if found.marker:
        source = found.marker.content
    else:
        end = found.end if found.reason != "unclosed" else found.start + LOOKED_AT
        source = text[found.start : end]
    safe, _ = redact(source[:LOOKED_AT])  # first: a secret that was cut in two is not recognised
    return " ".join(safe.split())[:SHOWN].rstrip()
