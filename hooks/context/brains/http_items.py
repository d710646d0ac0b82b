"""From the rows of a brain service's feed to memories, and who may see which.

A service's feed is for everybody on it, so the rules of who sees what hold here: what is
personal is only its owner's, what names a project is that project's until a person accepted it,
and what a person forgot is left out.
"""

from __future__ import annotations

from hooks.context import parts
from hooks.context.brains import Item
from hooks.context.brains.http_wire import GAP, KEY, OWNER, PART
from hooks.context.lifetime import until
from hooks.context.thought import PERSONAL, digest_of, scope_of
from hooks.payload import clean
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.keyspace import is_hex
from scripts.swarm_v2.scope_key import Identity, ScopeKeyError, resolve_scope_key
from scripts.swarm_v2.scope_key import scope_of as scope_of_key
from scripts.swarm_v2.wire_json import canonical, dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import NamedTuple

    from hooks.context.ledger_notes import Graves

    Row = Mapping[str, object]
else:
    from hooks.record import NamedTuple

# Names that no project has: such a memory is another project's everywhere, until accepted.
FLEET, UNKNOWN = "fleet", "unknown"
MAX_BYTES = 900_000  # of all memories as JSON: each cache that is made of them stays below 1 MiB
STAYING = ("lesson", "decision", "milestone")
_GRAVE = ("critical", "high", "medium", "low")


class Reader(NamedTuple):
    """Who reads a feed."""

    who: str  # the principal
    graves: Graves
    accepted: Mapping[str, str]
    is_hub: bool = False  # then what is personal in it is ours: it knows us by our token


def owner_of(who: str) -> str:
    """Return the word by which a principal's own markers are known among everybody's."""
    return short_digest(canonical(["owner", who]))


def content_hash(item: Item) -> str:
    """Return our own hash of what a memory says: a service's covers a few characters only."""
    return short_digest(canonical([item.type, item.text]))


def read_rows(rows: Iterable[Row], reader: Reader) -> list[Item]:
    """Return the memories that ``reader`` may ever see, the service's most urgent ones first.

    What exceeds ``MAX_BYTES`` in all is left out, the least urgent first.
    """
    found: dict[str, Item] = {}
    room = MAX_BYTES
    for row in sorted(_joined(rows), key=_priority, reverse=True):
        item = _item(row, reader)
        if item is None or item.id in found:
            continue
        room -= len(dumps(item.to_dict())) + 1
        if room < 0:
            break
        found[item.id] = item
    return list(found.values())


def everywhere(items: Iterable[Item]) -> list[Item]:
    """Return what every project is told: it names none, or a person accepted it."""
    return [i for i in items if i.scope_key == "space" and (i.accepted or not i.project)]


def of_project(items: Iterable[Item], ids: Collection[str], who: str) -> list[Item]:
    """Return a project's memories (``ids``: its own id and former ones) as ``who`` may see them."""
    mine = resolve_scope_key("user", Identity(who))
    return [i for i in items if i.project in ids or (i.scope_key == mine and i.accepted)]


def waiting(items: Iterable[Item]) -> list[Item]:
    """Return what another project would see once a person accepts it; a lesson of one stays."""
    return [
        i
        for i in items
        if not i.accepted and i.project and scope_of_key(i.scope_key) != "session" and not _stays(i)
    ]


def _stays(item: Item) -> bool:
    """Say whether it is of the types that stay in their project, on every brain."""
    homeless = item.project in (FLEET, UNKNOWN)
    return item.type in STAYING and item.scope_key == "space" and not homeless


def accept(items: Iterable[Item], accepted: Mapping[str, str]) -> list[Item]:
    """Mark what a person accepted. Text that changed since is another memory."""
    return [
        i if i.accepted or accepted.get(i.id) != content_hash(i) else i._replace(accepted=True)
        for i in items
    ]


def _joined(rows: Iterable[Row]) -> list[Row]:
    """Put the parts of a long marker together again; parts that lack some stay as they are."""
    whole: list[Row] = []
    groups: dict[str, list[Row]] = {}
    for row in rows:
        meta = _meta(row)
        if _text(meta, PART) and _text(meta, KEY):
            groups.setdefault(_text(meta, KEY), []).append(row)
        else:
            whole.append(row)
    for group in groups.values():
        pieces = {
            _text(_meta(row), PART): (_text(_meta(row), GAP, strip=False), _text(row, "content"))
            for row in group
        }
        text = parts.join([(name, *piece) for name, piece in pieces.items()])
        if text is None:
            whole += group
        else:
            meta = {name: v for name, v in _meta(group[0]).items() if name not in (PART, GAP)}
            whole.append({**group[0], "content": text, "metadata": meta})
    return whole


def _item(row: Row, reader: Reader) -> Item | None:
    meta = _meta(row)
    text = _text(row, "content") or _text(row, "title")
    ours = _text(meta, OWNER) == owner_of(reader.who)
    scope_key = _scope_key(meta, reader, ours=ours)
    if not text or scope_key is None:
        return None
    project, kind = _project(meta), _word(_text(meta, "type")) or "note"
    severity = (_text(row, "severity") or _text(meta, "severity")).lower()
    cls = "person" if _text(meta, "class") == "person" else "agent"
    crosses = kind == "signal" or project == FLEET or scope_key != "space"
    item = Item(
        id=_id(row, meta, text),
        type=kind,
        text=text,
        cls=cls,
        severity=severity if severity in _GRAVE else "",
        title=_text(row, "title"),
        at=_text(meta, "ts"),
        project=project,
        scope_key=scope_key,
        session=_text(meta, "session_id"),
        message_id=_text(meta, "message_id"),
        path=_text(meta, "path"),
        accepted=cls == "person" and ours and crosses,
        supersedes=_text(meta, "supersedes").lower(),
        priority=f"{_priority(row):g}" if _priority(row) else "",
        until=until(_text(meta, "ts"), _ttl(row)),
    )
    digest = digest_of(item.type, _scope(meta), item.text)
    if reader.graves.holds(item.id, item.message_id, item.session, digest):
        return None
    return accept([item], reader.accepted)[0]


def _id(row: Row, meta: Row, text: str) -> str:
    """Return the marker key where the service tells it, else a hash of what it calls the row."""
    part = _text(meta, PART)
    named = (_text(meta, KEY), _text(meta, "idempotency_key"), _text(row, "id"))
    for name in named if not part else ():
        if is_hex(name, 32):
            return name
    return short_digest(canonical([_text(row, "id"), part, text]))


def _project(meta: Row) -> str:
    """Return the project that a row names, in whatever way; "" where it names none.

    What an agent shared with everybody, or wrote where no project was known, must not reach
    every project because of that: it gets a name that is no project's.
    """
    if _text(meta, "share") == FLEET:
        return FLEET
    for name in ("project_id", "project", "repo"):
        if _text(meta, name):
            return _text(meta, name)
    return UNKNOWN if _text(meta, "attribution") in ("unknown", "refused") else ""


def _scope(meta: Row) -> str:
    return scope_of({"scope": _text(meta, "scope")})


def _scope_key(meta: Row, reader: Reader, *, ours: bool) -> str | None:
    """Return whose it is; None for another person's, and for one whose owner nobody knows."""
    scope = _scope(meta)
    if scope in PERSONAL and not ours and not reader.is_hub:
        return None
    try:
        return resolve_scope_key(scope, Identity(reader.who, _text(meta, "session_id")))
    except ScopeKeyError:
        return None


def _meta(row: Row) -> Row:
    found = row.get("metadata")
    return found if isinstance(found, dict) else {}


def _text(row: Row, name: str, *, strip: bool = True) -> str:
    found = row.get(name)
    text = clean(found) if isinstance(found, str) else ""
    return text.strip() if strip else text


def _word(text: str) -> str:
    """Return a type's name; "" for what is none, since it is printed outside the quotes."""
    return text if text.isascii() and text.isalpha() and len(text) <= 20 else ""


def _ttl(row: Row) -> str:
    found = row.get("ttl")
    return str(found) if isinstance(found, (str, int)) and not isinstance(found, bool) else ""


def _priority(row: Row) -> float:
    found = row.get("priority")
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        return 0.0
    return float(min(max(found, -1e9), 1e9))  # in this order: no float is as large as an int may be
