"""What a file brain's folder looks like without reading a page: whether it changed, what is buried.

Loaded by the door of a session on a file brain, before every prompt: nothing here opens a file.
"""

from __future__ import annotations

import os

from hooks.context.brains.file_names import grave_of, stem
from scripts.swarm_v2.digest import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_ENTRIES = 1_000  # looked at one by one, about 3 ms; and read at a session start, about 0.3 s
MAX_DEPTH = 8  # folders below the brain's own
AWAY = "-"  # there is no folder, or it cannot be listed
_MANY = "many"


def folder_print(path: str) -> str:
    """Return what changes when a page is added, changed, renamed or removed.

    Of a folder with more than ``MOST_ENTRIES`` names: when a name in it comes or goes, and not
    in the folders below.
    """
    pages: list[str] = []
    try:
        top = os.stat(path)
        for seen, (where, entry) in enumerate(_entries(path)):
            if seen >= MOST_ENTRIES:
                return f"{_MANY}.{top.st_dev}.{top.st_ino}.{top.st_mtime_ns}"
            if stem(entry.name):
                pages.append(f"{where}/{_signature(entry)}")
    except OSError:
        return AWAY
    pages.sort()
    return short_digest("\n".join(pages).encode("utf-8", "surrogateescape"))


def is_large(seen: str) -> bool:
    """Say whether a print is that of a folder with more than ``MOST_ENTRIES`` names."""
    return seen.startswith(_MANY)


def buried_in(path: str) -> frozenset[str]:
    """Return the ids that have a tombstone anywhere in the folder, by their names alone."""
    try:
        found = {grave_of(entry.name) for _, entry in _entries(path)}
    except OSError:
        return frozenset()
    return frozenset(found - {""})


def _entries(path: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield (place relative to ``path``, entry) of what a scan would meet.

    Raises:
        OSError: the folder itself cannot be listed; one below it that cannot has nothing.
    """
    folders = [("", 0)]
    while folders:
        below, depth = folders.pop()
        try:
            found = os.scandir(os.path.join(path, below) if below else path)
        except OSError:
            if not below:
                raise
            continue
        with found:
            for entry in found:
                where = below + entry.name
                yield where, entry
                if entry.name[0] != "." and depth < MAX_DEPTH and _is_folder(entry):
                    folders.append((where + "/", depth + 1))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _signature(entry: os.DirEntry[str]) -> str:
    try:
        info = entry.stat(follow_symlinks=False)
    except OSError:  # somebody moved it just now: another print, so another look
        return AWAY
    return f"{info.st_ino}.{info.st_size}.{info.st_mtime_ns}.{info.st_ctime_ns}"
