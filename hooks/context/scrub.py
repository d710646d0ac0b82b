"""Take a forgotten memory's words out of caches and of the notes of what sessions were told."""

from __future__ import annotations

import os
import stat

from hooks import atomic
from hooks.context import project_cache
from hooks.context.injections import MAX_BYTES, path_of
from scripts.swarm_v2.keyspace import is_hex
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

FORGOTTEN = "(forgotten)"


class Doomed(NamedTuple):
    """What is to be nowhere: a memory by its key or name, or a document and what it has of parts.

    ``parts``: also what is told of its members, as ``notes/goals`` of the notes. ``session``: the
    only one that was ever told of it.
    """

    key: str
    session: str = ""
    parts: bool = False

    @property
    def needle(self) -> bytes:
        """Return what a file that speaks of it holds: a marker's key, or a name as JSON has it."""
        name = self.key if is_hex(self.key, 32) else dumps(self.key)
        return (name.removesuffix('"') if self.parts else name).encode("ascii")

    def is_among(self, ids: object) -> bool:
        return any(
            one == self.key
            or (self.parts and isinstance(one, str) and one.startswith(f"{self.key}/"))
            for one in (ids if isinstance(ids, list) else ())
        )


def drop_cached(home: str, *doomed: Doomed | str) -> int:
    """Remove every cached document that holds one of them; return how many there were.

    Not only the caches of its own project: an accepted memory may be in any, also in those of a
    project that nobody has opened for months.
    """
    folder = os.path.join(home, project_cache.FOLDER)
    limit = max(kind.max_bytes for kind in project_cache.KINDS.values())
    needles = [one.needle for one in _all(doomed)]
    dropped = 0
    for path in _documents(folder, "k2-"):
        data = atomic.read(path, limit)
        if data is not None and any(needle in data for needle in needles):
            os.unlink(path)
            dropped += 1
    return dropped


def _all(doomed: Iterable[Doomed | str]) -> list[Doomed]:
    return [Doomed(one) if isinstance(one, str) else one for one in doomed]


def _documents(folder: str, prefix: str = "") -> list[str]:
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [os.path.join(folder, name) for name in names if name.startswith(prefix)]


def scrub_notes(home: str, *doomed: Doomed | str) -> int:
    """Replace every noted line that one of them stood behind; return how many files changed.

    A session that notes something in the same instant can lose that one note: it then hears the
    same news once more, which is better than a lock in every session start.
    """
    folder = os.path.dirname(path_of(home, "any"))
    every = _all(doomed)
    return sum(_scrub_file(path, every) for path in _documents(folder))


def _scrub_file(path: str, doomed: Iterable[Doomed]) -> bool:
    data = atomic.read(path, MAX_BYTES)
    if data is None and _is_too_large(path):
        os.unlink(path)  # nobody reads it any more
        return True
    name = os.path.basename(path)
    here = [one for one in doomed if one.session == "" or name == f"{one.session}.jsonl"]
    found = [one for one in here if data is not None and one.needle in data]
    if data is None or not found:
        return False
    lines = [_scrub_line(line, found) for line in data.split(b"\n")]
    atomic.write(path, b"\n".join(lines))
    return True


def _is_too_large(path: str) -> bool:
    found = os.lstat(path)
    return stat.S_ISREG(found.st_mode) and found.st_size > MAX_BYTES


def _scrub_line(line: bytes, doomed: Iterable[Doomed]) -> bytes:
    row = load_object(line) if line else None
    sources = row.get("sources") if row is not None else None
    if row is None or not isinstance(sources, list):
        # torn: nobody reads it any more
        return b"" if any(one.needle in line for one in doomed) else line
    touched = False
    for source in sources:
        if isinstance(source, dict) and any(one.is_among(source.get("ids")) for one in doomed):
            source["line"], touched = FORGOTTEN, True
    if not touched:
        return line
    return dumps({**row, "text": FORGOTTEN}).encode("ascii")
