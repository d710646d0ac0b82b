"""Whole evaluations, handed to whoever would have got the very same one.

Valid at one sequence number of one store object; any commit makes it start anew. Evaluation is
blind to who receives it: whatever filters per recipient comes after, on its output.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, NamedTuple

    from scripts.swarm_v2.memory.queries import Query, TrackedQuery
    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import DocumentStore
    from scripts.swarm_v2.scope_key import Scope

    ReachClass = Literal["pure", "residue", "tainted"]
else:
    from hooks.record import NamedTuple


class Residue(NamedTuple):
    """A scoped link target that was not there, for the identity that looked."""

    scope_key: str
    id: str
    scope: Scope


class Reach(NamedTuple):
    kind: ReachClass
    residue: tuple[Residue, ...] = ()


def classify_reach(tracked: TrackedQuery) -> Reach:
    """Say who else may be given an evaluation: anybody, who lacks the same, or nobody."""
    raise NotImplementedError


class EvaluationCache:
    """Counters: ``hits``, ``evaluations``, ``refusals`` (of a share), ``probes`` (reads)."""

    def __init__(self, budget: int) -> None:
        """``budget`` is a number of documents, over all spaces."""
        self.hits = self.evaluations = self.refusals = self.probes = 0
        raise NotImplementedError

    def ask(
        self,
        store: DocumentStore,
        query: Query,
        session: Session,
        evaluate: Callable[[], TrackedQuery] | None = None,
    ) -> TrackedQuery:
        """Return the evaluated query for a session, its own to change.

        ``evaluate`` makes one for the session's identity; without it ``TrackedQuery`` does.
        Historical queries and keyed sessions are evaluated and leave the cache alone.
        """
        raise NotImplementedError
