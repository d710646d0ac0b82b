"""Bring the caches up to what the brain knows: the worker's part, and a hook's on a miss."""

from __future__ import annotations

from hooks.context import folder_seen, project_cache, session_index
from hooks.context.brain_adapter import namespace, principal
from hooks.context.shelf import shelve
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from hooks.context.brains import Brain, Item
    from hooks.settings import Settings

MAX_PROJECTS = 50  # the most recent ones of the index, when every project may have changed


def refresh(
    settings: Settings, brain: Brain, at: datetime, projects: Iterable[str] | None = None
) -> int:
    """Rewrite the feed and the memories of ``projects`` (None: of every recent one).

    Returns how many documents changed. Equal documents keep their file, so that other sessions
    are woken only by news.

    Raises:
        BrainError: the brain did not answer; documents written so far stay.
    """
    home = settings.home
    seen = folder_seen.look(settings)  # before it is read: what changes meanwhile is seen again
    feed = shelve(brain.feed(), project_cache.KINDS["feed"].max_bytes)
    changed = int(project_cache.store_feed(home, namespace(settings), feed, at=at))
    index = session_index.read(home)
    wanted = _recent(index) if projects is None else list(projects)
    for project in wanted:
        if project not in ("", "unknown"):
            changed += _refresh_project(settings, brain, at, project, index)
    folder_seen.note(settings, seen, wanted, at)
    if hasattr(brain, "catalog"):  # a service: verbs cannot ask it
        from hooks.context.brains import catalog

        before = catalog.read(settings, at) or []
        changed += catalog.store(settings, brain.catalog(before), at)
    return changed


def _recent(index: list[session_index.Entry]) -> list[str]:
    newest_first = dict.fromkeys(entry.project_id for entry in reversed(index))
    return list(newest_first)[:MAX_PROJECTS]


def _refresh_project(
    settings: Settings,
    brain: Brain,
    at: datetime,
    project: str,
    index: list[session_index.Entry],
) -> int:
    space, who = namespace(settings, project), principal(settings)
    mine = resolve_scope_key("user", Identity(who))
    by_key: dict[str, list[Item]] = {"space": [], mine: []}
    for entry in index:  # a session whose last note was forgotten needs an empty document
        if entry.project_id == project:
            by_key[resolve_scope_key("session", Identity(who, entry.session_id))] = []
    for item in brain.project_memory(project, who):
        by_key.setdefault(item.scope_key, []).append(item)
    changed = 0
    for scope_key, items in by_key.items():
        kind, part = _document(project, scope_key)
        path = project_cache.document_path(settings.home, space, kind, part)
        if kind == "session-memory" and not items and not _exists(path):
            continue
        shelf = shelve(items, project_cache.KINDS[kind].max_bytes)
        payload: dict[str, object] = {"items": list(shelf.items), "left_out": shelf.left_out}
        changed += project_cache.store(settings.home, space, kind, payload, part, at=at)
    return changed


def _document(project: str, scope_key: str) -> tuple[str, str]:
    """Return the cache kind and part that hold one scope's memories of a project."""
    scope = scope_of(scope_key)
    if scope == "user":
        return "personal-memory", scope_key
    if scope == "session":
        return "session-memory", scope_key
    return "project-memory", project


def _exists(path: str) -> bool:
    import os

    return os.path.exists(path)
