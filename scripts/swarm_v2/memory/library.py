"""Scoped memory as a Python program uses it: open a store, open a session, read, commit, watch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Protocol

    from scripts.swarm_v2.memory.sessions import Credential
    from scripts.swarm_v2.memory.store import DocumentStore

    class Memory(Protocol):
        """One session of one person in one space, in this process or at a server.

        Documents are JSON: ``{"id", "scope", "seq", "value", "deleted", "at"}``. No method
        takes a principal or a scope key.
        """

        space: str
        principal: str | None

        def read(self, id: str, scope: str = "space") -> Mapping[str, object] | None: ...

        def list(
            self, scope: str = "space", *, prefix: str = "", after: str = "", limit: int = 100
        ) -> Mapping[str, object]: ...

        def commit(self, proposal: Mapping[str, object]) -> int: ...

        def watch(
            self,
            watch_id: str,
            id: str,
            scope: str = "space",
            *,
            path: tuple[str, ...] = (),
            schema: object = True,
        ) -> Mapping[str, object]: ...

        def unwatch(self, watch_id: str) -> None: ...

        def frames(self, timeout_s: float) -> list[Mapping[str, object]]: ...

        def close(self) -> None: ...


def open_store(where: str) -> DocumentStore:
    """Open the store of a home (its absolute path) or of a Redis (its URL)."""
    raise NotImplementedError


def open_session(
    store: DocumentStore,
    space: str,
    credential: Credential,
    session_id: str | None = None,
    *,
    now: Callable[[], datetime],
) -> Memory:
    """Open a session in this process."""
    raise NotImplementedError
