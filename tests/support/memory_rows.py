"""The rows of scoped memory as they lie there, read past every store, of either kind."""

from __future__ import annotations

import json
import sqlite3
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import redis

from scripts.swarm_v2.memory.document import MISSING, merge
from scripts.swarm_v2.scope_key import DirtyKey

if TYPE_CHECKING:
    from tests.support.store_worlds import World

_TABLES = ("head", "revision", "snapshot", "commit_log", "basis", "retired")


class Row(NamedTuple):
    """The newest state of one instance; MISSING where it was deleted or erased."""

    seq: int
    op: str
    value: Any


class Log(NamedTuple):
    """One revision as it lies there. ``value`` is JSON text, "" where there is none any more."""

    seq: int
    place: int
    key: DirtyKey
    op: str
    value: str


class Rows:
    """Raw access to one store of either kind, behind its back."""

    def __init__(self, world: World) -> None:
        self._world = world
        if world.kind == "sqlite":
            self._db = sqlite3.connect(world.path, isolation_level=None)
            self._db.execute("PRAGMA synchronous=OFF")
        else:
            self._redis = redis.Redis.from_url(world.server.url, decode_responses=True)

    def close(self) -> None:
        (self._db if self._world.kind == "sqlite" else self._redis).close()

    def dump(self, *spaces: str) -> tuple[object, ...]:
        """Return all that a refused commit must leave as it is."""
        if self._world.kind == "sqlite":
            return tuple(
                self._db.execute(f"SELECT * FROM {name} WHERE space = ?", (space,)).fetchall()
                for space in spaces
                for name in _TABLES
            )
        names = [key for space in spaces for key in self._names(space) if ":lease" not in key]
        return tuple((key, self._redis.dump(key)) for key in names)

    def log(self, space: str) -> list[Log]:
        """Return every revision, in the order of writing."""
        if self._world.kind == "sqlite":
            sql = "SELECT seq, op_index, scope_key, id, op, value FROM revision WHERE space = ?"
            found = [
                Log(seq, place, DirtyKey(key, id), op, value or "")
                for seq, place, key, id, op, value in self._db.execute(sql, (space,))
            ]
        else:
            found = self._redis_log(space)
        return sorted(found, key=lambda one: one[:2])

    def _redis_log(self, space: str) -> list[Log]:
        fields = self._redis.hkeys(self._world.key("head", space))
        pipe = self._redis.pipeline(transaction=False)
        for field in fields:
            pipe.lrange(self._world.key(f"revisions:{field}", space), 0, -1)
        found = []
        for field, entries in zip(fields, pipe.execute(), strict=True):
            _, key, id = json.loads(field)
            for place, entry in enumerate(entries):
                header, _, text = entry.partition("\n")
                seq, _, said = header.partition(" ")
                found.append(Log(int(seq), place, DirtyKey(key, id), json.loads(said)[0], text))
        return found

    def state(self, space: str) -> dict[DirtyKey, Row]:
        found: dict[DirtyKey, Row] = {}
        for one in self.log(space):
            before = found[one.key].value if one.key in found else MISSING
            found[one.key] = Row(one.seq, one.op, _after(before, one))
        return found

    def numbers(self, space: str) -> list[int]:
        """Return the number of each commit, in order."""
        if self._world.kind == "sqlite":
            sql = "SELECT seq FROM commit_log WHERE space = ? ORDER BY seq"
            return [seq for (seq,) in self._db.execute(sql, (space,))]
        entries = self._redis.xrange(self._world.key("commits", space))
        return [int(name.partition("-")[0]) for name, _ in entries]

    def derived(self, space: str) -> set[tuple[str, str]]:
        """Return the derivation and scope key of every recorded basis."""
        if self._world.kind == "sqlite":
            sql = "SELECT DISTINCT action, action_scope_key FROM basis WHERE space = ?"
            return set(self._db.execute(sql, (space,)))
        fields = self._redis.hkeys(self._world.key("basis", space))
        return {(action, key) for _, action, key in map(json.loads, fields)}

    def end_lease(self, space: str) -> None:
        """Let the lease's time be over, by the clock that the store reads."""
        if self._world.kind == "sqlite":
            sql = "UPDATE lease SET expires_at = expires_at - 3600000 WHERE space = ?"
            self._db.execute(sql, (space,))
        else:
            self._redis.pexpire(self._world.key("lease", space), 0)

    def _names(self, space: str) -> list[str]:
        return sorted(self._redis.scan_iter(self._world.key("*", space), count=1000))


def _after(before: object, one: Log) -> object:
    if one.op in ("set", "patch") and not one.value:
        return MISSING  # its value is gone, with what erased it behind it
    if one.op == "set":
        return _read(one.value)
    if one.op == "patch":
        return merge(None if before is MISSING else before, _read(one.value))
    return MISSING


@lru_cache(10_000)
def _read(text: str) -> object:
    return json.loads(text)
