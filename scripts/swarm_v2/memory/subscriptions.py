"""Who watches what, and what each watcher is told: documents of its own instances, once each.

Used from one thread. Evaluating is ``TrackedQuery``'s; here is decided whose graph is looked at
again, what of it that session has already, and what it may see at this moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.evaluation_cache import EvaluationCache
    from scripts.swarm_v2.memory.frames import SyncFrame
    from scripts.swarm_v2.memory.queries import Query
    from scripts.swarm_v2.memory.sessions import Session, SessionRegistry
    from scripts.swarm_v2.memory.store import Change, DocumentStore


class SubscriptionServer:
    """Watches of every open session.

    The feed of a space must be followed from before its first ``watch``. Counters:
    ``evaluations`` (whole walks), ``refreshes`` (partial ones), ``looked_at(session)`` both of
    one session, ``withheld`` (documents that a pass kept from a session).
    """

    def __init__(
        self, store: DocumentStore, registry: SessionRegistry, cache: EvaluationCache
    ) -> None:
        raise NotImplementedError

    def watch(self, session: Session, watch_id: str, query: Query) -> SyncFrame:
        """Set one watch of a session; return all that it lacks of it.

        The same id with the same query again is answered with an empty frame; with another
        query, or another explicit key, it is a changed watch and what only the old one showed
        is removed.

        Raises:
            MemoryRefused: ``scope-key-malformed``, ``instance-refused`` (an explicit key of
                another's, without a live lease; whether the row exists plays no part),
                ``instances-ambiguous``, ``identity-missing``, or what the store refuses. The
                watches are as before.
        """
        raise NotImplementedError

    def unwatch(self, session: Session, watch_id: str) -> SyncFrame:
        """End a watch; the frame removes what only it showed."""
        raise NotImplementedError

    def forget(self, session: Session) -> None:
        """Drop all that is kept about a session that is gone."""
        raise NotImplementedError

    def mark_dirty(self, space: str, change: Change, writer: Session | None = None) -> None:
        """Note what a commit touched; ``flush`` tells it.

        ``writer`` is the very session object whose client made the commit: its own ``set`` and
        ``delete`` are not sent back to it. Another client of the same agent session is told.
        """
        raise NotImplementedError

    def lease_returned(self, space: str) -> None:
        """Have the next ``flush`` look at the sessions whose lease had lapsed."""
        raise NotImplementedError

    def pending(self, space: str) -> bool:
        """Say whether ``flush`` has anything to do."""
        raise NotImplementedError

    def flush(self, space: str) -> list[tuple[Session, SyncFrame]]:
        """Look at each touched session once; return its frame where there is something to tell.

        A session whose graph cannot be evaluated gets none, and a whole evaluation at the next
        flush; the refusals of this pass are in ``refused``.
        """
        raise NotImplementedError

    def delivered(self, session: Session, frame: SyncFrame) -> None:
        """Forget what ``failed`` would need."""
        raise NotImplementedError

    def failed(self, session: Session, frame: SyncFrame) -> None:
        """Take a frame back that did not arrive: the next flush tells all of it again."""
        raise NotImplementedError
