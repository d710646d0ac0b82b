"""Whether the caches still are what a file brain's folder holds. Nothing here is for other brains.

A refresh notes how the folder looked before it was read (``folder-print``, one for each project
whose caches it wrote), and the worker for which tombstones in it this home was searched.
"""

from __future__ import annotations

from hooks.context import project_cache
from hooks.context.brain_adapter import brain_kind, namespace
from hooks.quick import signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from hooks.settings import Settings

_KIND = "folder-print"
_BURIED = "buried"


def watched(settings: Settings) -> list[str]:
    """Return the folder as ``quick.signature`` knows it; nothing for any other brain."""
    return [_folder(settings)] if brain_kind(settings) == "file" else []


def look(settings: Settings) -> str:
    """Return how the folder looks now; "" where there is none to look at."""
    if brain_kind(settings) != "file":
        return ""
    from hooks.context.brains.folder_print import AWAY

    seen = signature(_folder(settings))
    return "" if seen == AWAY else seen


def _folder(settings: Settings) -> str:
    return settings.brain_path.rstrip("/") + "/"


def note(settings: Settings, seen: str, projects: Iterable[str], at: datetime) -> None:
    """Note that the caches of ``projects`` hold what the folder held when it looked like this."""
    for project in projects if seen else ():
        space = namespace(settings, project)
        project_cache.store(settings.home, space, _KIND, {"print": seen}, at=at)


def is_noted(settings: Settings, seen: str, project: str, at: datetime) -> bool:
    found = project_cache.load(settings.home, namespace(settings, project), _KIND, at=at)
    return found is not None and found.get("print") == seen


def buried(settings: Settings) -> frozenset[str]:
    """Return the ids that have a tombstone in the folder."""
    if brain_kind(settings) != "file":
        return frozenset()
    from hooks.context.brains.folder_print import buried_in

    return buried_in(settings.brain_path)


def note_obeyed(settings: Settings, keys: frozenset[str], at: datetime) -> None:
    """Note that this home holds nothing of ``keys`` any more."""
    said: dict[str, object] = {"print": _digest(keys)}
    project_cache.store(settings.home, namespace(settings), _KIND, said, _BURIED, at=at)


def is_obeyed(settings: Settings, keys: frozenset[str], at: datetime) -> bool:
    if not keys:
        return True
    found = project_cache.load(settings.home, namespace(settings), _KIND, _BURIED, at=at)
    return found is not None and found.get("print") == _digest(keys)


def _digest(keys: frozenset[str]) -> str:
    from scripts.swarm_v2.digest import short_digest

    return short_digest("".join(sorted(keys)).encode("ascii"))
