"""Bring the embedded brain's file up to documents: all of it in one transaction, or not at all.

In format 1 a memory was a row of a table. Keys, graves and the search index stay as they are:
memories keep their numbers.
"""

from __future__ import annotations

from hooks.context.brains import local_words
from hooks.context.brains.local_row import kept_in, value_of
from hooks.context.brains.local_schema import MEMORY, OVERSIZE
from scripts.swarm_v2.memory.document import LINK, MAX_BYTES
from scripts.swarm_v2.memory.memories import INDEX, MOST_INDEX, SHELF, document_id, entry_of, least
from scripts.swarm_v2.memory.sqlite_commit import apply
from scripts.swarm_v2.memory.sqlite_schema import SCHEMA as DOCUMENTS
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import scope_of
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from hooks.context.database import Database

_COLUMNS = (
    *("space", "id", "scope_key", "type", "text", "cls", "severity", "title", "at", "project"),
    *("session", "message_id", "path", "supersedes", "attrs", "digest", "accepted"),
    "superseded_by",
)
_PLACE = "INSERT INTO place (seq, id, space, scope_key) VALUES (?, ?, ?, ?)"
_AT_ONCE = 500  # rows in memory
_CUT = " … (cut: the whole text stands in the receipts)"
_NOTES = {"why": "format 2 of the embedded brain"}


def upgrade(db: Database, _found: int) -> None:
    """Rewrite format 1, the only older one; inside the caller's transaction.

    Raises:
        HookError: as the file says it; the caller rolls back.
        MemoryRefused: a row cannot be kept as a document; the caller rolls back.
    """
    db.run("ALTER TABLE memory RENAME TO memory_1")
    for statement in (*DOCUMENTS.split(";"), *MEMORY):
        db.run(statement)
    indexes: dict[tuple[str, str], dict[str, object]] = {}  # links, by space and whose
    for rows in _chunks(db):
        by_space: dict[str, list[Write]] = {}
        for seq, row in rows:
            space, scope_key, key = kept_in(row), str(row["scope_key"]), str(row["id"])
            value = _fitting(db, key, value_of(row))
            where = (seq, key, space, scope_key)
            db.run(_PLACE, where)
            by_space.setdefault(space, []).append(Write(document_id(key), scope_key, "set", value))
            if space != SHELF and not row["superseded_by"]:
                entry = entry_of(key, value, scope_of(scope_key))
                indexes.setdefault((space, scope_key), {})[key] = entry
        for space, writes in by_space.items():
            apply(db, space, Commit("system", tuple(writes), annotations=_NOTES))
    for (space, scope_key), links in indexes.items():
        _link(db, space, scope_key, links)
    db.run("DROP TABLE memory_1")
    if local_words.is_current(db):
        local_words.mark(db)


def _link(db: Database, space: str, scope_key: str, links: dict[str, object]) -> None:
    size = sum(len(dumps(entry)) + len(key) + 4 for key, entry in links.items())
    for key in least(links, size - MOST_INDEX):
        del links[key]
    index = Write(INDEX, scope_key, "set", {"links": links})
    apply(db, space, Commit("system", (index,), annotations=_NOTES))


def _chunks(db: Database) -> Iterator[list[tuple[int, dict[str, object]]]]:
    sql = f"SELECT seq, {', '.join(_COLUMNS)} FROM memory_1 WHERE seq > ? ORDER BY seq LIMIT ?"
    last = -1
    while rows := db.rows(sql, (last, _AT_ONCE)):
        last = int(str(rows[-1][0]))
        yield [(int(str(row[0])), _row(row[1:])) for row in rows]


def _row(values: tuple[object, ...]) -> dict[str, object]:
    row = dict(zip(_COLUMNS, values, strict=True))
    attrs = load_object(str(row["attrs"])) or {}
    row["attrs"] = {name: str(value) for name, value in attrs.items() if name != LINK}
    return row


def _fitting(db: Database, key: str, value: dict[str, object]) -> dict[str, object]:
    """Return a value that a document holds; what is larger is cut, and kept beside it whole."""
    if len(dumps(value)) <= MAX_BYTES:
        return value
    db.run(OVERSIZE)
    db.run("INSERT INTO oversize VALUES (?, ?)", (key, value["text"]))
    small = {name: value[name] for name in value.keys() - {"attrs", "title"}}
    return {**small, "text": str(value["text"])[: MAX_BYTES // 12] + _CUT}
