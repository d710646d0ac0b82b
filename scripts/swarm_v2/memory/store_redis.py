"""Documents in Redis: see ``store.DocumentStore``. One Lua script per commit.

A space lies on one slot of a cluster: ``<prefix>:memory:{<space>}:…``. The least that an ACL user
needs, ``ACL SETUSER name on >password resetkeys ~<prefix>:memory:* -@all`` and then ``RIGHTS``.
Reads of *other* spaces that a commit relies on are checked in a step of their own just before it:
nothing in Redis spans two slots.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.document import check_text
from scripts.swarm_v2.memory.prepared import Put, after_prefix, check_session_key, cut, prepare
from scripts.swarm_v2.memory.redis_basis import RedisBasis, basis_key
from scripts.swarm_v2.memory.redis_commit import Committer, Plan, Step, check_elsewhere, plan_of
from scripts.swarm_v2.memory.redis_link import RedisLink, Script, damaged
from scripts.swarm_v2.memory.redis_rows import (
    document,
    field_of,
    mark_of,
    parse_change,
    parse_field,
    parse_revision,
)
from scripts.swarm_v2.memory.store import Commit
from scripts.swarm_v2.scope_key import DirtyKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from scripts.swarm_v2.memory.store import Change, Document, Revision

RIGHTS = (
    *("+eval", "+evalsha", "+acl|whoami", "+type", "+time"),
    *("+get", "+set", "+del", "+pttl", "+sadd", "+srem", "+smembers"),
    *("+hget", "+hmget", "+hgetall", "+hset", "+hsetnx", "+hdel", "+hkeys"),
    *("+lrange", "+lset", "+rpush", "+zadd", "+zrem", "+zrangebylex"),
    *("+xadd", "+xrange", "+xread"),
)
_SCRIPTS = ("commit", "read", "snapshot", "lease")


class RedisStore(RedisBasis):
    """See ``DocumentStore``. May be used from several threads."""

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "brainhooks",
        timeout_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,  # noqa: TID251 - between tries of a lost server
    ) -> None:
        """Connect. What a server loses while it answers is asked again for ``timeout_s``.

        Raises:
            MemoryRefused: ``store-busy``: redis-py is missing, the address is none, nobody is
                there, or the user may not do what is needed.
        """
        self._prefix, self._clock, self._sleep = prefix, clock, sleep
        self._link = RedisLink(url, timeout_s, clock, sleep)
        self._scripts = {name: Script(name) for name in _SCRIPTS}
        self._known: set[str] = set()  # spaces that are listed for sure
        self._awaited: dict[str, tuple[int, str]] = {}  # behind which commits ``wait`` waits
        self.name = f"redis:{self._own_name()}"

    def _own_name(self) -> str:
        """Return the mark of this very data: a server that was emptied is another store."""
        key, new = f"{self._prefix}:memory:name", os.urandom(16).hex()
        self._link.call("set", key, new, nx=True)
        found = self._link.call("get", key)
        return (found or new.encode()).decode("utf-8", "replace")

    def user(self) -> str | None:
        """Return the ACL user that this connection is; None for ``default``, who is nobody.

        Raises:
            MemoryRefused: ``store-busy``.
        """
        found = self._link.call("acl_whoami")
        name = found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)
        return None if name == "default" else name

    def commit(self, space: str, commit: Commit, *, branch: str = "", request: str = "") -> int:
        """See ``DocumentStore``.

        ``request`` names the commit where the caller may ask again after ``store-busy`` (whose
        facts hold it): within ten minutes the same one is written once and answered alike.
        """
        plan = plan_of(space, branch, commit, prepare(space, commit))
        other = [seen for seen in commit.reads if seen.space != space]
        keys = [InstanceKey(seen.space, seen.scope_key, seen.id) for seen in other]
        check_elsewhere(other, self.heads(keys, branch=branch))
        return self._write(space, plan, request)

    def _write(self, space: str, plan: Plan, request: str = "") -> int:
        if space not in self._known and plan.steps:
            key = self._spaces_key()
            self._link.call("sadd", key, space)
            self._known.add(space)
        number = self._committer(space).write(plan, request or os.urandom(16).hex())
        if number == 1:  # the server may have lost this list along with all that was there
            self._link.call("sadd", self._spaces_key(), space)
        return number

    def _committer(self, space: str) -> Committer:
        return Committer(self._link, space, self._names(space), self._scripts)

    def drop_session(self, space: str, session_key: str, at: str) -> int:
        check_session_key(session_key)
        key, rows = self._names(space).instances(session_key), self._names(space).of("basis")
        fields = sorted(self._link.call("smembers", key))
        steps = []
        for field in fields:
            branch, scope_key, document_id = parse_field(field.decode("utf-8", "replace"))
            if scope_key != session_key:
                raise damaged("an instance is listed for another session")
            steps.append(Step(branch, Put(document_id, session_key, "erase")))
        every = self._link.call("hkeys", rows)
        mine = [one.decode() for one in every if basis_key(one)[2] == session_key]
        plan = Plan(Commit("system", at=at), None, (), tuple(steps), tuple(mine))
        number = self._write(space, plan)
        # Behind it, so that a kill in between leaves a mark to find nothing by, and no rows.
        self._link.call("hdel", self._names(space).of("retired"), session_key)
        return number

    def read(self, space: str, scope_key: str, id: str, *, branch: str = "") -> Document | None:
        key = DirtyKey(scope_key, id)
        return self.read_many(space, (key,), branch=branch).get(key)

    def read_many(
        self, space: str, keys: Iterable[DirtyKey], *, branch: str = ""
    ) -> dict[DirtyKey, Document]:
        wanted = list(dict.fromkeys(keys))
        fields = [field_of(branch, key.scope_key, key.id) for key in wanted]
        states = self._committer(space).read(fields)
        found = {}
        for key, state in zip(wanted, states, strict=True):
            one = document(space, key, state)
            if one is not None:
                found[key] = one
        return found

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
        end = after_prefix(prefix)
        low = b"(" + after.encode() if after >= prefix else b"[" + prefix.encode()
        high = b"+" if end is None else b"(" + end.encode()
        ids: list[DirtyKey] = []
        for scope_key in dict.fromkeys(scope_keys):
            key = self._names(space).live(branch, scope_key)
            found = self._link.call("zrangebylex", key, low, high, 0, limit)
            ids += [DirtyKey(scope_key, one.decode("utf-8", "replace")) for one in found]
        page = self.read_many(space, cut(ids, limit), branch=branch)
        return [one for one in page.values() if not one.deleted]

    def history(
        self, space: str, scope_key: str, id: str, *, branch: str = "", limit: int = 100
    ) -> list[Revision]:
        key = self._names(space).revisions(field_of(branch, scope_key, id))
        found = self._link.call("lrange", key, -limit, -1) if limit > 0 else []
        return [parse_revision(one) for one in reversed(found)]

    def seq(self, space: str) -> int:
        key = self._names(space).of("seq")
        found = self._link.call("get", key) or b"0"
        if not found.isdigit():
            raise damaged("the sequence number")
        return int(found)

    def mark(self, space: str, seq: int) -> str:
        key, entry = self._names(space).of("commits"), f"{seq}-0"
        found = self._link.call("xrange", key, entry, entry) if seq else []
        return mark_of(found[0][1]) if found else ""

    def changes(
        self, space: str, since: int, *, limit: int = 1000, branch: str = ""
    ) -> list[Change]:
        key = self._names(space).of("commits")
        found = self._link.call("xrange", key, f"{since + 1}-0", "+", count=limit)
        return [parse_change(number, fields, branch) for number, fields in found]

    def wait(self, since: Mapping[str, int], timeout_s: float) -> bool:
        until = self._clock() + timeout_s
        streams = {self._names(space).of("commits"): f"{seen}-0" for space, seen in since.items()}
        # One question may name one slot of a cluster only: there the spaces take turns.
        turns = [{key: seen} for key, seen in streams.items()] if self._link.cluster else [streams]
        longest = self._link.timeout_s / 2 / max(1, len(turns))  # the client itself gives up later
        if not streams:
            self._sleep(timeout_s)
            return False
        while True:
            for turn in turns:
                left = min(longest, until - self._clock())
                if self._next(turn, max(1, int(left * 1000))) or self._lost(since):
                    return True
            if self._clock() >= until:
                return False

    def _lost(self, since: Mapping[str, int]) -> bool:
        """Say whether a commit that is waited behind is gone, or is another one now."""
        for space, seq in since.items():
            before = self._awaited.pop(space, (seq, ""))
            now = self.mark(space, seq)
            if seq and (not now or (before[0] == seq and before[1] not in ("", now))):
                return True
            self._awaited[space] = (seq, now)
        return False

    def _next(self, streams: dict[str, str], block_ms: int) -> bool:
        return bool(self._link.call("xread", streams, 1, block_ms))

    def spaces(self) -> list[str]:
        key = self._spaces_key()
        found = [one.decode() for one in self._link.call("smembers", key)]
        return sorted(space for space in found if self.seq(space))

    def tidy(self) -> bool:
        return True  # what is erased leaves a Redis at once

    def due_s(self) -> float | None:
        return None

    def close(self) -> None:
        self._link.close()

    def _spaces_key(self) -> str:
        return f"{self._prefix}:memory:spaces"
