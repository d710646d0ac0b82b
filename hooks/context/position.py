"""How far a transcript was read, in a form that a changed file does not answer to.

A position holds for a file with the same device and inode, at least as long, whose first and
whose last 4 KiB before the offset are the same. It cannot see a change between those two parts
that keeps the length; only a rewrite by hand does that.
"""

from __future__ import annotations

import os

from scripts.swarm_v2.digest import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

SPAN = 4096  # bytes at the start, and before the offset, that must not have changed


class Position(NamedTuple):
    """``offset`` is the first byte not yet read: always the start of a line."""

    device: int
    inode: int
    offset: int
    head_hash: str
    tail_hash: str


def position_at(fd: int, offset: int) -> Position:
    """Make the position at ``offset``; the start of the file where it no longer is that long."""
    info = os.fstat(fd)
    offset = offset if offset <= info.st_size else 0
    head, tail = _hashes(fd, offset)
    return Position(info.st_dev, info.st_ino, offset, head, tail)


def valid(position: Position, fd: int) -> bool:
    """Say whether what was read up to ``position`` is still what the file holds there."""
    info = os.fstat(fd)
    if (info.st_dev, info.st_ino) != (position.device, position.inode):
        return False
    if info.st_size < position.offset:
        return False
    return _hashes(fd, position.offset) == (position.head_hash, position.tail_hash)


def encode_position(position: Position) -> dict[str, object]:
    return {"v": 1, **position._asdict()}


def parse_position(raw: Mapping[str, object] | None) -> Position | None:
    """Read an encoded position; None for damage or a version that we do not know."""
    if raw is None or raw.get("v") != 1:
        return None
    device, inode, offset = (_count(raw.get(name)) for name in ("device", "inode", "offset"))
    head, tail = raw.get("head_hash"), raw.get("tail_hash")
    if min(device, inode, offset) < 0 or not (_is_hash(head) and _is_hash(tail)):
        return None
    return Position(device, inode, offset, str(head), str(tail))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")


def _hashes(fd: int, offset: int) -> tuple[str, str]:
    span = min(SPAN, offset)
    return sha256_hex(_read(fd, span, 0)), sha256_hex(_read(fd, span, offset - span))


def _read(fd: int, size: int, offset: int) -> bytes:
    parts = b""
    while len(parts) < size and (part := os.pread(fd, size - len(parts), offset + len(parts))):
        parts += part
    return parts
