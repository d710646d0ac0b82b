"""Recompute what moved, once for each instance that somebody wants, under the space's lease."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from scripts.swarm_v2.memory.address import InstanceKey
    from scripts.swarm_v2.memory.derivations import Derivation, Roots
    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import Change, DocumentStore
    from scripts.swarm_v2.scope_key import Identity


class Fault(NamedTuple):
    """Why one instance has no new result."""

    node: str
    scope_key: str
    code: str
    sentence: str


class Report(NamedTuple):
    """What one pass did. ``left`` instances stay dirty for the next one."""

    runs: int
    commits: tuple[int, ...]
    left: int
    errors: tuple[Fault, ...] = ()


class Scheduler:
    """The derivations of one space. ``service`` is the session of the lease's holder."""

    def __init__(
        self,
        store: DocumentStore,
        space: str,
        service: Session,
        derivations: Sequence[Derivation],
        *,
        now: Callable[[], datetime],
        roots: Callable[[Identity], Roots] | None = None,
    ) -> None:
        raise NotImplementedError

    def demand(self, identity: Identity, nodes: Iterable[str] = ()) -> None:
        """Let ``identity`` want ``nodes`` (none named: all); only what is new becomes dirty.

        Take the feed's position before: what moves from then on is told to ``dirty``.
        """
        raise NotImplementedError

    def undemand(self, identity: Identity, nodes: Iterable[str] = ()) -> None:
        """Take one demand back; an instance that nobody wants any more is forgotten here."""
        raise NotImplementedError

    def dirty(self, change: Change | Iterable[InstanceKey], space: str = "") -> int:
        """Mark what reads the changed instances; return how many became dirty.

        ``space`` is that of the change: "" for the scheduler's own.
        """
        raise NotImplementedError

    def run_dirty(self, budget: int = 1_000) -> Report:
        """Run at most ``budget`` instances; nothing at all while the lease is another's."""
        raise NotImplementedError

    def due_s(self) -> float | None:
        """Return in how many seconds something that waits may run; None where nothing does."""
        raise NotImplementedError
