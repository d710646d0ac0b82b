"""Our SQLite files: made once under a lock, opened and closed by each hook, never half a row.

A rollback journal, not WAL: each hook opens and closes, so a WAL would be built and torn down
every time, and a rollback journal is also right on filesystems without shared memory.
"""

from __future__ import annotations

import os
import sys

from hooks.atomic import make_folder
from hooks.errors import HookError, StateError
from hooks.lock import held

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    Values = Sequence[object] | Mapping[str, object]

else:
    # The C module alone: the package around it loads datetime and collections, a third of an
    # interpreter start, for converters of dates that we do not use.
    class _Functools:
        """The one name that the C module takes out of functools, which loads six modules for it."""

        @staticmethod
        def lru_cache(size):
            from _functools import _lru_cache_wrapper

            return lambda call: _lru_cache_wrapper(call, size, False, tuple)

    _lent = "functools" not in sys.modules and sys.modules.setdefault("functools", _Functools)
    try:
        import _sqlite3 as sqlite3
    except (ImportError, AttributeError):  # an interpreter that hides it, or whose wants more
        sqlite3 = None
    if _lent:
        del sys.modules["functools"]
    if sqlite3 is None:
        import sqlite3

# How long to wait for another process's lock. An agent waits for a hook, so that is short: what
# it could not keep or show, the next event or the worker does. Nobody waits for a worker.
HOOK_BUSY_S = 1.0
PATIENT_BUSY_S = 10.0  # a batch of 256 markers on a slow disk holds for 5 s
_DAMAGE = (11, 26)  # SQLITE_CORRUPT and SQLITE_NOTADB: no database, or no longer one
# What the C module says of a value that no column can hold: a lone surrogate, a number of more
# than 64 bits; of any other object it says this.
_UNFIT = (ValueError, OverflowError, TypeError)
_BINDING = "Error binding parameter"

_busy_s = [HOOK_BUSY_S]


def be_patient() -> None:
    """Wait long for locks from now on: for a process that no agent waits for."""
    _busy_s[0] = PATIENT_BUSY_S


class DamagedError(StateError):
    """The file is not the database we wrote."""


class UnfitError(StateError):
    """A value cannot be stored; the same one never will be. Nothing is wrong with the file."""


def _as_state(path: str, what: str, *, damaged: bool) -> HookError:
    return DamagedError(path, what) if damaged else StateError(path, what)


class Database:
    """One open database. Nothing of ``sqlite3`` gets out: ``fault`` makes its errors ours."""

    def __init__(
        self,
        path: str,
        schema: str,
        version: int,
        *,
        create: bool = True,
        fault: Callable[..., HookError] = _as_state,
        upgrade: Callable[[Database, int], None] | None = None,
    ) -> None:
        """Open ``path``; where it does not hold ``version`` of ``schema`` yet, make that.

        ``upgrade`` makes it from an older version, whose number it is given, inside one
        transaction; without it such a file is as one of another version.

        Raises:
            DamagedError: it is not a database (as ``fault`` says it).
            StateError: unreadable, locked for too long, or of another version (too).
        """
        self.path, self._fault, self._upgrade = path, fault, upgrade
        if create and not os.path.exists(path):
            make_folder(os.path.dirname(path))
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._db = self._connect()
        try:
            self._check(schema, version, create)
        except HookError:
            self.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        try:
            return sqlite3.connect(
                self.path, timeout=_busy_s[0], isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as err:
            raise self._translated(err) from None

    def _check(self, schema: str, version: int, create: bool) -> None:
        self.run("PRAGMA synchronous=FULL")
        self.run("PRAGMA secure_delete=ON")  # what is forgotten leaves no trace in free pages
        found = self._version()
        if found < version and (found or create) and (self._upgrade or not found):
            # First runs race: SQLite alone would let the loser fail on a table that exists.
            with held(self.path + ".lock", wait_s=_busy_s[0]):
                found = self._version()
                if found < version:
                    self._make(schema, version, found)
                    found = version
        if found != version:
            what = f"it has format {found}, this version knows {version}"
            raise self._fault(self.path, what, damaged=False)

    def _version(self) -> int:
        return self.number("PRAGMA user_version")

    def _make(self, schema: str, version: int, found: int) -> None:
        if found and self._upgrade:
            with self.writing():
                self._upgrade(self, found)
                self.run(f"PRAGMA user_version={version}")
            return
        # The file's own identity: one that was lost and made again is told apart (marks.py).
        own = int.from_bytes(os.urandom(4), "big") >> 1 or 1  # a positive 31-bit number
        try:
            self._db.executescript(
                f"BEGIN IMMEDIATE;{schema};PRAGMA application_id={own};"
                f"PRAGMA user_version={version};COMMIT;"
            )
        except sqlite3.Error as err:
            raise self._translated(err) from None

    def run(self, sql: str, values: Values = ()) -> int:
        """Execute one statement; return how many rows it changed."""
        try:
            return self._db.execute(sql, values).rowcount
        except sqlite3.Error as err:
            raise self._translated(err) from None
        except _UNFIT as err:
            raise self._unfit(err) from None

    def rows(self, sql: str, values: Values = ()) -> list[tuple[object, ...]]:
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.Error as err:
            raise self._translated(err) from None
        except _UNFIT as err:
            raise self._unfit(err) from None

    def one(self, sql: str, values: Values = ()) -> tuple[object, ...] | None:
        found = self.rows(sql, values)
        return found[0] if found else None

    def number(self, sql: str, values: Values = ()) -> int:
        """Return the first column of the first row as a whole number; 0 when there is none."""
        found = self.one(sql, values)
        return int(str(found[0])) if found and found[0] is not None else 0

    def _unfit(self, err: Exception) -> HookError:
        return UnfitError(self.path, f"it cannot hold a value ({type(err).__name__})")

    def _translated(self, err: sqlite3.Error) -> HookError:
        if str(err).startswith(_BINDING):
            return self._unfit(err)
        damaged = getattr(err, "sqlite_errorcode", 0) & 0xFF in _DAMAGE
        what = "it is not a database any more" if damaged else str(err)
        return self._fault(self.path, what, damaged=damaged)

    def writing(self) -> Transaction:
        """``with db.writing():`` takes the write lock at once; commits, or rolls all of it back."""
        return Transaction(self)

    def roll_back(self) -> None:
        """Undo what is open, if anything is; never a new error over the one that is the reason.

        SQLite ends a transaction by itself on a full disk and on some other errors. What could
        not be undone here is when the file is opened next: its journal is still there.
        """
        try:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error:
            return

    def close(self) -> None:
        self._db.close()


class Transaction:
    """One BEGIN IMMEDIATE. Ended by ``commit``, or by the block: commit, rollback on an error."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._open = False

    def __enter__(self) -> Transaction:
        self._db.run("BEGIN IMMEDIATE")
        self._open = True
        return self

    def commit(self) -> None:
        if self._open:
            self._open = False
            try:
                self._db.run("COMMIT")
            except HookError:
                self._db.roll_back()  # some failed commits leave it open
                raise

    def rollback(self) -> None:
        if self._open:
            self._open = False
            self._db.roll_back()

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.rollback()
