"""One store, many people's sessions: what a server and a program share.

Every identity is a session's, opened from a credential. ``pump`` is the only thing that moves:
it takes the feed, marks what changed, recomputes while the lease is held, and returns the frames
that the sessions' watches are owed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scripts.swarm_v2.memory.frames import SyncFrame
    from scripts.swarm_v2.memory.sessions import Credential, Session
    from scripts.swarm_v2.memory.store import Document, DocumentStore
    from scripts.swarm_v2.scope_key import Scope


class MemoryRuntime:
    """``now`` is a clock in milliseconds; it belongs to one thread."""

    def __init__(self, store: DocumentStore, *, now: Callable[[], int], service: str) -> None:
        raise NotImplementedError

    def open_session(
        self, space: str, credential: Credential, session_id: str | None = None
    ) -> Session:
        """Open a session; its identity never changes."""
        raise NotImplementedError

    def close_session(self, session: Session) -> None:
        """End a session's watches and demands; its rows stay."""
        raise NotImplementedError

    def read(self, session: Session, id: str, scope: Scope) -> Document | None:
        """Return the session's own instance, a tombstone too; redirects are followed."""
        raise NotImplementedError

    def commit(self, session: Session, proposal: object, at: str) -> int:
        """Admit and write an authored commit; return its number."""
        raise NotImplementedError

    def watch(
        self,
        session: Session,
        watch_id: str,
        id: str,
        scope: Scope,
        *,
        path: tuple[str, ...] = (),
        schema: object = True,
    ) -> SyncFrame:
        """Start or replace a watch; the frame is what it shows now."""
        raise NotImplementedError

    def unwatch(self, session: Session, watch_id: str) -> None:
        raise NotImplementedError

    def failed(self, session: Session, frame: SyncFrame) -> None:
        """Say that a frame did not arrive: the next pump sends its content again."""
        raise NotImplementedError

    def pump(self) -> list[tuple[Session, SyncFrame]]:
        """Bring everything up to the feed; return what each session is owed."""
        raise NotImplementedError

    def wait(self, timeout_s: float) -> bool:
        """Wait for a commit of anybody's in a space that has a session here."""
        raise NotImplementedError

    def graph(self, session: Session) -> Mapping[str, object]:
        """Return the snapshot of what is derived from what in the session's space."""
        raise NotImplementedError

    def close(self) -> None:
        """Give the leases back."""
        raise NotImplementedError
