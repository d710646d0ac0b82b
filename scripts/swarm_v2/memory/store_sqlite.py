"""Documents in one SQLite file: see ``store.DocumentStore``. One file holds many spaces."""

from __future__ import annotations

import os
import time
from _thread import RLock

from hooks.context.database import DamagedError, Database, UnfitError
from hooks.errors import HookError, StateError
from scripts.swarm_v2.memory import sqlite_basis, sqlite_commit, sqlite_rows
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.prepared import check_session_key, cut
from scripts.swarm_v2.memory.sqlite_commit import apply as apply
from scripts.swarm_v2.memory.sqlite_rows import Place
from scripts.swarm_v2.memory.sqlite_schema import SCHEMA as SCHEMA
from scripts.swarm_v2.memory.sqlite_schema import VERSION as VERSION
from scripts.swarm_v2.scope_key import DirtyKey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from scripts.swarm_v2.memory.address import InstanceKey
    from scripts.swarm_v2.memory.store import (
        Basis,
        Change,
        Commit,
        Document,
        Held,
        Revision,
        Seen,
    )

STEP_S = 0.02  # between two looks of ``wait``: a look costs some microseconds
_SPACES = """
WITH RECURSIVE each (space) AS (
    SELECT min(space) FROM commit_log
    UNION ALL
    SELECT (SELECT min(space) FROM commit_log WHERE space > each.space) FROM each
    WHERE each.space IS NOT NULL
) SELECT space FROM each WHERE space IS NOT NULL
"""


class SqliteStore:
    """See ``DocumentStore``. May be used from several threads; they take turns."""

    def __init__(
        self,
        path: str,
        *,
        wal: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,  # noqa: TID251 - of the one loop of ``wait``
        database: Database | None = None,
        opener: Callable[..., Database] | None = None,
    ) -> None:
        """Open ``path`` or make it; ``database`` is one that is open and has our tables.

        ``opener(path, fault=…)`` opens a file that has other tables beside ours.

        ``wal`` is for a process that lives on: its commits do not wait for the disk (they survive
        the process; a power cut may take the newest ones, never a part of one), and the file goes
        back to a rollback journal when it is closed and nobody else has it open. ``clock`` and
        ``sleep`` are of ``wait``: monotonic.

        Raises:
            MemoryRefused: ``store-damaged`` or ``store-busy``.
        """
        self._clock, self._sleep, self._wal = clock, sleep, False
        self._lock, self._lent, self._commits = RLock(), database is not None, 0
        with _Guarded(self._lock):
            self._db = database or (opener or _own_file)(path, fault=_fault)
            own = self._db.number("PRAGMA application_id")
            if wal:
                self._write_ahead()
        self.name = f"sqlite:{os.path.realpath(path)}:{own}"

    def _write_ahead(self) -> None:
        try:
            self._wal = self._db.one("PRAGMA journal_mode=WAL") == ("wal",)
        except HookError:
            return  # somebody holds it just now: as it is, every commit waits for the disk
        if self._wal:
            self._db.run("PRAGMA synchronous=NORMAL")

    def _guarded(self) -> _Guarded:
        return _Guarded(self._lock)

    def _reading(self) -> _Guarded:
        return _Guarded(self._lock, self._db, "BEGIN")

    def _writing(self) -> _Guarded:
        self._commits += 1
        return _Guarded(self._lock, self._db, "BEGIN IMMEDIATE")

    def user(self) -> str | None:
        """Return who the store itself says we are: nobody, a file knows no users."""
        return None

    def commit(self, space: str, commit: Commit, *, branch: str = "") -> int:
        with self._writing():
            number = sqlite_commit.apply(self._db, space, commit, branch=branch)
        if any(write.op == "erase" for write in commit.writes):
            self._empty_wal()
        return number

    def drop_session(self, space: str, session_key: str, at: str) -> int:
        with self._writing():
            number = sqlite_commit.drop_session(self._db, space, session_key, at)
        self._empty_wal()
        return number

    def _empty_wal(self) -> None:
        """Leave nothing of what was erased in a WAL; readers that stand in the way are waited for.

        Nothing to do where the file has none.
        """
        with self._guarded():
            try:
                self._db.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            except HookError:
                return  # what was asked is written; the WAL goes with its last user

    def read(self, space: str, scope_key: str, id: str, *, branch: str = "") -> Document | None:
        with self._reading():
            return sqlite_rows.document(self._db, Place(space, branch, id, scope_key))

    def read_many(
        self, space: str, keys: Iterable[DirtyKey], *, branch: str = ""
    ) -> dict[DirtyKey, Document]:
        wanted = list(dict.fromkeys(keys))
        with self._reading():
            return sqlite_rows.documents(self._db, space, branch, wanted)

    def heads(self, keys: Iterable[InstanceKey], *, branch: str = "") -> dict[InstanceKey, int]:
        with self._reading():
            return {
                key: sqlite_rows.head_seq(self._db, Place(key.space, branch, key.id, key.scope_key))
                for key in keys
            }

    def select(
        self,
        space: str,
        scope_keys: Sequence[str],
        *,
        prefix: str = "",
        after: str = "",
        limit: int = 1000,
        branch: str = "",
    ) -> list[Document]:
        """See ``DocumentStore``; a page ends behind all instances of its last id."""
        window = (prefix, after, limit)
        found: list[Document] = []
        with self._reading():
            each = [
                DirtyKey(key, one)
                for key in dict.fromkeys(scope_keys)
                for one in sqlite_rows.page(self._db, space, branch, key, window)
            ]
            for key, document_id in cut(each, limit):
                place = Place(space, branch, document_id, key)
                one = sqlite_rows.document(self._db, place)
                if one is not None:
                    found.append(one)
        return found

    def history(
        self, space: str, scope_key: str, id: str, *, branch: str = "", limit: int = 100
    ) -> list[Revision]:
        with self._reading():
            return sqlite_rows.history(self._db, Place(space, branch, id, scope_key), limit)

    def seq(self, space: str) -> int:
        with self._reading():
            return sqlite_rows.seq(self._db, space)

    def changes(
        self, space: str, since: int, *, limit: int = 1000, branch: str = ""
    ) -> list[Change]:
        with self._reading():
            return sqlite_rows.changes(self._db, space, branch, since, limit)

    def wait(self, since: Mapping[str, int], timeout_s: float) -> bool:
        until, known = self._clock() + timeout_s, (-1, -1)
        while True:
            left = until - self._clock()
            try:
                look = self._look()
                if (look != known or self._lent) and self._moved_on(since):
                    return True
                known = look
            except MemoryRefused as err:
                if err.code != "store-busy" or left <= 0:  # a writer that does not rest: go on
                    raise
            if left <= 0:
                return False
            self._sleep(min(STEP_S, left))

    def _look(self) -> tuple[int, int]:
        """Return what is another after each commit: data_version tells other connections' only."""
        with self._guarded():
            return (self._db.number("PRAGMA data_version"), self._commits)

    def _moved_on(self, since: Mapping[str, int]) -> bool:
        with self._reading():
            return any(sqlite_rows.seq(self._db, space) > seen for space, seen in since.items())

    def basis(self, space: str, action: str | None = None) -> list[Basis]:
        with self._reading():
            return sqlite_basis.basis(self._db, space, action)

    def moved(self, space: str, action: str, scope_key: str) -> list[Seen] | None:
        with self._reading():
            return sqlite_basis.moved(self._db, space, action, scope_key)

    def held(self, space: str) -> Held | None:
        with self._reading():
            return sqlite_basis.held(self._db, space)

    def acquire(self, space: str, holder: str, ttl_ms: int) -> bool:
        with self._writing():
            return sqlite_basis.acquire(self._db, space, holder, ttl_ms)

    def release(self, space: str, holder: str) -> bool:
        with self._writing():
            return sqlite_basis.release(self._db, space, holder)

    def retire(self, space: str, session_key: str, at: str) -> None:
        check_session_key(session_key)
        with self._writing():
            sqlite_basis.retire(self._db, space, session_key, at)

    def retired(self, space: str, before: str) -> list[str]:
        with self._reading():
            return sqlite_basis.retired(self._db, space, before)

    def spaces(self) -> list[str]:
        with self._reading():
            return [str(row[0]) for row in self._db.rows(_SPACES)]

    def close(self) -> None:
        """Close the file, unless it was open before this store; it can be closed twice."""
        if self._lent:
            return
        with _Guarded(self._lock):
            if self._wal:
                self._wal = False
                self._go_back()
            self._db.close()

    def _go_back(self) -> None:
        try:
            self._db.run("PRAGMA busy_timeout=0")
            self._db.rows("PRAGMA journal_mode=DELETE")
        except HookError:
            return  # somebody else has it open: the last one's WAL goes when it closes


def _own_file(path: str, *, fault: Callable[..., HookError]) -> Database:
    return Database(path, SCHEMA, VERSION, fault=fault)


def _fault(path: str, what: str, *, damaged: bool) -> HookError:
    return DamagedError(path, what) if damaged else StateError(path, what)


class _Guarded:
    """One thread at a time, in one transaction if any; what the file raises becomes ours."""

    def __init__(self, lock: RLock, db: Database | None = None, begin: str = "") -> None:
        self._lock, self._db, self._begin = lock, db, begin

    def __enter__(self) -> None:
        self._lock.acquire()
        try:
            self._run(self._begin)
        except HookError as err:
            self._lock.release()
            raise _refused(err) from None

    def _run(self, sql: str) -> None:
        if self._db is not None and self._begin:
            self._db.run(sql)

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._run("COMMIT")
        except HookError as failed:
            err = failed
        finally:
            if err is not None and self._db is not None:
                self._db.roll_back()
            self._lock.release()
        if isinstance(err, HookError):
            raise _refused(err) from None


def _refused(err: HookError) -> MemoryRefused:
    if isinstance(err, DamagedError):
        hint = "restore it from a backup, or move it away: a new one is made"
        return MemoryRefused("store-damaged", str(err), hint)
    if isinstance(err, UnfitError):
        return MemoryRefused("document-invalid", str(err))
    return MemoryRefused("store-busy", str(err), "try again")
