"""Scoped memory as a Python program uses it: open a store, open a session, read, commit, watch.

store = open_store(home)
with open_session(store, space, of_installation(home), now=clock) as memory:
    memory.commit({"writes": [{"id": "notes", "scope": "session", "value": {}}]})
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from hooks.clock import from_epoch, iso, parse_iso
from scripts.swarm_v2.memory.answers import answer, told
from scripts.swarm_v2.memory.editing import Edit
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import encode
from scripts.swarm_v2.memory.memories import FLEET, PERSON, SHELF
from scripts.swarm_v2.memory.runtime import MemoryRuntime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from types import TracebackType
    from typing import Protocol

    from scripts.swarm_v2.memory.derivations import Roots
    from scripts.swarm_v2.memory.sessions import Credential
    from scripts.swarm_v2.memory.store import DocumentStore
    from scripts.swarm_v2.scope_key import Identity

    class Memory(Protocol):
        """One session of one person in one space, in this process or at a server.

        Documents are JSON: ``{"id", "scope", "seq", "value"}``, or ``"deleted": true`` in place
        of a value. No method takes a principal or a scope key. Every method may raise
        ``MemoryRefused``.
        """

        space: str
        principal: str | None

        def read(
            self, id: str, scope: str = "space", *, follow: bool = True
        ) -> Mapping[str, object] | None:
            """Return the session's own instance; a redirect is followed to its value.

            Without ``follow`` it is the very instance that is named, as it is stored.
            """
            ...

        def documents(
            self, scope: str = "space", *, prefix: str = "", after: str = "", limit: int = 100
        ) -> Mapping[str, object]:
            """Return ``{"documents", "next"}``: live ones by id; ``next`` is "" at the end."""
            ...

        def history(
            self, id: str, scope: str = "space", *, limit: int = 100
        ) -> Mapping[str, object]:
            """Return ``{"revisions"}``, newest first."""
            ...

        def commit(self, proposal: Mapping[str, object]) -> int:
            """Write ``{"writes": [{id, scope, op, value, base}], "reads": [{id, scope, seq}]}``."""
            ...

        def transaction(self) -> Edit:
            """Begin a change of several documents, refused where what it read moved."""
            ...

        def watch(
            self,
            watch_id: str,
            id: str,
            scope: str = "space",
            *,
            path: tuple[str, ...] = (),
            schema: object = True,
        ) -> Mapping[str, object]:
            """Start or replace a watch; return the frame of what it shows now."""
            ...

        def unwatch(self, watch_id: str) -> Mapping[str, object]:
            """End a watch; return the frame that takes away what only it showed."""
            ...

        def frames(self, timeout_s: float) -> list[Mapping[str, object]]:
            """Return what changed of all that is watched; waits up to ``timeout_s`` for it."""
            ...

        def close(self) -> None: ...


PREFIX = "agentihooks"  # of every key in a Redis: the default of REDIS_KEY_PREFIX
NO_PROJECTS = (PERSON, FLEET, SHELF)  # read as further roots, and opened by nobody


def open_store(where: str, *, wal: bool = False, prefix: str = PREFIX) -> DocumentStore:
    """Open the store of a home (its absolute path) or of a Redis (its URL).

    ``wal`` is for a process that lives on. Whether a home may be written at all is its owner's
    business; a file of an older format is brought up to this one.

    Raises:
        MemoryRefused: ``store-busy`` or ``store-damaged``.
    """
    if "://" in where:
        from scripts.swarm_v2.memory.store_redis import RedisStore

        return RedisStore(where, prefix=prefix)
    from hooks.context.brains.local_file import open_file
    from scripts.swarm_v2.memory.store_sqlite import SqliteStore

    path = os.path.join(where, "brain", "local.db")
    return SqliteStore(path, wal=wal, opener=open_file, erased=lambda at: _erased(where, at))


def _erased(home: str, at: str) -> None:
    from hooks.context.erased import attempt

    attempt(home, parse_iso(at) or from_epoch(0))


def open_session(
    store: DocumentStore,
    space: str,
    credential: Credential,
    session_id: str | None = None,
    *,
    now: Callable[[], datetime],
    roots: Callable[[str, Identity], Roots] | None = None,
) -> LocalMemory:
    """Open a session in this process; ``now`` is a clock in UTC.

    Raises:
        MemoryRefused: ``space-invalid``, ``credential-refused``, ``request-invalid``.
    """
    runtime = MemoryRuntime(store, now=now, roots=roots)
    return LocalMemory(runtime, space, credential, session_id, now=now)


def check_project(space: str) -> str:
    """Return a space that sessions may be opened in.

    Raises:
        MemoryRefused: ``space-invalid``.
    """
    if space in NO_PROJECTS:
        raise MemoryRefused("space-invalid", f"{space!r} is no project's space")
    return space


class LocalMemory:
    """See ``Memory``. For one thread; it closes its runtime, and the store if it owns that."""

    def __init__(
        self,
        runtime: MemoryRuntime,
        space: str,
        credential: Credential,
        session_id: str | None,
        *,
        now: Callable[[], datetime],
        owns_store: bool = False,
    ) -> None:
        self._owns_store = owns_store
        self.space, self.principal = space, credential.principal
        self.runtime, self._now = runtime, now
        self._session = runtime.open_session(check_project(space), credential, session_id)

    def read(
        self, id: str, scope: str = "space", *, follow: bool = True
    ) -> Mapping[str, object] | None:
        found = self._ask("read", {"id": id, "scope": scope, "follow": follow})["document"]
        return found if isinstance(found, dict) else None

    def documents(
        self, scope: str = "space", *, prefix: str = "", after: str = "", limit: int = 100
    ) -> Mapping[str, object]:
        fields = {"scope": scope, "prefix": prefix, "after": after, "limit": limit}
        return self._ask("list", fields)

    def history(self, id: str, scope: str = "space", *, limit: int = 100) -> Mapping[str, object]:
        return self._ask("history", {"id": id, "scope": scope, "limit": limit})

    def commit(self, proposal: Mapping[str, object]) -> int:
        return int(str(self._ask("commit", {"proposal": proposal})["seq"]))

    def transaction(self) -> Edit:
        """See ``Memory``: what is derived is read as it is stored."""
        store, session = self.runtime.store, self._session
        return Edit(store, self.space, session.identity, self.commit)

    def watch(
        self,
        watch_id: str,
        id: str,
        scope: str = "space",
        *,
        path: tuple[str, ...] = (),
        schema: object = True,
    ) -> Mapping[str, object]:
        fields = {"watch": watch_id, "id": id, "scope": scope, "path": [*path], "schema": schema}
        return self._ask("watch", fields)

    def unwatch(self, watch_id: str) -> Mapping[str, object]:
        return self._ask("unwatch", {"watch": watch_id})

    def frames(self, timeout_s: float) -> list[Mapping[str, object]]:
        until = time.monotonic() + timeout_s
        while True:
            found = [frame for _, frame in self.runtime.pump()]
            left = until - time.monotonic()
            if found or left <= 0:
                break
            self.runtime.wait(left)
        for frame in found:
            self.runtime.delivered(self._session, frame)
        return [encode(frame) for frame in found]

    def close(self) -> None:
        self.runtime.close()
        if self._owns_store:
            self.runtime.store.close()

    def __enter__(self) -> LocalMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, ask: str, fields: Mapping[str, object]) -> Mapping[str, object]:
        """Answer with the body, or for a question about watches with its frame."""
        try:
            body, frame = answer(self.runtime, self._session, ask, fields, iso(self._now()))
        except MemoryRefused as err:
            raise told(err) from None
        if frame is None:
            return body
        self.runtime.delivered(self._session, frame)
        return encode(frame)
