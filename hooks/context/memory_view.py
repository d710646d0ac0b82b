"""What one session may be told right now, read from disk and from nowhere else."""

from __future__ import annotations

import os

from hooks.atomic import read as read_file
from hooks.clock import iso
from hooks.context import folder_seen, project_cache
from hooks.context.brain_adapter import LOCAL_DATABASE, brain_kind, namespace, principal
from hooks.context.brains import Item
from hooks.context.brains.replacing import may_replace, space_of
from hooks.context.compose import Section
from hooks.context.lifetime import is_over
from hooks.context.marks import TOMBSTONES
from hooks.context.remote import apply_alias
from scripts.swarm_v2.scope_key import (
    SESSION,
    SPACE,
    Identity,
    applies_to,
    resolve_scope_key,
    scope_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import NamedTuple

    from hooks.settings import Settings
    from scripts.swarm_v2.keyspace import Namespace
    from scripts.swarm_v2.memory.told import Facts
else:
    from hooks.record import NamedTuple

MAX_WAITING = 50  # outbox files read at a session start; more wait for the flush


class View(NamedTuple):
    """The sections in the order they are shown, and whether one is missing."""

    sections: tuple[Section, ...]
    complete: bool  # False: a document is missing or old and could not be made; ask the worker
    unreadable: str = ""  # what has no rights or is on a broken disk: something may be missing
    buried: frozenset[str] = frozenset()  # what was forgotten, here or in a folder; other words too
    obeyed: bool = True  # False: this home may hold what another one forgot; ask the worker
    context: dict[str, object] | None = None  # what the sections are of, where it was asked for
    facts: Facts | None = None  # and what else ``told.tell`` has to know

    @property
    def items(self) -> list[Item]:
        return [item for section in self.sections for item in section.items]


class Where(NamedTuple):
    """Whose view it is."""

    project: str
    session_id: str
    at: datetime


def view(settings: Settings, env: Mapping[str, str], where: Where) -> View:
    """Read this project's, this person's and this session's memories, the feed, and the outbox.

    An unknown project has no memory of its own. A missing document of a brain on this disk is
    made on the spot: the first session after a lost cache, or on a folder that has pages, should
    not start empty; and again where a folder of pages changed since. A large folder is left to
    the worker, but what has a tombstone in it is not shown. Where it cannot be read what was
    forgotten, nothing is shown.

    Raises:
        ValueError: ``installation.json`` breaks its grammar.
    """
    documents = _documents(settings, where)
    found = [_read(settings, where, document) for document in documents]
    folder = folder_seen.look(settings)
    complete = None not in found and _is_current(settings, where, folder)
    if not complete and _remake(settings, env, where, folder):
        found = [_read(settings, where, document) for document in documents]
        complete = None not in found
    forgotten = folder_seen.buried(settings)
    try:
        buried = _buried(settings.home) | forgotten
    except OSError as err:
        return View((), complete, str(err.filename))
    read = _once([section for section in found if section is not None], buried)
    known = {item.id for section in read for item in section.items}
    waiting, unreadable = _not_acknowledged(settings, where, known | buried)
    sections = [
        section._replace(items=[item for item in section.items if not _replaced(item, waiting)])
        for section in read
    ]
    obeyed = folder_seen.is_obeyed(settings, forgotten, where.at)
    return View((*sections, Section(_WAITING, waiting)), complete, unreadable, buried, obeyed)


def view_of_context(settings: Settings, env: Mapping[str, str], where: Where) -> View:
    """As ``view``; of the home's own brain its ``context`` instance, where that can be had.

    Raises:
        ValueError: ``installation.json`` breaks its grammar.
    """
    from hooks.context.own_context import context_for

    value = context_for(settings, where.project, where.session_id)
    if value is None:
        return view(settings, env, where)
    try:
        buried = _buried(settings.home)
    except OSError as err:
        return View((), complete=True, unreadable=str(err.filename))
    from scripts.swarm_v2.memory.told import Facts, sections, stored_sections

    known = {item.id for section in stored_sections(value) for item in section.items}
    waiting, unreadable = _not_acknowledged(settings, where, known | buried)
    facts = Facts(
        where.project,
        iso(where.at),
        settings.budget_units,
        waiting=tuple(waiting),
        buried=buried & known,
    )
    shown = tuple(sections(value, facts))
    return View(shown, True, unreadable, buried, context=value, facts=facts)


def watched(settings: Settings, where: Where) -> list[str]:
    """Return the files whose change can be news to the session, and a file brain's folder."""
    paths = [document.path(settings.home) for document in _documents(settings, where)]
    return [*paths, *folder_seen.watched(settings)]


def _once(sections: list[Section], buried: frozenset[str]) -> list[Section]:
    """Leave out what was forgotten, and in later sections what an earlier one has.

    What was accepted for everybody stands in its own project's memory and in the feed. Of a name
    that a memory was put under, the narrowest instance stands instead of the broader ones.
    """
    seen = set(buried)
    once = []
    narrowest: dict[str, str] = {}
    for section in sections:
        for item in section.items:
            held = narrowest.get(item.id, "")
            if scope_of(item.scope_key) != SPACE and scope_of(held or SPACE) != SESSION:
                narrowest[item.id] = item.scope_key
    for section in sections:
        items = [
            item
            for item in section.items
            if item.id not in seen and narrowest.get(item.id, item.scope_key) == item.scope_key
        ]
        once.append(section._replace(items=items))
        seen.update(item.id for item in items)
    return once


def _is_current(settings: Settings, where: Where, folder: str) -> bool:
    return not folder or folder_seen.is_noted(settings, folder, where.project, where.at)


_WAITING = "Just marked, not delivered yet"


class _Document(NamedTuple):
    title: str
    space: Namespace
    kind: str
    part: tuple[str, ...]
    optional: bool

    def path(self, home: str) -> str:
        return project_cache.document_path(home, self.space, self.kind, *self.part)


def _documents(settings: Settings, where: Where) -> list[_Document]:
    anywhere = _Document("From this brain", namespace(settings), "feed", (), optional=False)
    if where.project in ("", "unknown"):
        return [anywhere]
    who = principal(settings)
    here = namespace(settings, where.project)
    mine = resolve_scope_key("user", Identity(who))
    documents = [
        _Document("This project", here, "project-memory", (where.project,), optional=False),
        _Document("This person", here, "personal-memory", (mine,), optional=False),
        anywhere,
    ]
    if where.session_id:
        run = resolve_scope_key("session", Identity(who, where.session_id))
        documents.append(_Document("This session", here, "session-memory", (run,), optional=True))
    return documents


def _read(settings: Settings, where: Where, document: _Document) -> Section | None:
    payload = project_cache.load(
        settings.home,
        document.space,
        document.kind,
        *document.part,
        at=where.at,
    )
    if payload is None:
        return Section(document.title, []) if document.optional else None
    raw = payload.get("items")
    items = [Item.from_dict(row) for row in raw] if isinstance(raw, list) else []
    now = iso(where.at)
    live = [item for item in items if item is not None and not is_over(item.until, now)]
    left_out = payload.get("left_out")
    return Section(document.title, live, left_out if isinstance(left_out, int) else 0)


def _remake(settings: Settings, env: Mapping[str, str], where: Where, folder: str) -> bool:
    if not _is_soon_read(settings, folder):
        return False
    from hooks.context.brains import open_brain
    from hooks.context.refresh import refresh
    from hooks.errors import BrainError

    try:
        brain = open_brain(settings, env)
    except BrainError:
        return False
    try:
        refresh(settings, brain, where.at, [where.project])
    except BrainError:
        return False
    finally:
        brain.close()
    return True


def _is_soon_read(settings: Settings, folder: str) -> bool:
    if brain_kind(settings) == "local":
        return os.path.exists(os.path.join(settings.home, LOCAL_DATABASE))
    if not folder:
        return False
    from hooks.context.brains.folder_print import is_large

    return not is_large(folder)


def _not_acknowledged(settings: Settings, where: Where, known: set[str]) -> tuple[list[Item], str]:
    """Return the project's own markers that wait, as this session may see them.

    And the outbox's folder where it cannot be listed: what was delivered is still told.
    """
    from hooks.context import outbox

    mine = principal(settings)
    who = Identity(mine, where.session_id)
    items = []
    aliases = _aliases(settings.home)
    try:
        entries = outbox.newest(settings.home, MAX_WAITING)
    except OSError as err:
        return [], str(err.filename)
    for entry in entries:
        item = outbox.as_item(entry, mine)
        if item is None or item.id in known:
            continue
        if apply_alias(item.project, aliases) != where.project:
            continue
        if where.project not in ("", "unknown") and applies_to(item.scope_key, who):
            items.append(item)
    return items, ""


def _buried(home: str) -> frozenset[str]:
    """Return every word of the tombstones, ids among them: a forget may have died on its way."""
    data = read_file(os.path.join(home, TOMBSTONES), 64 << 20) or b""
    return frozenset(data.decode("ascii", "replace").split('"'))


def _aliases(home: str) -> dict[str, str]:
    from hooks.context import registry
    from hooks.errors import StateError

    try:
        return dict(registry.load(home).aliases)
    except StateError:
        return {}


def _replaced(item: Item, waiting: list[Item]) -> bool:
    """Say whether a waiting marker is about to hide ``item``, by the rule the brain will apply."""
    return any(
        new.supersedes
        and item.id.startswith(new.supersedes)
        and item.scope_key == new.scope_key
        and may_replace(new, item, space_of(item))
        for new in waiting
    )
