"""The sessions' state in ``state.db``: for one machine, nothing to start."""

from __future__ import annotations

import os

from hooks.context.database import Database
from hooks.context.session_state import TTL_S, Key
from hooks.errors import StateDown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hooks.errors import HookError

FILE = "state.db"
VERSION = 1
SCHEMA = """
CREATE TABLE state (
    kind TEXT NOT NULL, id TEXT NOT NULL, value BLOB NOT NULL, ends REAL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX state_by_end ON state (ends) WHERE ends IS NOT NULL
"""
_SWEPT = 16  # expired rows that one write takes along


def _down(_path: str, what: str, *, damaged: bool) -> HookError:
    return StateDown(FILE, "it is damaged" if damaged else what)


class EmbeddedState:
    """See ``SessionState``. ``at`` is the event's instant: what ended before it is not there."""

    def __init__(self, db: Database, at: datetime) -> None:
        self._db, self._at = db, at.timestamp()

    @classmethod
    def open(cls, home: str, at: datetime) -> EmbeddedState:
        try:
            return cls(Database(os.path.join(home, FILE), SCHEMA, VERSION, fault=_down), at)
        except OSError as err:
            raise StateDown(FILE, err.strerror or "unreadable") from None

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
