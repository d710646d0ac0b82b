"""Take a forgotten memory's words out of caches and of the notes of what sessions were told."""

from __future__ import annotations

import os
import stat

from hooks import atomic
from hooks.context import project_cache
from hooks.context.injections import MAX_BYTES, path_of
from scripts.swarm_v2.keyspace import is_hex
from scripts.swarm_v2.wire_json import dumps, load_object

FORGOTTEN = "(forgotten)"


def drop_cached(home: str, key: str, *, parts: bool = False) -> int:
    """Remove every cached document that holds memory ``key``; return how many there were.

    ``parts``: also what is told of a document's members, as ``notes/goals`` of the notes.

    Not only the caches of its own project: an accepted memory may be in any, also in those of a
    project that nobody has opened for months.
    """
    folder = os.path.join(home, project_cache.FOLDER)
    limit = max(kind.max_bytes for kind in project_cache.KINDS.values())
    dropped = 0
    for path in _documents(folder, "k2-"):
        data = atomic.read(path, limit)
        if data is not None and _needle(key, parts) in data:
            os.unlink(path)
            dropped += 1
    return dropped


def _documents(folder: str, prefix: str = "") -> list[str]:
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [os.path.join(folder, name) for name in names if name.startswith(prefix)]


def scrub_notes(home: str, key: str, session: str = "", *, parts: bool = False) -> int:
    """Replace every noted line that memory ``key`` stood behind; return how many files changed.

    Only the notes of ``session`` where one is named: nobody else was ever told of it.

    A session that notes something in the same instant can lose that one note: it then hears the
    same news once more, which is better than a lock in every session start.
    """
    folder = os.path.dirname(path_of(home, "any"))
    only = os.path.basename(path_of(home, session)) if session else ""
    names = [path for path in _documents(folder) if only in ("", os.path.basename(path))]
    return sum(_scrub_file(path, key, parts) for path in names)


def _needle(key: str, parts: bool) -> bytes:
    """Return what a file that speaks of ``key`` holds: a marker's key, or a name as JSON has it."""
    name = key if is_hex(key, 32) else dumps(key)
    return (name.removesuffix('"') if parts else name).encode("ascii")


def _names(ids: object, key: str, parts: bool) -> bool:
    """Say whether ``key``, or a member of it, is among the ids behind a line."""
    return any(
        one == key or (parts and isinstance(one, str) and one.startswith(f"{key}/"))
        for one in (ids if isinstance(ids, list) else ())
    )


def _scrub_file(path: str, key: str, parts: bool) -> bool:
    data = atomic.read(path, MAX_BYTES)
    if data is None and _is_too_large(path):
        os.unlink(path)  # nobody reads it any more
        return True
    if data is None or _needle(key, parts) not in data:
        return False
    lines = [_scrub_line(line, key, parts) for line in data.split(b"\n")]
    atomic.write(path, b"\n".join(lines))
    return True


def _is_too_large(path: str) -> bool:
    found = os.lstat(path)
    return stat.S_ISREG(found.st_mode) and found.st_size > MAX_BYTES


def _scrub_line(line: bytes, key: str, parts: bool) -> bytes:
    row = load_object(line) if line else None
    sources = row.get("sources") if row is not None else None
    if row is None or not isinstance(sources, list):
        return b"" if _needle(key, parts) in line else line  # torn: nobody reads it any more
    touched = False
    for source in sources:
        if isinstance(source, dict) and _names(source.get("ids"), key, parts):
            source["line"], touched = FORGOTTEN, True
    if not touched:
        return line
    return dumps({**row, "text": FORGOTTEN}).encode("ascii")
