"""The transcript as it lies on disk: its bytes, and whether it is still the one we saved."""

from __future__ import annotations

import os
import stat
import zlib

from scripts.swarm_v2.digest import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.swarm_v2.store.archive.manifest import Transcript

HEAD = 4096
BLOCK = 1 << 20
LOOK = 256 << 10  # where a transcript's first time and folder are looked for


def open_file(path: str) -> int:
    """Return a descriptor of a regular file, -1 where there is none.

    Raises:
        OSError: it cannot be opened.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return -1
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    return -1


def signature(fd: int) -> str:
    info = os.fstat(fd)
    return f"{info.st_dev}.{info.st_ino}.{info.st_size}.{info.st_mtime_ns}"


def blocks(fd: int, start: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes from ``start`` to ``stop``, or to where the file ends before that."""
    while start < stop and (block := os.pread(fd, min(BLOCK, stop - start), start)):
        start += len(block)
        yield block


def read(fd: int, start: int, size: int) -> bytes:
    return b"".join(blocks(fd, start, start + size))


def head(data: bytes) -> str:
    """Return the digest of a file's first ``HEAD`` bytes."""
    return short_digest(data[:HEAD])


def goes_on(fd: int, saved: Transcript) -> bool:
    """Say whether the file begins with what was saved, as far as a quick look can tell.

    Looked at are its first 4 KiB, the last segment and all that lies behind it.
    """
    if os.fstat(fd).st_size < saved.size:
        return False
    if head(read(fd, 0, min(HEAD, saved.size))) != saved.head:
        return False
    for last in saved.segments[-1:]:
        if zlib.crc32(read(fd, saved.settled - last.size, last.size)) != last.crc:
            return False
    return not saved.tail or short_digest(read(fd, saved.settled, saved.tail_size)) == saved.tail


def described(fd: int) -> tuple[str, str]:
    """Return the first time and the first folder that the file's lines name, "" if none do."""
    start = read(fd, 0, LOOK)
    return _first(start, b'"timestamp":"'), _first(start, b'"cwd":"')


def _first(data: bytes, opener: bytes) -> str:
    at = data.find(opener)
    if at < 0:
        return ""
    start = at + len(opener)
    end = data.find(b'"', start, start + 4096)
    raw = data[start : max(end, start)]
    from scripts.swarm_v2.wire_json import clean, loads

    try:
        found = loads(b'"' + raw + b'"')
    except ValueError:
        return ""
    return clean(str(found))
