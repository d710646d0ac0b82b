"""Reading the rows of documents in an open SQLite file: heads, values, history, the feed."""

from __future__ import annotations

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.document import MISSING, decode
from scripts.swarm_v2.memory.errors import MemoryRefused, unreadable
from scripts.swarm_v2.memory.prepared import DEAD, KINDS, OPS, after_prefix, merge_into
from scripts.swarm_v2.memory.store import Change, Document, Revision
from scripts.swarm_v2.scope_key import DirtyKey, is_scope_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import NamedTuple

    from hooks.context.database import Database
else:
    from hooks.record import NamedTuple

Row = tuple[object, ...]
LARGE = 128 << 10  # characters of a whole value from which it is asked for by itself


class Place(NamedTuple):
    """One instance as its rows name it."""

    space: str
    branch: str
    id: str
    scope_key: str


class Head(NamedTuple):
    """A row of ``head`` behind its key, as the schema says it."""

    seq: int
    op_index: int
    op: str
    base_seq: int = 0
    base_index: int = 0
    snap: int = 0
    base_bytes: int = 0
    patch_bytes: int = 0


AT = "space = ? AND branch = ? AND id = ? AND scope_key = ?"
_HEAD = f"SELECT {', '.join(Head._fields)} FROM head WHERE {AT}"
_BASE = f"SELECT value FROM revision WHERE {AT} AND seq = ? AND op_index = ?"
_SNAPSHOT = f"SELECT value FROM snapshot WHERE {AT}"
_PATCHES = (
    f"SELECT op, value FROM revision WHERE {AT} AND (seq, op_index) > (?, ?) ORDER BY seq, op_index"
)
_HISTORY = """
SELECT r.seq, r.op, r.value, c.class, c.at, c.session_key FROM revision r
LEFT JOIN commit_log c ON c.space = r.space AND c.seq = r.seq
WHERE r.space = ? AND r.branch = ? AND r.id = ? AND r.scope_key = ? AND r.gone = 0
ORDER BY r.seq DESC, r.op_index DESC LIMIT ?
"""
_PAGE = """
SELECT id FROM head WHERE space = ? AND scope_key = ? AND branch = ? AND id > ? AND id >= ?
AND (? OR id < ?) AND op NOT IN ('delete', 'erase') ORDER BY id LIMIT ?
"""
_CHANGES = """
SELECT c.seq, c.class, c.session_key, c.holder, r.scope_key, r.id FROM commit_log c
LEFT JOIN revision r ON r.space = c.space AND r.seq = c.seq AND r.branch = ?
WHERE c.space = ? AND c.seq > ? AND c.seq <= ? ORDER BY c.seq, r.op_index
"""


def damaged(what: str) -> MemoryRefused:
    hint = "restore the file from a backup, or move it away: a new one is made"
    return MemoryRefused("store-damaged", f"a row of the store is damaged: {what}", hint)


def head(db: Database, place: Place) -> Head | None:
    """Return where an instance stands; None where it never was."""
    row = db.one(_HEAD, place)
    return None if row is None else _checked(row)


def _checked(row: Row) -> Head:
    *numbers, op = (row[0], row[1], *row[3:], row[2])
    if op not in OPS or not all(isinstance(one, int) and one >= 0 for one in numbers):
        raise damaged("a head that no commit wrote")
    return Head(*row)  # type: ignore[arg-type]  # checked


def head_seq(db: Database, place: Place) -> int:
    return db.number(f"SELECT seq FROM head WHERE {AT}", place)


def seq(db: Database, space: str) -> int:
    """Return the number of the newest commit of a space, 0 before the first."""
    sql = "SELECT seq FROM commit_log WHERE space = ? ORDER BY seq DESC LIMIT 1"
    return db.number(sql, (space,))


def value(db: Database, place: Place, at: Head) -> object:
    """Put the value of a live head together; nobody else holds it.

    Raises:
        MemoryRefused: ``store-damaged``.
    """
    base = (at.base_seq, at.base_index)
    row = db.one(_SNAPSHOT, place) if at.snap else db.one(_BASE, (*place, *base))
    try:
        whole = _decoded(row[0] if row else None)
        if at.patch_bytes:
            for patch in patches(db, place, base):
                whole = merge_into(whole, patch)
    except MemoryRefused as err:
        raise unreadable(err, InstanceKey(place.space, place.scope_key, place.id)) from None
    return whole


def patches(db: Database, place: Place, after: tuple[int, int]) -> Iterator[object]:
    """Yield the patches of an instance behind the one at ``after``, the oldest first."""
    for op, text in db.rows(_PATCHES, (*place, *after)):
        if op != "patch":
            raise damaged("a whole value stands among patches")
        yield _decoded(text)


def _decoded(text: object) -> object:
    if not isinstance(text, str):
        raise damaged("a value is missing")
    return decode(text)


if TYPE_CHECKING:
    Read = Callable[[Database, Place, Head], object]


def document(db: Database, place: Place, read: Read = value) -> Document | None:
    """Return an instance, a tombstone too; None where it never was.

    ``read`` is ``value``, or answers the same and keeps what it read.
    """
    found = head(db, place)
    if found is None:
        return None
    return _document(db, place, found, read)


def _document(db: Database, place: Place, at: Head, read: Read) -> Document:
    who = (place.space, place.scope_key, place.id, at.seq)
    if at.op in DEAD:
        return Document(*who, None, True, at.op)  # type: ignore[arg-type]  # checked by head
    return Document(*who, read(db, place, at), False, at.op)  # type: ignore[arg-type]


_MANY = f"""
WITH wanted (scope_key, id) AS (VALUES %s)
SELECT w.scope_key, w.id, {", ".join("h." + name for name in Head._fields)},
    CASE WHEN h.base_bytes >= {LARGE} THEN NULL WHEN h.snap = 1 THEN s.value ELSE r.value END
FROM wanted w CROSS JOIN head h
    ON h.space = ? AND h.branch = ? AND h.id = w.id AND h.scope_key = w.scope_key
LEFT JOIN snapshot s ON h.snap = 1 AND s.space = h.space AND s.branch = h.branch
    AND s.id = h.id AND s.scope_key = h.scope_key
LEFT JOIN revision r ON h.snap = 0 AND r.space = h.space AND r.branch = h.branch
    AND r.id = h.id AND r.scope_key = h.scope_key
    AND r.seq = h.base_seq AND r.op_index = h.base_index
"""
_AT_ONCE = 200  # instances of one question: an old SQLite takes 999 parameters


def documents(
    db: Database, space: str, branch: str, keys: Sequence[DirtyKey], read: Read = value
) -> dict[DirtyKey, Document]:
    """Return those of ``keys`` that ever were; one question for each 200 of them.

    And one more for each that is large or patched; ``read`` as for ``document``.
    """
    found = {}
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        sql = _MANY % ", ".join(["(?, ?)"] * len(some))
        names = [part for key in some for part in key]
        for row in db.rows(sql, (*names, space, branch)):
            at = _checked(row[2:-1])
            key = DirtyKey(str(row[0]), str(row[1]))
            who = (space, key.scope_key, key.id, at.seq)
            if at.op in DEAD:
                found[key] = Document(*who, None, True, at.op)  # type: ignore[arg-type]  # checked
            elif at.patch_bytes or at.base_bytes >= LARGE:
                place = Place(space, branch, key.id, key.scope_key)
                found[key] = _document(db, place, at, read)
            else:
                found[key] = Document(*who, _decoded(row[-1]), False, at.op)  # type: ignore[arg-type]
    return found


def page(
    db: Database, space: str, branch: str, scope_key: str, window: tuple[str, str, int]
) -> list[str]:
    """Return ids of live instances of one scope key; ``window`` is prefix, after, limit."""
    prefix, after, limit = window
    end = after_prefix(prefix)
    bounds = (after, prefix, end is None, end or "", limit)
    found = [row[0] for row in db.rows(_PAGE, (space, scope_key, branch, *bounds))]
    if not all(isinstance(one, str) for one in found):
        raise damaged("an id is no text")
    return found  # type: ignore[return-value]  # checked


def history(db: Database, place: Place, limit: int) -> list[Revision]:
    return [_revision(row) for row in db.rows(_HISTORY, (*place, limit))]


def _revision(row: Row) -> Revision:
    number, op, text, kind, at, session_key = row
    if op not in OPS or kind not in KINDS:
        raise damaged("a revision of no known commit")
    said = None if op in DEAD else _decoded(text)
    return Revision(int(str(number)), op, said, kind, str(at), str(session_key))  # type: ignore[arg-type]


def changes(db: Database, space: str, branch: str, since: int, limit: int) -> list[Change]:
    """Return commits with the instances that they touched on ``branch``."""
    told: dict[int, tuple[Row, list[DirtyKey]]] = {}
    for row in db.rows(_CHANGES, (branch, space, since, since + limit)):
        known = told.setdefault(int(str(row[0])), (row, []))[1]
        if row[4] is not None:
            known.append(_touched(row[4], row[5]))
    return [_change(number, *one) for number, one in told.items()]


def _touched(scope_key: object, document_id: object) -> DirtyKey:
    if not is_scope_key(scope_key) or not isinstance(document_id, str):
        raise damaged("a revision has no scope key")
    return DirtyKey(str(scope_key), document_id)


def _change(number: int, row: Row, touched: list[DirtyKey]) -> Change:
    if row[1] not in KINDS:
        raise damaged("a commit of no known class")
    once = tuple(dict.fromkeys(touched))
    return Change(number, row[1], once, str(row[2]), str(row[3]))  # type: ignore[arg-type]


def merged(db: Database, place: Place, at: Head | None, patch: object) -> object:
    """Return the value that ``patch`` makes of an instance, alive or not."""
    alive = at is not None and at.op not in DEAD
    old = value(db, place, at) if alive and at is not None else MISSING
    return merge_into(old, patch)
