"""The sessions' state in ``state.db``: for one machine, nothing to start.

A damaged file is put aside and a new one begun: what it knew is spare. For the same reason it is
not synced: a power cut may cost it, a killed process costs nothing.
"""

from __future__ import annotations

import os

from hooks.context.database import Database, UnfitError
from hooks.context.session_state import TTL_S, Key, check_size
from hooks.errors import StateDown, StateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hooks.errors import HookError

FILE = "state.db"
ASIDE = "state.db.damaged"
GONE = "what it knew of sessions is gone, and controls are on if they were off"
VERSION = 1
SCHEMA = """
CREATE TABLE state (
    kind TEXT NOT NULL, id TEXT NOT NULL, value BLOB NOT NULL, ends REAL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX state_by_end ON state (ends) WHERE ends IS NOT NULL
"""
# What SQLite says of a file whose schema is not the one that its version says.
_BROKEN = ("no such table", "no such column", "unsupported file format")
_SWEPT = 16  # expired rows that one write takes along


class DamagedStateError(StateDown):
    """The file is no database any more; it has been put aside."""


class _Fault:
    """What a failure of the file means, and the end of a damaged one."""

    def __init__(self, path: str, at: datetime) -> None:
        self._path, self._at, self._opened = path, at, _identity(path)

    def __call__(self, _path: str, what: str, *, damaged: bool) -> HookError:
        if damaged or what.startswith(_BROKEN):
            return self.end()
        return StateDown(FILE, what)

    def end(self) -> StateDown:
        """Put the file aside; return what to raise."""
        try:
            self._put_aside()
        except (OSError, StateError):  # a folder that we may not write, or a lock in a dead place
            return StateDown(FILE, "it is damaged and cannot be put aside")
        return DamagedStateError(FILE, f"it was damaged and lies in {ASIDE} now")

    def _put_aside(self) -> None:
        from hooks.clock import iso
        from hooks.lock import held
        from hooks.log import log

        # Several hooks meet it at once: only the file that was met damaged goes, not the new one.
        with held(self._path + ".aside.lock", wait_s=1.0):
            if _identity(self._path) != self._opened:
                return
            if os.path.lexists(self._path + "-journal"):  # first: the new file has its own
                os.unlink(self._path + "-journal")
            home = os.path.dirname(self._path)
            aside = os.path.join(home, ASIDE)
            os.replace(self._path, aside)
        os.utime(aside, (self._at.timestamp(),) * 2)  # for ``put_aside_at``
        log(home, iso(self._at), "state", "", f"{FILE} was damaged and lies in {ASIDE} now: {GONE}")


def put_aside_at(home: str) -> float | None:
    """Return when the damaged file that lies in ``home`` was put there; None for none."""
    try:
        return os.stat(os.path.join(home, ASIDE)).st_mtime
    except OSError:
        return None


def _identity(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


class EmbeddedState:
    """See ``SessionState``. ``at`` is the event's instant: what ended before it is not there."""

    def __init__(self, db: Database, at: datetime) -> None:
        self._db, self._at = db, at.timestamp()

    @classmethod
    def open(cls, home: str, at: datetime) -> EmbeddedState:
        path = os.path.join(home, FILE)
        try:
            try:
                db = _database(path, at)
            except DamagedStateError:
                db = _database(path, at)
        except StateDown:
            raise
        except StateError as err:
            raise StateDown(FILE, err.what) from None
        except OSError as err:
            raise StateDown(FILE, err.strerror or "unreadable") from None
        return cls(db, at)

    def close(self) -> None:
        self._db.close()

    def read(self, keys: Sequence[Key]) -> list[bytes | None]:
        return [self._value(key) for key in keys]

    def _value(self, key: Key) -> bytes | None:
        row = self._db.one(
            "SELECT value FROM state WHERE kind = ? AND id = ? AND (ends IS NULL OR ends > ?)",
            (key.kind, key.id, self._at),
        )
        return row[0] if row and isinstance(row[0], bytes) else None

    def write(self, key: Key, value: bytes) -> None:
        with self._db.writing():
            self._set(key, value)

    def swap(self, key: Key, old: bytes | None, new: bytes | None) -> bool:
        with self._db.writing():
            if self._value(key) != old:
                return False
            if new is None:
                self._drop(key)
            else:
                self._set(key, new)
        return True

    def delete(self, keys: Sequence[Key]) -> None:
        with self._db.writing():
            for key in keys:
                self._drop(key)

    def ids(self, kind: str) -> list[str]:
        rows = self._db.rows(
            "SELECT id FROM state WHERE kind = ? AND (ends IS NULL OR ends > ?) ORDER BY id",
            (kind, self._at),
        )
        return [str(row[0]) for row in rows]

    def _set(self, key: Key, value: bytes) -> None:
        check_size(key.kind, value)
        ttl_s = TTL_S[key.kind]
        ends = None if ttl_s is None else self._at + ttl_s
        self._db.run("INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?)", (*key, value, ends))
        self._db.run(
            "DELETE FROM state WHERE (kind, id) IN"
            " (SELECT kind, id FROM state WHERE ends <= ? LIMIT ?)",
            (self._at, _SWEPT),
        )

    def _drop(self, key: Key) -> None:
        self._db.run("DELETE FROM state WHERE kind = ? AND id = ?", tuple(key))


def _database(path: str, at: datetime) -> Database:
    fault, db = _Fault(path, at), None
    try:
        db = Database(path, SCHEMA, VERSION, fault=fault)
        db.run("PRAGMA synchronous=OFF")
        db.one("SELECT value FROM state LIMIT 1")  # a schema that is damaged shows itself here
    except StateError as err:
        if db is not None:
            db.close()
        if isinstance(err, UnfitError):  # no value was given: its own words cannot be read
            raise fault.end() from None
        raise
    return db
