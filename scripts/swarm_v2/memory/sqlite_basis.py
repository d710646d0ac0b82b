"""What derived instances were made from, who may make them, and which sessions have ended."""

from __future__ import annotations

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.store import Basis, Held, Seen
from scripts.swarm_v2.scope_key import is_scope_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.database import Database

# SQLite's own clock in ms: the same for every process of the file, whatever each was started with.
NOW_MS = "CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER)"
_MINE = "space = ? AND branch = ? AND action = ? AND action_scope_key = ?"
_PUT = "INSERT OR REPLACE INTO basis VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_MARK = ("", "", "", 0)  # the row of an instance as such: it may have read nothing
_ALL = """
SELECT action, action_scope_key, entity_space, entity_scope_key, entity, seq FROM basis
WHERE space = ? AND branch = '' AND (? OR action = ?)
ORDER BY action, action_scope_key, entity_space, entity, entity_scope_key
"""
_MOVED = """
SELECT b.entity_space, b.entity_scope_key, b.entity, b.seq FROM basis b
LEFT JOIN head h ON h.space = b.entity_space AND h.branch = b.branch AND h.id = b.entity
    AND h.scope_key = b.entity_scope_key
WHERE b.space = ? AND b.branch = '' AND b.action = ? AND b.action_scope_key = ?
    AND (b.entity = '' OR coalesce(h.seq, 0) <> b.seq)
ORDER BY b.entity_space, b.entity, b.entity_scope_key
"""
_ACQUIRE = f"""
INSERT INTO lease VALUES (?, ?, {NOW_MS} + ?) ON CONFLICT (space) DO UPDATE
SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE lease.holder = excluded.holder OR lease.expires_at <= {NOW_MS}
"""


def replace(db: Database, space: str, branch: str, basis: Basis) -> None:
    """Put the rows of one instance in place of those it had, and drop those at ``drop``."""
    for key in (*basis.drop, basis.scope_key):
        db.run(f"DELETE FROM basis WHERE {_MINE}", (space, branch, basis.action, key))
    mine = (space, branch, basis.action, basis.scope_key)
    db.run(_PUT, (*mine, *_MARK))
    for one in basis.seen:
        db.run(_PUT, (*mine, one.space, one.id, one.scope_key, one.seq))


def basis(db: Database, space: str, action: str | None) -> list[Basis]:
    found: dict[tuple[str, str], list[Seen]] = {}
    for name, scope_key, *entity in db.rows(_ALL, (space, action is None, action or "")):
        seen = found.setdefault((str(name), str(scope_key)), [])
        seen += _seen(entity)
    return [Basis(*key, tuple(seen)) for key, seen in found.items()]


def moved(db: Database, space: str, action: str, scope_key: str) -> list[Seen] | None:
    """See ``DocumentStore.moved``; of a damaged row nobody can say what moved: None."""
    rows = [list(row) for row in db.rows(_MOVED, (space, action, scope_key))]
    if not rows or any(map(_is_damaged, rows)):
        return None
    return [one for row in rows for one in _seen(row)]


def _seen(row: list[object]) -> list[Seen]:
    space, scope_key, document_id, seq = row
    if document_id == "" or not isinstance(seq, int) or _is_damaged(row):
        return []
    return [Seen(str(space), str(scope_key), str(document_id), seq)]


def _is_damaged(row: list[object]) -> bool:
    _, scope_key, document_id, seq = row
    return document_id != "" and not (is_scope_key(scope_key) and isinstance(seq, int))


def check_lease(db: Database, space: str, holder: str) -> None:
    """Refuse who does not hold the live lease.

    Raises:
        MemoryRefused: ``lease-lost``.
    """
    live = held(db, space)
    if live is None or not holder or live.holder != holder:
        raise lease_lost()


def lease_lost() -> MemoryRefused:
    return MemoryRefused("lease-lost", "the lease of this space is not held, or no longer")


def held(db: Database, space: str) -> Held | None:
    sql = f"SELECT holder, expires_at FROM lease WHERE space = ? AND expires_at > {NOW_MS}"
    row = db.one(sql, (space,))
    return Held(str(row[0]), int(str(row[1]))) if row else None


def acquire(db: Database, space: str, holder: str, ttl_ms: int) -> bool:
    return db.run(_ACQUIRE, (space, holder, ttl_ms)) == 1


def release(db: Database, space: str, holder: str) -> bool:
    live = f"DELETE FROM lease WHERE space = ? AND holder = ? AND expires_at > {NOW_MS}"
    return db.run(live, (space, holder)) == 1


def retire(db: Database, space: str, session_key: str, at: str) -> None:
    db.run("INSERT OR IGNORE INTO retired VALUES (?, ?, ?)", (space, session_key, at))


def is_marked(db: Database, session_key: str, before: str) -> bool:
    sql = "SELECT 1 FROM retired WHERE session_key = ? AND at < ? LIMIT 1"
    return db.one(sql, (session_key, before)) is not None


def resume(db: Database, session_key: str, at: str) -> None:
    sql = "UPDATE retired SET at = ? WHERE session_key = ? AND at < ?"
    db.run(sql, (at, session_key, at))


def retired(db: Database, space: str, before: str) -> list[str]:
    sql = "SELECT session_key FROM retired WHERE space = ? AND at < ? ORDER BY at, session_key"
    return [str(row[0]) for row in db.rows(sql, (space, before))]
