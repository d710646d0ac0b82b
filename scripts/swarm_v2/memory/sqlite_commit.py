"""Writing a commit into an open SQLite transaction: checks, revisions, heads, basis rows."""

from __future__ import annotations

from scripts.swarm_v2.memory import sqlite_basis, sqlite_rows
from scripts.swarm_v2.memory.document import MAX_BYTES, decode, encode
from scripts.swarm_v2.memory.prepared import (
    DEAD,
    Put,
    check_session_key,
    prepare,
    scrubbed,
    stale,
)
from scripts.swarm_v2.memory.sqlite_rows import AT, Head, Place
from scripts.swarm_v2.memory.sqlite_schema import SMALL, WHOLE
from scripts.swarm_v2.memory.store import Commit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.database import Database

_REVISION = "INSERT INTO revision VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)"
_HEAD = f"INSERT OR REPLACE INTO head VALUES ({', '.join('?' * 12)})"
_LOG = "INSERT INTO commit_log VALUES (?, ?, ?, ?, ?, ?, ?)"
_SNAPSHOT = "INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, ?)"


def apply(db: Database, space: str, commit: Commit, *, branch: str = "") -> int:
    """Write ``commit`` into the transaction that is open; return its sequence number.

    0 for a commit that changes no instance: basis rows alone are replaced without a number, a
    deletion of what is not there writes nothing. Whoever opened the transaction rolls it back when
    this refuses. An erasure in a file with a WAL needs a checkpoint after the transaction.

    Raises:
        MemoryRefused: as ``DocumentStore.commit``.
        HookError: what ``db`` says of the file.
    """
    ready = prepare(space, commit)
    if commit.kind == "derived" or commit.holder:
        sqlite_basis.check_lease(db, space, commit.holder)
    for put in ready.puts:
        if put.base is not None:
            _check(db, "stale-base", Place(space, branch, put.id, put.scope_key), put.base)
    for seen in commit.reads:
        place = Place(seen.space, branch, seen.id, seen.scope_key)
        _check(db, "stale-read", place, seen.seq)
    batch = _Batch(db, space, sqlite_rows.seq(db, space) + 1)
    for put in ready.puts:
        batch.put(branch, put)
    for basis in commit.basis:
        sqlite_basis.replace(db, space, branch, basis)
    return batch.log(commit, ready.annotations)


def drop_session(db: Database, space: str, session_key: str, at: str) -> int:
    """See ``DocumentStore.drop_session``; presumes an open transaction, as ``apply``."""
    check_session_key(session_key)
    batch = _Batch(db, space, sqlite_rows.seq(db, space) + 1)
    sql = "SELECT branch, id FROM head WHERE space = ? AND scope_key = ? AND op <> 'erase'"
    for branch, document_id in db.rows(sql, (space, session_key)):
        batch.put(str(branch), Put(str(document_id), session_key, "erase"))
    db.run("DELETE FROM basis WHERE space = ? AND action_scope_key = ?", (space, session_key))
    # The mark goes too: what is kept of a session is bounded, and one that comes back is new.
    db.run("DELETE FROM retired WHERE space = ? AND session_key = ?", (space, session_key))
    return batch.log(Commit("system", at=at), None)


def _check(db: Database, code: str, place: Place, seen: int) -> None:
    current = sqlite_rows.head_seq(db, place)
    if current != seen:
        raise stale(code, (place.space, place.scope_key, place.id), current)


class _Batch:
    """The writes of one commit: each sees what those before it left."""

    def __init__(self, db: Database, space: str, seq: int) -> None:
        self._db, self._space, self._seq, self._index = db, space, seq, 0

    def put(self, branch: str, put: Put) -> None:
        """Write one; nothing where it changes nothing."""
        place = Place(self._space, branch, put.id, put.scope_key)
        old = sqlite_rows.head(self._db, place)
        alive = old is not None and old.op not in DEAD
        if put.op == "set":
            self._set(place, old, put.text)
        elif put.op == "patch":
            self._patch(place, old, put.text)
        elif old is None or old.op == "erase" or (put.op == "delete" and not alive):
            return
        elif put.text and alive:
            self._scrub(place, old, put.text)
        else:
            self._end(place, old, put.op)
        self._index += 1

    def log(self, commit: Commit, annotations: str | None) -> int:
        """Write down who did it; return the number, 0 where nothing was written."""
        if not self._index:
            return 0
        who = (commit.kind, commit.session_key, commit.holder, annotations, commit.at)
        self._db.run(_LOG, (self._space, self._seq, *who))
        return self._seq

    def _write(self, place: Place, op: str, text: str | None, **base: int) -> None:
        head = Head(self._seq, self._index, op, **base)
        self._db.run(_REVISION, (*place, self._seq, self._index, op, text))
        self._db.run(_HEAD, (*place, *head))

    def _set(self, place: Place, old: Head | None, text: str) -> None:
        self._forget_snapshot(place, old)
        here = {"base_seq": self._seq, "base_index": self._index}
        self._write(place, "set", text, **here, base_bytes=len(text))

    def _patch(self, place: Place, old: Head | None, text: str) -> None:
        shown = place.id.startswith(WHOLE)
        if old is None or shown or not _stays(old, len(text)):
            self._rebase(place, old, text)
            return
        named = old._asdict()
        base = {name: named[name] for name in ("base_seq", "base_index", "snap", "base_bytes")}
        self._write(place, "patch", text, **base, patch_bytes=old.patch_bytes + len(text))

    def _rebase(self, place: Place, old: Head | None, text: str) -> None:
        """Write a patch and the whole value that it makes."""
        whole = encode(sqlite_rows.merged(self._db, place, old, decode(text)))
        self._db.run(_SNAPSHOT, (*place, whole))
        here = {"base_seq": self._seq, "base_index": self._index, "snap": 1}
        self._write(place, "patch", text, **here, base_bytes=len(whole))

    def _end(self, place: Place, old: Head, op: str) -> None:
        self._forget_snapshot(place, old)
        if op == "erase":
            self._strip(place)
        self._write(place, op, None)

    def _strip(self, place: Place) -> None:
        """Take the values of every revision, and what their commits were annotated with."""
        mine = f"SELECT seq FROM revision WHERE {AT}"
        notes = f"UPDATE commit_log SET annotations = NULL WHERE space = ? AND seq IN ({mine})"
        self._db.run(notes, (self._space, *place))
        self._db.run(f"UPDATE revision SET value = NULL, gone = 1 WHERE {AT}", place)

    def _scrub(self, place: Place, old: Head, text: str) -> None:
        """Patch the value, and take what the patch removes out of everything before it too."""
        mask = decode(text)
        sql = f"SELECT seq, op_index, value FROM revision WHERE {AT} AND value IS NOT NULL"
        put = f"UPDATE revision SET value = ? WHERE {AT} AND seq = ? AND op_index = ?"
        notes = "UPDATE commit_log SET annotations = NULL WHERE space = ? AND seq = ?"
        self._rebase(place, old, text)
        for seq, index, was in self._db.rows(sql, place):
            now = scrubbed(str(was), mask)
            if now != was and (seq, index) != (self._seq, self._index):
                self._db.run(put, (now, *place, seq, index))
                self._db.run(notes, (self._space, seq))

    def _forget_snapshot(self, place: Place, old: Head | None) -> None:
        if old is not None and old.snap:
            self._db.run(f"DELETE FROM snapshot WHERE {AT}", place)


def _stays(old: Head, patch_bytes: int) -> bool:
    """Say whether one more patch can lie upon the value that an instance is put together from."""
    if old.op in DEAD or old.base_bytes <= SMALL:
        return False
    total = old.patch_bytes + patch_bytes
    # Merged it is never longer than both: only where that could be too long must it be known.
    return total * 2 <= old.base_bytes and old.base_bytes + total <= MAX_BYTES
