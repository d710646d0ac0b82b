"""The rows beside the documents in Redis: heads to compare, basis, lease, sessions that ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.prepared import check_session_key
from scripts.swarm_v2.memory.redis_link import damaged
from scripts.swarm_v2.memory.redis_rows import Names, basis_field, field_of, parse_head
from scripts.swarm_v2.memory.store import ABSENT, Basis, Held, Seen
from scripts.swarm_v2.scope_key import is_scope_key
from scripts.swarm_v2.wire_json import loads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scripts.swarm_v2.memory.redis_link import RedisLink, Script


class RedisBasis:
    """The part of ``RedisStore`` that is not about documents."""

    _link: RedisLink
    _scripts: dict[str, Script]
    _prefix: str

    def _names(self, space: str) -> Names:
        return Names(self._prefix, space)

    def heads(self, keys: Iterable[InstanceKey], *, branch: str = "") -> dict[InstanceKey, int]:
        """See ``DocumentStore``; of several spaces one after the other."""
        by_space: dict[str, list[InstanceKey]] = {}
        for key in dict.fromkeys(keys):
            by_space.setdefault(key.space, []).append(key)
        found: dict[InstanceKey, int] = {}
        for space, wanted in by_space.items():
            name = self._names(space).of("head")
            fields = [field_of(branch, key.scope_key, key.id) for key in wanted]
            said = self._link.call("hmget", name, fields)
            for key, data in zip(wanted, said, strict=True):
                found[key] = ABSENT if data is None else parse_head(data).seq
        return found

    def basis(self, space: str, action: str | None = None) -> list[Basis]:
        key = self._names(space).of("basis")
        rows = self._link.call("hgetall", key)
        found = []
        for field, data in rows.items():
            branch, name, scope_key = basis_key(field)
            if branch == "" and action in (None, name):
                found.append(Basis(name, scope_key, _seen(data) or ()))
        return sorted(found)

    def moved(self, space: str, action: str, scope_key: str) -> list[Seen] | None:
        """See ``DocumentStore``; one question, and one more for each space of the inputs.

        Of a damaged row nobody can say what moved: None.
        """
        key, field = self._names(space).of("basis"), basis_field("", action, scope_key)
        data = self._link.call("hget", key, field)
        seen = None if data is None else _seen(data)
        if seen is None:
            return None
        heads = self.heads(InstanceKey(one.space, one.scope_key, one.id) for one in seen)
        now = {tuple(key): seq for key, seq in heads.items()}
        return [one for one in seen if now[(one.space, one.scope_key, one.id)] != one.seq]

    def held(self, space: str) -> Held | None:
        match self._lease(space, "held"):
            case [bytes(holder), int(ends)]:
                return Held(holder.decode("utf-8", "replace"), ends)
            case []:
                return None
        raise damaged("a lease that nobody took")

    def acquire(self, space: str, holder: str, ttl_ms: int) -> bool:
        return self._lease(space, "acquire", holder, ttl_ms) == 1

    def release(self, space: str, holder: str) -> bool:
        return self._lease(space, "release", holder) == 1

    def _lease(self, space: str, what: str, holder: str = "", ttl_ms: int = 0) -> object:
        keys = [self._names(space).of("lease")]
        found: object = self._link.run(self._scripts["lease"], keys, [what, holder, ttl_ms])
        return found

    def retire(self, space: str, session_key: str, at: str) -> None:
        key = self._names(space).of("retired")
        field = check_session_key(session_key)
        self._link.call("hsetnx", key, field, at)

    def resume(self, session_key: str, at: str) -> None:
        field = check_session_key(session_key)
        for space in self._link.call("smembers", f"{self._prefix}:memory:spaces"):
            key = self._names(space.decode("utf-8", "replace")).of("retired")
            mark = self._link.call("hget", key, field)
            if mark is not None and mark.decode() < at:
                self._link.call("hset", key, field, at)

    def retired(self, space: str, before: str) -> list[str]:
        key = self._names(space).of("retired")
        rows = self._link.call("hgetall", key)
        marks = sorted((at.decode(), field.decode()) for field, at in rows.items())
        return [field for at, field in marks if at < before]


def basis_key(field: bytes) -> tuple[str, str, str]:
    """Return branch, action and scope key of a recorded instance.

    Raises:
        MemoryRefused: ``store-damaged``.
    """
    match _loads(field):
        case [str(branch), str(action), str(scope_key)] if is_scope_key(scope_key):
            return branch, action, scope_key
    raise damaged("a basis row has no scope key")


def _seen(data: bytes) -> tuple[Seen, ...] | None:
    """Return what a row says; None for one that no commit wrote."""
    try:
        said = loads(data)
    except ValueError:
        return None
    found = [_one_seen(item) for item in said] if isinstance(said, list) else [None]
    whole = [one for one in found if one is not None]
    if len(whole) < len(found):
        return None
    return tuple(sorted(whole, key=lambda one: (one.space, one.id, one.scope_key)))


def _one_seen(item: object) -> Seen | None:
    match item:
        case [str(space), str(scope_key), str(name), int(seq)] if is_scope_key(scope_key):
            return Seen(space, scope_key, name, seq)
    return None


def _loads(data: bytes) -> object:
    try:
        return loads(data)
    except ValueError:
        raise damaged("a basis row that no commit wrote") from None
