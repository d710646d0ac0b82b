"""What one transcript line says: pure, from bytes to values. No line is ever an exception."""

from __future__ import annotations

from hooks.clock import parse_iso
from scripts.swarm_v2 import wire_json
from scripts.swarm_v2.wire_json import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

BLANK = b"\0 \t\r\n"  # what may stand around the JSON of a line; NULs are what a crash leaves

MAX_BLOCK = 1 << 31  # far above any; what is not below is no block's index
MAX_RESTARTS = 16  # at what may be a line's beginning behind damage; each costs up to a line


class Line(NamedTuple):
    """Where and when an assistant wrote. ``at`` is None where the line has no valid time."""

    session_id: str  # requestSessionId, which a fork's copies keep, else sessionId
    message_id: str  # the API's; the line's uuid where there is none
    at: datetime | None
    at_text: str  # as written, "" where absent
    cwd: str
    branch: str
    uuid: str
    offset: int  # of the line's first byte in the file
    sidechain: bool


class Parsed(NamedTuple):
    """The JSON objects of one line, in order; ``whole`` says whether nothing else stood there."""

    objects: list[dict[str, object]]
    whole: bool
    bad_utf8: bool
    resumed: bool = False  # the last ones stood behind damage


def parse(raw: bytes) -> Parsed:
    """Read every JSON object of a line, glued ones too; behind damage those that end the line.

    A writer that died left half a line, and the next one wrote a whole one behind it. Bytes
    that are not UTF-8 become U+FFFD, for this line only. A value that is no object (a list, a
    number) is read and left out.
    """
    raw = raw.strip(BLANK)
    try:
        text, bad = raw.decode("utf-8"), False
    except UnicodeDecodeError:
        text, bad = raw.decode("utf-8", "replace"), True
    objects, end, _ = _objects(text, 0)
    if end == len(text):
        return Parsed(objects, whole=True, bad_utf8=bad)
    behind = _behind_damage(text, end)
    return Parsed([*objects, *behind], whole=False, bad_utf8=bad, resumed=bool(behind))


def _objects(text: str, start: int) -> tuple[list[dict[str, object]], int, int]:
    """Read JSON values from ``start`` on; return the objects, and where last and first ended."""
    objects: list[dict[str, object]] = []
    end = first = start
    while end < len(text):
        try:
            value, end = wire_json.scan(text, end)
        except ValueError:
            break
        first = end if first == start else first
        if isinstance(value, dict):
            objects.append(value)
        while text[end : end + 1] in (" ", "\t", "\r", "\0"):
            end += 1
    return objects, end, first


def _behind_damage(text: str, start: int) -> list[dict[str, object]]:
    """Return the objects behind the half one at ``start``: only such as reach the line's end.

    What stands inside the half one does not, so it is never taken for a line; it is passed over
    as a whole. What is tried and broken is counted, so that no line costs more than a few.
    """
    left = MAX_RESTARTS
    at = text.find('{"', start + 1)
    while at >= 0 and left:
        objects, end, first = _objects(text, at)
        if end == len(text) and not _is_inside(text[start:at]):
            return objects
        left -= end in (at, len(text))
        at = text.find('{"', max(first, at + 1))
    return []


def _is_inside(before: str) -> bool:
    """Say whether a value that follows ``before`` is a part of it, to all appearance.

    A line torn right behind an inner object looks like one torn right before a whole line. It
    does not where the writer died inside a string, or where no value could follow.
    """
    parts = before.replace("\\\\", "").replace('\\"', "").split('"')
    if len(parts) % 2 == 0:  # an open string
        return False
    outside = '"'.join(parts[::2]).rstrip(" \t")
    closed = 0
    for char in reversed(outside):
        if char in "]}":
            closed += 1
        elif char in "[{":
            if not closed:
                return outside.endswith(":" if char == "{" else ("[", ","))
            closed -= 1
    return False


def why_not(line: dict[str, object]) -> str:
    """Return why nothing on this line counts as written by the assistant, or ``""``."""
    kind = line.get("type")
    message = line.get("message")
    if kind != "assistant" or not isinstance(message, dict):
        return "not-assistant"
    if message.get("role", "assistant") != "assistant":
        return "not-assistant"
    if line.get("isMeta"):
        return "meta"
    if line.get("isCompactSummary"):
        return "compact-summary"
    if line.get("isApiErrorMessage") or message.get("model") == "<synthetic>":
        return "client-message"
    return ""


def text_blocks(line: dict[str, object]) -> list[tuple[int, str]]:
    """Return (block index, text) of each text block that is not blank.

    The index is ``apiBlockIndex`` where the client wrote one (a line per block), else the
    place in the content list; both together where a line with an index holds several.
    """
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    first = line.get("apiBlockIndex")
    base = first if type(first) is int and 0 <= first <= MAX_BLOCK else 0
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    blocks: list[tuple[int, str]] = []
    for index, block in enumerate(content):
        if isinstance(block, dict) and block.get("type") == "text":
            text = block.get("text")
            if isinstance(text, str) and not text.isspace() and text:
                blocks.append((base + index, text))
    return blocks


def describe(line: dict[str, object], offset: int) -> Line:
    message = line.get("message")
    uuid = _text(line, "uuid")
    at_text = _text(line, "timestamp")
    return Line(
        session_id=_text(line, "requestSessionId") or session_of(line),
        message_id=(_text(message, "id") if isinstance(message, dict) else "") or uuid,
        at=parse_iso(at_text),
        at_text=at_text,
        cwd=_text(line, "cwd"),
        branch=_text(line, "gitBranch"),
        uuid=uuid,
        offset=offset,
        sidechain=line.get("isSidechain") is True,
    )


def session_of(line: dict[str, object]) -> str:
    return _text(line, "sessionId") or _text(line, "session_id")


def _text(line: dict[str, object], name: str) -> str:
    value = line.get(name)
    return clean(value) if isinstance(value, str) else ""
