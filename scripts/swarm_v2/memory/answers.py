"""What a session may ask, answered from a runtime: the same for a server and in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.document import SCOPES, check_id, check_text, count_nodes, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import SyncFrame, encode
from scripts.swarm_v2.memory.selectors import MAX_SCHEMA_BYTES
from scripts.swarm_v2.memory.wire import Pushed
from scripts.swarm_v2.scope_key import SPACE, scope_of
from scripts.swarm_v2.wire_json import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scripts.swarm_v2.memory.runtime import MemoryRuntime
    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import Document
    from scripts.swarm_v2.scope_key import Scope

    Fields = Mapping[str, object]
    Body = dict[str, object]

MOST_LISTED = 1000
PAGE_BYTES = 4 << 20  # of the values on one page of a list; a page has at least one document
PART_BYTES = 1 << 20  # of one line of a frame, unless a single document is larger
MAX_WATCH_ID = 200


class Answered(NamedTuple):
    """``frame`` is what a question about watches changed; it is told before the answer."""

    body: Body
    frame: SyncFrame | None = None


def answer(runtime: MemoryRuntime, session: Session, ask: str, fields: Fields, at: str) -> Answered:
    """Answer one question of ``wire.ASKS``; its fields are of the types that stand there.

    Raises:
        MemoryRefused: what is wrong with it, or what the store refuses.
    """
    if ask == "watch":
        return Answered({}, _watch(runtime, session, fields))
    if ask == "unwatch":
        return Answered({}, runtime.unwatch(session, str(fields["watch"])))
    if ask == "commit":
        return Answered({"seq": runtime.commit(session, fields["proposal"], at)})
    return Answered(_LOOKS[ask](runtime, session, fields))


class AskedWatch(NamedTuple):
    """A watch by the name that its client gave it."""

    name: str
    id: str
    scope: Scope
    path: tuple[str, ...] = ()
    schema: object = True

    def same(self, other: AskedWatch) -> bool:
        """Say whether both ask for the same, schemas compared with their types."""
        return self[:4] == other[:4] and same(self.schema, other.schema)


def asked_watch(fields: Fields) -> AskedWatch:
    """Read the fields of a ``watch``.

    Raises:
        MemoryRefused: ``watch-invalid``, ``id-invalid``, ``scope-unknown``.
    """
    name = str(fields["watch"])
    if not 0 < len(name) <= MAX_WATCH_ID:
        sentence = f"a watch is named by 1 to {MAX_WATCH_ID} characters"
        raise MemoryRefused("watch-invalid", sentence)
    path = fields.get("path", [])
    steps = path if isinstance(path, list) else []
    if not all(isinstance(step, str) for step in steps):
        raise MemoryRefused("watch-invalid", "the path of a watch is a list of texts")
    schema = fields.get("schema", True)
    if count_nodes(schema, MAX_SCHEMA_BYTES) > MAX_SCHEMA_BYTES:  # before anything is made of it
        sentence = f"the schema has more than {MAX_SCHEMA_BYTES} bytes; no more are read"
        raise MemoryRefused("watch-invalid", sentence)
    where = tuple(str(step) for step in steps)
    return AskedWatch(name, check_id(fields["id"]), scope_named(fields), where, schema)


def _watch(runtime: MemoryRuntime, session: Session, fields: Fields) -> SyncFrame:
    one = asked_watch(fields)
    return runtime.watch(session, one.name, one.id, one.scope, path=one.path, schema=one.schema)


def scope_named(fields: Fields) -> Scope:
    """Return the scope that is asked for, ``space`` where none is.

    Raises:
        MemoryRefused: ``scope-unknown``.
    """
    wanted = fields.get("scope", SPACE)
    for scope in SCOPES:
        if scope == wanted:
            return scope
    sentence = f"there is no scope {wanted!r}; there are space, user and session"
    raise MemoryRefused("scope-unknown", sentence)


def document_body(document: Document | None, scope: Scope) -> Body | None:
    """Return what a client is told of a document: its scope, and never a key."""
    if document is None:
        return None
    body: Body = {"id": document.id, "scope": scope, "seq": document.seq}
    if document.deleted:
        return {**body, "deleted": True}
    return {**body, "value": document.value}


def told(err: MemoryRefused) -> MemoryRefused:
    """Return a refusal with the facts that a client is told: a document by its scope, no key."""
    facts: Body = {}
    for name, fact in err.facts.items():
        scope_key, document_id = getattr(fact, "scope_key", None), getattr(fact, "id", None)
        if scope_key is not None:
            facts |= {"id": document_id, "scope": scope_of(scope_key)}
        elif fact is None or isinstance(fact, (str, int)):
            facts[name] = fact
    return MemoryRefused(err.code, str(err), err.hint, **facts)


def pushes(frame: SyncFrame) -> list[Pushed]:
    """Return a frame in lines of about ``PART_BYTES``; ``gathered`` puts them together again."""
    whole = encode(frame)
    upserts = whole.pop("upserts", [])
    parts, size = [whole], 0
    for entry in upserts if isinstance(upserts, list) else []:
        length = len(dumps(entry))
        if size and size + length > PART_BYTES:
            parts.append({})
            size = 0
        size += length
        listed = parts[-1].setdefault("upserts", [])
        assert isinstance(listed, list)
        listed.append(entry)
    return [Pushed(part, part is not parts[-1]) for part in parts]


def gathered(parts: list[Pushed]) -> Body:
    """Undo ``pushes``: all the lines of one frame as one object."""
    whole = dict(parts[0].frame)
    entries = [entry for part in parts for entry in _listed(part.frame)]
    return {**whole, "upserts": entries} if entries else whole


def _listed(body: Fields) -> list[object]:
    found = body.get("upserts", [])
    return found if isinstance(found, list) else []


def _read(runtime: MemoryRuntime, session: Session, fields: Fields) -> Body:
    scope = scope_named(fields)
    if not fields.get("follow", True):
        stored = runtime.stored(session, check_id(fields["id"]), scope)
        return {"document": document_body(stored, scope)}
    found = runtime.read(session, check_id(fields["id"]), scope)
    # A redirect leads deeper: what is told is where the value is.
    return {"document": document_body(found, scope_of(found.scope_key) if found else scope)}


def _list(runtime: MemoryRuntime, session: Session, fields: Fields) -> Body:
    scope, limit = scope_named(fields), _limit(fields)
    prefix, after = (check_text(fields.get(name, ""), name) for name in ("prefix", "after"))
    found = runtime.select(session, scope, prefix=prefix, after=after, limit=limit)
    page: list[Body | None] = []
    size = 0
    for document in found:
        size += len(dumps(document.value))
        if page and size > PAGE_BYTES:
            break
        page.append(document_body(document, scope))
    whole = len(page) == len(found) and len(found) < limit
    return {"documents": page, "next": "" if whole or not page else found[len(page) - 1].id}


def _history(runtime: MemoryRuntime, session: Session, fields: Fields) -> Body:
    scope, limit = scope_named(fields), _limit(fields)
    found = runtime.history(session, check_id(fields["id"]), scope, limit=limit)
    rows: list[Body] = []
    size = 0
    for one in found:
        size += len(dumps(one.value))
        if rows and size > PAGE_BYTES:
            break
        rows.append(
            {"seq": one.seq, "op": one.op, "kind": one.kind, "at": one.at, "value": one.value}
        )
    return {"revisions": rows}


def _limit(fields: Fields) -> int:
    limit = fields.get("limit", 100)
    if isinstance(limit, int) and 0 < limit <= MOST_LISTED:
        return limit
    raise MemoryRefused("request-invalid", f"limit is 1 to {MOST_LISTED}")


_LOOKS: dict[str, Callable[[MemoryRuntime, Session, Fields], Body]] = {
    "read": _read,
    "list": _list,
    "history": _history,
}
