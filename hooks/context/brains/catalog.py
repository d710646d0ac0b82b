"""A brain service as the person's verbs see it: from what the worker fetched last, off the net.

A verb runs inside the agent's prompt and waits for no network. What it changes is written down
here at once (tombstone, acceptance, outbox) and holds at once; the worker brings the service to
know of it where the service can.
"""

from __future__ import annotations

from hooks.context import project_cache
from hooks.context.brain_adapter import brain_id, namespace, principal
from hooks.context.brains import Ack, Item, http_items, service_notes
from hooks.context.brains.sight import aliases
from hooks.context.ledger_notes import Graves
from hooks.context.remote import apply_alias
from hooks.errors import BrainUnreachable
from scripts.swarm_v2.scope_key import scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from hooks.settings import Settings

KIND = "catalog"
NAME = "http"


class NothingReadError(BrainUnreachable):
    """No list of what the service has came to this machine; whether it answers is not known."""

    def __init__(self) -> None:
        super().__init__(NAME, "nothing that the brain service has could be read yet")
        self.args = (self.what,)
        self.hint = "brainhooks doctor asks it and says why; each session start reads it again"


def store(settings: Settings, items: Iterable[Item], at: datetime) -> bool:
    """Write what verbs can speak of; say whether it changed."""
    payload: dict[str, object] = {"items": [item.to_dict() for item in items]}
    return project_cache.store(settings.home, namespace(settings), KIND, payload, at=at)


def read(settings: Settings, at: datetime) -> list[Item] | None:
    """Return what was stored of this very brain; None where nothing usable was."""
    found = project_cache.load(settings.home, namespace(settings), KIND, at=at)
    rows = found.get("items") if found is not None else None
    if not isinstance(rows, list):
        return None
    return [item for item in map(Item.from_dict, rows) if item is not None]


def connect(settings: Settings, at: datetime) -> Catalog:
    """Open what is on disk of the configured brain service.

    Raises:
        BrainUnreachable: nothing is.
    """
    if read(settings, at) is None:
        raise NothingReadError
    return Catalog(settings, at)


def ids_of(home: str, project: str) -> set[str]:
    """Return a project's id and every former one that an alias leads to it."""
    known = aliases(home)
    return {project, *(old for old in known if apply_alias(old, known) == project)}


class Catalog:
    """See ``brains.Brain`` and ``verbs.library.Library``. Every call reads what is on disk now."""

    def __init__(self, settings: Settings, at: datetime) -> None:
        self._settings, self._home, self._at = settings, settings.home, at
        self._who, self._brain = principal(settings), brain_id(settings)

    @property
    def _items(self) -> list[Item]:
        graves = Graves(self._home)
        accepted = service_notes.read(self._home, self._brain).accepted
        items = read(self._settings, self._at) or []
        return http_items.accept([i for i in items if i.id not in graves.keys], accepted)

    def close(self) -> None:
        """Nothing is held open."""

    def feed(self) -> list[Item]:
        return http_items.everywhere(self._items)

    def project_memory(self, project: str, principal: str) -> list[Item]:
        if project in ("", http_items.UNKNOWN, http_items.FLEET):
            return []
        return http_items.of_project(self._items, ids_of(self._home, project), principal)

    def catalog(self, before: Iterable[Item]) -> list[Item]:  # noqa: ARG002 - it is all there is
        return list(self._items)

    def find(self, prefix: str) -> list[Item]:
        return [item for item in self._items if item.id.startswith(prefix.lower())]

    def search(self, query: str, project: str, limit: int = 20) -> list[Item]:
        words = query.lower().split()
        seen = [*self.project_memory(project, self._who), *self.feed()]
        hits = {
            item.id: item
            for item in seen
            if words and all(word in f"{item.text} {item.title}".lower() for word in words)
        }
        return list(hits.values())[:limit]

    def waiting(self) -> list[Item]:
        return http_items.waiting(self._items)

    def history(self, key: str) -> list[Item]:  # noqa: ARG002 - a replaced one is not kept
        return []

    def attrs_of(self, key: str) -> dict[str, str]:
        """Return what places a memory where it is; the service's other attributes are its own."""
        found = [item for item in self._items if item.id == key]
        if not found:
            return {}
        item = found[0]
        project = "" if item.project in (http_items.FLEET, http_items.UNKNOWN) else item.project
        share = http_items.FLEET if item.project == http_items.FLEET else ""
        scope = scope_of(item.scope_key)
        attrs = {
            "project_id": project,
            "share": share,
            "scope": "" if scope == "space" else scope,
            "session_id": item.session,
            "severity": item.severity,
            "title": item.title,
            "path": item.path,
        }
        return {name: value for name, value in attrs.items() if value}

    def accept(self, key: str) -> bool:
        found = [item for item in self._items if item.id == key]
        for item in found:
            digest = http_items.content_hash(item)
            service_notes.note_accepted(self._home, self._brain, key, digest)
        return bool(found)

    def forget(self, key: str) -> bool:
        """Take it out of what is on disk; the caller's tombstone keeps it out."""
        items = read(self._settings, self._at) or []
        left = [item for item in items if item.id != key]
        store(self._settings, left, self._at)
        return len(left) < len(items)

    def unattributed(self) -> list[Item]:
        return [item for item in self._items if item.project == http_items.UNKNOWN]

    def counts(self, project: str) -> dict[str, int]:
        return {
            "project": len(self.project_memory(project, self._who)),
            "all": len(self._items),
            "waiting": len(self.waiting()),
        }

    def post_marker(self, body: Mapping[str, object], key: str) -> Ack:  # noqa: ARG002 - never
        raise BrainUnreachable(NAME, "markers go to it by the worker")

    def health(self) -> dict[str, object]:
        service = service_notes.read(self._home, self._brain).service
        return {"kind": NAME, "service": service, "memories": len(self._items)}
