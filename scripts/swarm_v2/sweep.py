"""Removing caches by name: those of the older format, and those that a refresh makes again."""

from __future__ import annotations

import os

from scripts.swarm_v2.keyspace import PREFIX, is_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DROPPED_KINDS = ("feed", "project-memory")  # never pending: it is context not yet delivered
_JSON = ".json"


def is_legacy(name: str) -> bool:
    """Say whether the older format wrote a cache of this file name.

    These are ``feed.json``, ``<24 hex>.json`` and ``pending-<24 hex>.json``.
    """
    stem = name.removesuffix(_JSON)
    if stem == name or name.startswith(PREFIX):
        return False
    return stem == "feed" or is_hex(stem.removeprefix("pending-"), 24)


def is_dropped(name: str) -> bool:
    """Say whether ``name`` is ``k2-feed-<32 hex>.json`` or ``k2-project-memory-<32 hex>.json``."""
    stem = name.removesuffix(_JSON)
    kind, _, digest = stem.removeprefix(PREFIX).rpartition("-")
    return (
        name == f"{PREFIX}{kind}-{digest}{_JSON}" and kind in DROPPED_KINDS and is_hex(digest, 32)
    )


def sweep_legacy(directory: str | os.PathLike[str], limit: int = 32) -> int:
    """Remove at most ``limit`` caches of the older format; return how many went.

    A few at a time, because hooks call it. What cannot be removed now waits for the next call.
    """
    gone = 0
    for path in _files(directory, is_legacy):
        if gone >= limit:
            break
        try:
            os.unlink(path)
        except OSError:  # somebody else was first, or may not: old caches are never read anyway
            continue
        gone += 1
    return gone


def caches_below(directory: str) -> str:
    """Return the folder of caches that a home, or its ``brain`` folder, holds; "" for any other."""
    for below in ("project-memory", os.path.join("brain", "project-memory")):
        if os.path.isdir(os.path.join(directory, below)):
            return os.path.join(directory, below)
    return ""


def drop_namespaced(directory: str | os.PathLike[str]) -> int:
    """Remove every feed and project cache of this format; return how many went.

    Pending contexts, the session index, scope logs and the outbox stay: nothing makes them again.

    Raises:
        OSError: one could not be removed; those before it are gone.
    """
    gone = 0
    for path in _files(directory, is_dropped):
        try:
            os.unlink(path)
        except FileNotFoundError:  # a second drop, or a refresh that replaced it
            continue
        gone += 1
    return gone


def _files(directory: str | os.PathLike[str], wanted: Callable[[str], bool]) -> Iterator[str]:
    try:
        entries = os.scandir(os.fspath(directory))
    except FileNotFoundError:
        return
    with entries:
        for entry in entries:
            if wanted(entry.name) and not entry.is_dir(follow_symlinks=False):
                yield entry.path
