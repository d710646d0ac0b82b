"""Documents in one SQLite file: see ``store.DocumentStore``. One file holds many spaces."""

from __future__ import annotations

import os
import time
from _thread import RLock

from hooks.context.database import DamagedError, Database, UnfitError
from hooks.errors import HookError, StateError
from scripts.swarm_v2.memory import sqlite_basis, sqlite_commit, sqlite_rows
from scripts.swarm_v2.memory.document import check_text
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.prepared import check_session_key, cut
from scripts.swarm_v2.memory.sqlite_commit import apply as apply
from scripts.swarm_v2.memory.sqlite_rows import Place
from scripts.swarm_v2.memory.sqlite_schema import SCHEMA as SCHEMA
from scripts.swarm_v2.memory.sqlite_schema import VERSION as VERSION
from scripts.swarm_v2.memory.sqlite_wal import WriteAhead
from scripts.swarm_v2.scope_key import DirtyKey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from scripts.swarm_v2.memory.address import InstanceKey
    from scripts.swarm_v2.memory.decoded import DecodedValues
    from scripts.swarm_v2.memory.sqlite_rows import Head
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
        erased: Callable[[str], None] | None = None,
    ) -> None:
        """Open ``path`` or make it; ``database`` is one that is open and has our tables.

        ``opener(path, fault=…)`` opens a file that has other tables beside ours.

        ``wal`` is for a process that lives on: its commits do not wait for the disk (they survive
        the process; a power cut may take the newest ones, never a part of one), and the file goes
        back to a rollback journal when it is closed and nobody else has it open. ``clock`` and
        ``sleep`` are of ``wait``: monotonic. ``erased`` is called after each commit that erased
        an author's documents, with its instant: their words may be elsewhere too.

        Raises:
            MemoryRefused: ``store-damaged`` or ``store-busy``.
        """
        self._clock, self._sleep, self._erased = clock, sleep, erased
        self._lock, self._lent, self._commits = RLock(), database is not None, 0
        self._values = None if self._lent else _kept_values()
        with _Guarded(self._lock):
            self._db = database or (opener or _own_file)(path, fault=_fault)
            own = self._db.number("PRAGMA application_id")
            self._ahead = WriteAhead(self._db)
            if wal:
                self._ahead.begin()
        self.name = f"sqlite:{os.path.realpath(path)}:{own}"

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
            self._let_go(commit.at if commit.kind == "authored" else None)
        return number

    def drop_session(self, space: str, session_key: str, at: str) -> int:
        with self._writing():
            number = sqlite_commit.drop_session(self._db, space, session_key, at)
        self._let_go(at)
        return number

    def _let_go(self, at: str | None) -> None:
        """Keep no word of what was erased: here, in a log of the file, and where ``erased`` looks.

        What stands in the way now is done by a later ``tidy``: what was asked is written.
        """
        if self._values is not None:
            self._values.clear()
        if at is not None and self._erased is not None:
            self._erased(at)
        with self._guarded():
            self._ahead.empty()

    def tidy(self) -> bool:
        with self._guarded():
            return self._ahead.tidy()

    def due_s(self) -> float | None:
        return self._ahead.due_s

    def read(self, space: str, scope_key: str, id: str, *, branch: str = "") -> Document | None:
        with self._reading():
            place = Place(space, branch, id, scope_key)
            return sqlite_rows.document(self._db, place, self._value)

    def read_many(
        self, space: str, keys: Iterable[DirtyKey], *, branch: str = ""
    ) -> dict[DirtyKey, Document]:
        wanted = list(dict.fromkeys(keys))
        with self._reading():
            return sqlite_rows.documents(self._db, space, branch, wanted, self._value)

    def _value(self, db: Database, place: Place, at: Head) -> object:
        # A hook, whose file was open before, reads each document once: for it nothing is kept.
        read = sqlite_rows.value if self._values is None else self._values.value
        return read(db, place, at)

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
        prefix, after = check_text(prefix, "prefix"), check_text(after, "after")
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
                one = sqlite_rows.document(self._db, place, self._value)
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

    def mark(self, space: str, seq: int) -> str:
        """See ``DocumentStore``: a file does not lose what was committed while it is open."""
        return "kept" if 0 < seq <= self.seq(space) else ""

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

    def resume(self, session_key: str, at: str) -> None:
        check_session_key(session_key)
        with self._reading():  # most have no mark, and cost no write
            marked = sqlite_basis.is_marked(self._db, session_key, at)
        if marked:
            with self._writing():
                sqlite_basis.resume(self._db, session_key, at)

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
            self._ahead.end()
            self._db.close()


def _kept_values() -> DecodedValues:
    from scripts.swarm_v2.memory.decoded import DecodedValues

    return DecodedValues()


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
