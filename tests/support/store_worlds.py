"""One place where scoped memory is kept, in SQLite or in Redis, opened as often as a test likes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.store import Commit, Seen, Write
from scripts.swarm_v2.memory.store_redis import RedisStore
from scripts.swarm_v2.memory.store_sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from scripts.swarm_v2.memory.store import DocumentStore
    from tests.support.redis_servers import Server

KINDS = ("sqlite", "redis")
SPACE = "proj"
ANN, ANN_1, ANN_2 = "user:ann", "session:ann:1", "session:ann:2"
BEN, BEN_1 = "user:ben", "session:ben:1"
AT = "2026-11-30T12:00:00.000000+00:00"
_number = count()


def put(id: str, value: object, base: int | None = None, key: str = "space") -> Write:
    return Write(id, key, "set", value, base)


def patch(id: str, value: object, base: int | None = None, key: str = "space") -> Write:
    return Write(id, key, "patch", value, base)


def delete(id: str, base: int | None = None, key: str = "space") -> Write:
    return Write(id, key, "delete", None, base)


def erase(id: str, members: object = None, base: int | None = None, key: str = "space") -> Write:
    return Write(id, key, "erase", members, base)


def authored(*writes: Write, **more: object) -> Commit:
    return Commit(**{"kind": "authored", "writes": writes, "at": AT, **more})


def derived(*writes: Write, holder: str, **more: object) -> Commit:
    return Commit(**{"kind": "derived", "writes": writes, "holder": holder, "at": AT, **more})


def seen(id: str, seq: int, key: str = "space", space: str = SPACE) -> Seen:
    return Seen(space, key, id, seq)


def refused(code: str, do: Callable[..., object], *args: object, **named: object) -> object:
    """Do what must be refused with ``code``; return the refusal's facts."""
    with pytest.raises(MemoryRefused) as told:
        do(*args, **named)
    assert told.value.code == code
    return told.value.facts


class World:
    """One file, or one prefix of a server."""

    def __init__(self, kind: str, folder: Path, server: Server | None) -> None:
        self.kind, self.path, self.server = kind, str(folder / "memory.db"), server
        self.prefix = f"w{next(_number)}"
        self._open: list[DocumentStore] = []

    def open(self, **how: object) -> DocumentStore:
        """Return a new handle onto the same documents."""
        if self.kind == "sqlite":
            store = SqliteStore(self.path, **how)
        else:
            store = RedisStore(self.server.url, prefix=self.prefix, **how)
        self._open.append(store)
        return store

    @property
    def code(self) -> str:
        """Code by which another process opens ``store``."""
        if self.kind == "sqlite":
            name, args = "sqlite", f"{self.path!r}"
        else:
            name, args = "redis", f"{self.server.url!r}, prefix={self.prefix!r}"
        cls = f"{name.capitalize()}Store"
        return (
            f"from scripts.swarm_v2.memory.store_{name} import {cls}\n"
            "from scripts.swarm_v2.memory.store import Commit, Write\n"
            "from scripts.swarm_v2.memory.errors import MemoryRefused\n"
            f"store = {cls}({args})\n"
        )

    def close(self) -> None:
        for store in self._open:
            store.close()

    def key(self, name: str, space: str = SPACE) -> str:
        return f"{self.prefix}:memory:{{{space}}}:{name}"

    def ask(self, *words: str) -> object:
        """Ask the server behind the store's back."""
        return self.server.ask(*words)

    def sql(self, text: str, *values: object) -> list[tuple[object, ...]]:
        """Write into the file behind the store's back."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            return db.execute(text, values).fetchall()

    def end_lease(self) -> None:
        """Let the lease's time be over, by the clock that the store reads."""
        if self.kind == "sqlite":
            self.sql("UPDATE lease SET expires_at = expires_at - 3600000")
        else:
            self.ask("PEXPIRE", self.key("lease"), "0")

    def everything(self) -> bytes:
        """Return all that is kept, as it lies there: to look for what must not."""
        if self.kind == "sqlite":
            found = b""
            for end in ("", "-wal", "-journal"):
                try:
                    with open(self.path + end, "rb") as file:
                        found += file.read()
                except FileNotFoundError:
                    continue
            return found
        mine = [key for key in self.server.keys() if key.startswith(self.prefix)]  # noqa: SIM118
        return b"".join(self.ask("DUMP", key) for key in mine)

    def damage(self, what: str) -> None:
        """Spoil the newest revision's row of the document ``a``."""
        (_DAMAGE_SQLITE if self.kind == "sqlite" else _DAMAGE_REDIS)[what](self)


_FIELD = json.dumps(["", "space", "a"], separators=(",", ":"))
_DAMAGE_SQLITE = {
    "value": lambda w: w.sql("UPDATE revision SET value = '{' WHERE id = 'a'"),
    "value gone": lambda w: w.sql("DELETE FROM revision WHERE id = 'a'"),
    "value of another type": lambda w: w.sql("UPDATE revision SET value = x'31' WHERE id = 'a'"),
    "head": lambda w: w.sql("UPDATE head SET op = 'gone' WHERE id = 'a'"),
    "head's number": lambda w: w.sql("UPDATE head SET seq = 'x' WHERE id = 'a'"),
}
_DAMAGE_REDIS = {
    "value": lambda w: w.ask(
        "LSET", w.key(f"revisions:{_FIELD}"), "-1", f'1 ["set","authored","{AT}",""]\n{{'
    ),
    "value gone": lambda w: w.ask("DEL", w.key(f"revisions:{_FIELD}")),
    "value of another type": lambda w: w.ask("LSET", w.key(f"revisions:{_FIELD}"), "-1", "x"),
    "head": lambda w: w.ask("HSET", w.key("head"), _FIELD, "1 gone r 0 1 0"),
    "head's number": lambda w: w.ask("HSET", w.key("head"), _FIELD, "x set r 0 1 0"),
}
