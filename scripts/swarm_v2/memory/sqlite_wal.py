"""The write-ahead log of a file that a long-lived process has open: nothing erased stays in it.

A checkpoint that empties the log needs an instant without readers. Where one stood in the way,
what was erased is still in the log, and in the file too: it is tried again until it is done.
Processes that know no log (hooks, commands) erase as well, so commits of others are looked at.
"""

from __future__ import annotations

from hooks.errors import HookError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.database import Database

RETRY_S = 1.0  # between two tries while readers stand in the way
_END = "SELECT coalesce(max(rowid), 0) FROM revision"
_ERASED = "SELECT 1 FROM revision WHERE rowid > ? AND op = 'erase' LIMIT 1"


class WriteAhead:
    """Every method runs under the lock of the store, outside of a transaction."""

    def __init__(self, db: Database) -> None:
        self._db, self._is_on = db, False
        self._owes = False  # whether the log may hold what was erased
        self._looked = (-1, 0)  # data_version, and the newest revision, that were looked at

    def begin(self) -> None:
        """Write ahead from now on, if nobody holds the file: else every commit waits for it."""
        try:
            self._is_on = self._db.one("PRAGMA journal_mode=WAL") == ("wal",)
            if self._is_on:
                self._db.run("PRAGMA synchronous=NORMAL")
                self._owes = True  # what stood in a log that a killed process left
                self._looked = (self._version(), self._db.number(_END))
        except HookError:
            return

    def empty(self) -> bool:
        """Leave nothing in a log; say whether that is so.

        Readers are waited for, but not by the process that lives on: everybody would wait for
        it, and it has ``tidy``.
        """
        try:
            if not self._is_on:
                return self._emptied()
            wait = self._db.number("PRAGMA busy_timeout")
            self._db.rows("PRAGMA busy_timeout=0")
            try:
                return self._emptied()
            finally:
                self._db.rows(f"PRAGMA busy_timeout={wait}")
        except HookError:
            self._owes = True
            return False

    def _emptied(self) -> bool:
        busy, *_ = self._db.one("PRAGMA wal_checkpoint(TRUNCATE)") or (0,)
        self._owes = bool(busy)
        return not self._owes

    def tidy(self) -> bool:
        """Do what is owed, waiting for nobody; say whether nothing is."""
        if not self._is_on:
            return True
        try:
            self._look()
        except HookError:
            return False
        return not self._owes or self.empty()

    @property
    def due_s(self) -> float | None:
        return RETRY_S if self._is_on and self._owes else None

    def _look(self) -> None:
        version, (seen, end) = self._version(), self._looked
        if version != seen:
            self._owes = self._owes or self._db.one(_ERASED, (end,)) is not None
            self._looked = (version, self._db.number(_END))

    def _version(self) -> int:
        return self._db.number("PRAGMA data_version")

    def end(self) -> None:
        """Go back to a rollback journal; the last one that has the file open can."""
        if not self._is_on:
            return
        self._is_on = False
        try:
            self._db.run("PRAGMA busy_timeout=0")
            self._db.rows("PRAGMA journal_mode=DELETE")
        except HookError:
            return
