"""Which ranges of files an agent was shown and still has before it: ``Key("reads", session)``.

``{"reads": {mark: {"at", "text"}}}``, the newest last. A mark is made over the session's epoch, the
agent, the file (real path, device, inode, size, times of change) and the range; ``text`` over what
stands there. Both are asked of the file each time: a file that was replaced by one of the same
times and size is another.

It falls open: whatever is in doubt is read. Noted is only a whole range of text that the agent was
shown exactly as the file has it. A note is good for one denial, and the next read goes through:
nobody tells a hook that the person rewound the conversation, that the client dropped an old
result, or that another hook put another text in its place.
"""

from __future__ import annotations

import os
import stat

from hooks import atomic
from hooks.quick import reads_note
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.wire_json import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple, TypeGuard

    from hooks.context.session_state import Document
else:
    from hooks.record import NamedTuple

TOOL = "Read"
MOST_BYTES = 1 << 20  # of a file; the client itself shows less at once
_MOST = 256  # ranges that are remembered
_ASKS = frozenset(("file_path", "offset", "limit"))
_TELLS = frozenset(("filePath", "content", "numLines", "startLine", "totalLines"))


class Asked(NamedTuple):
    """What a read asks for; any other word in it is a doubt."""

    path: str
    offset: int = 1  # the first line, from 1
    limit: int = 0  # lines; 0: up to the end


class Range(NamedTuple):
    mark: str
    text: str


def asked(tool_input: Mapping[str, object]) -> Asked | None:
    """Return what is to be read, or None where that is not a range of lines of a file."""
    path, offset, limit = (tool_input.get(name) for name in ("file_path", "offset", "limit"))
    offset, limit = 1 if offset is None else offset, 0 if limit is None else limit
    if not _ASKS.issuperset(tool_input) or not isinstance(path, str) or "\0" in path:
        return None
    if not _is_whole(offset) or not _is_whole(limit) or not os.path.isabs(path):
        return None
    if "limit" in tool_input and limit == 0:
        return None
    return Asked(path, offset or 1, limit)  # the client takes 0 as 1


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40


def shown(tool_response: object, wanted: Asked) -> str | None:
    """Return the text that a read showed of the file; None: a picture, a part, another file."""
    if not isinstance(tool_response, dict) or tool_response.get("type") != "text":
        return None
    file = tool_response.get("file")
    if not isinstance(file, dict) or not _TELLS.issuperset(file):  # truncatedByTokenCap
        return None
    path, content = file.get("filePath"), file.get("content")
    if (file.get("startLine") or 1) != wanted.offset:
        return None
    if not isinstance(path, str) or not isinstance(content, str) or "\0" in path:
        return None
    return content if os.path.realpath(path) == os.path.realpath(wanted.path) else None


def look(wanted: Asked, agent: str, epoch: str) -> Range | None:
    """Return what stands in the range now.

    None where it is not plain text, cannot be read (any more), or changes right now.
    """
    try:
        return _look(wanted, agent, epoch)
    except OSError:
        return None


def _look(wanted: Asked, agent: str, epoch: str) -> Range | None:
    real = os.path.realpath(wanted.path)
    fd = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        before = os.fstat(fd)
        if not stat.S_ISREG(before.st_mode) or not 0 < before.st_size <= MOST_BYTES:
            return None
        data = _read(fd)
        if len(data) != before.st_size or _identity(os.fstat(fd)) != _identity(before):
            return None
    finally:
        os.close(fd)
    text = _lines(data, wanted)
    # A file of that path that is not the one which was read: it is being replaced.
    if not text or _identity(os.stat(real)) != _identity(before):
        return None
    parts = [epoch, agent, real, *_identity(before), wanted.offset, wanted.limit]
    return Range(short_digest(canonical(parts)), text)


def _read(fd: int) -> bytes:
    data = b""
    while len(data) <= MOST_BYTES and (part := os.read(fd, MOST_BYTES + 1 - len(data))):
        data += part
    return data


def _identity(info: os.stat_result) -> tuple[int, ...]:
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def _lines(data: bytes, wanted: Asked) -> str:
    """Return the range as the client joins it; "" where it is not text."""
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return ""
    first = wanted.offset - 1
    return "\n".join(lines[first : first + wanted.limit if wanted.limit else None])


def epoch(home: str, session: str) -> str:
    """Return what every note of the session is made with; "" where none was made since.

    It is a file and not in the state, so that to forget works while the state is out of reach.
    """
    try:
        return (atomic.read(reads_note(home, session), 256) or b"").decode("ascii", "replace")
    except OSError:
        return ""


def begin_epoch(home: str, session: str) -> str:
    """Return the session's epoch, begun here where there was none.

    Raises:
        OSError: it cannot be written: then nothing can be noted.
    """
    found = epoch(home, session)
    if not found:
        new = os.urandom(16).hex().encode("ascii")
        atomic.link_new(reads_note(home, session), new, durable=False)
        found = epoch(home, session)  # the first of several hooks made it
    return found


def end_epoch(home: str, session: str) -> None:
    """Forget every read of the session's agents.

    Raises:
        OSError: it cannot be removed; what the state holds has to go instead.
    """
    try:
        os.unlink(reads_note(home, session))
    except FileNotFoundError:
        return


def _digest(text: str) -> str:
    return short_digest(text.encode("utf-8"))


def _reads(document: Document) -> dict[str, object]:
    found = document.get("reads")
    return found if isinstance(found, dict) else {}


def noted(document: Document, found: Range) -> str:
    """Return when the agent was shown exactly this, as an ISO instant; "" where it was not."""
    row = _reads(document).get(found.mark)
    if not isinstance(row, dict) or row.get("text") != _digest(found.text):
        return ""
    at = row.get("at")
    return at if isinstance(at, str) else ""


def note(document: Document, found: Range, at: str) -> Document:
    """Return the document with ``found`` as its newest."""
    row: object = {"at": at, "text": _digest(found.text)}
    kept = [item for item in _reads(document).items() if item[0] != found.mark][1 - _MOST :]
    return {"reads": {**dict(kept), found.mark: row}}


def drop(document: Document, mark: str) -> Document:
    """Return the document without that note."""
    kept = {name: row for name, row in _reads(document).items() if name != mark}
    return {"reads": kept} if kept else {}


def denial(wanted: Asked, at: str) -> str:
    """Say that it was not read again, and how to read it all the same."""
    where = wanted.path
    if wanted.limit:
        where += f", lines {wanted.offset} to {wanted.offset + wanted.limit - 1},"
    elif wanted.offset > 1:
        where += f" from line {wanted.offset}"
    return (
        f"{where} is unchanged since you read it at {at[11:19]} UTC; the content is in your "
        "context above. If it is not there any more, read it again: the next try is let through."
    )
