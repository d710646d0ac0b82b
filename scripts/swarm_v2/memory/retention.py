"""When a session's rows go: a stated time after it ended, and nobody else's with them.

Everything is by the exact session key. A key is never a pattern: ``session:p%`` would take the
rows of the principal ``p2`` with those of ``p``.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.scope_key import SESSION, parse_scope_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scripts.swarm_v2.memory.sessions import SessionRegistry
    from scripts.swarm_v2.memory.store import DocumentStore

    # Told the space and the session key: drops what a process keeps in memory of that session.
    Forget = Callable[[str, str], None]

KEPT_DAYS = 30  # after its end a session can be resumed for so long with its notes


class Retention:
    """Ends sessions, and deletes what ended ``kept_days`` ago, in every space of the store."""

    def __init__(
        self,
        store: DocumentStore,
        *,
        registry: SessionRegistry | None = None,
        kept_days: float = KEPT_DAYS,
        forget: Iterable[Forget] = (),
    ) -> None:
        self._store, self._registry = store, registry
        self._kept = timedelta(days=kept_days)
        self._forget = tuple(forget)

    def end(self, session_key: str, at: datetime) -> None:
        """Mark a session as ended in every space; nothing is deleted yet.

        Raises:
            MemoryRefused: ``scope-key-malformed`` for what is no whole session key.
        """
        raise NotImplementedError

    def sweep(self, now: datetime) -> list[tuple[str, str]]:
        """Delete what is due; return each space and session key that lost its rows.

        Watchers get tombstones. A session that is open here, or wrote after the time from
        which its mark counts, was resumed: it is left alone.
        """
        raise NotImplementedError
