"""Who wants what is derived, in each space, and the one scheduler there that recomputes it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.derivations import FAULTY, Roots, depth_of, narrower_of
from scripts.swarm_v2.memory.derive_context import CONTEXT
from scripts.swarm_v2.memory.derive_digest import DIGEST
from scripts.swarm_v2.memory.derive_status import STATUS
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.inspect import GraphSnapshot
from scripts.swarm_v2.memory.memories import DERIVED
from scripts.swarm_v2.memory.scheduler import Scheduler
from scripts.swarm_v2.memory.sessions import Credential, Lease
from scripts.swarm_v2.memory.store import ABSENT, Document
from scripts.swarm_v2.memory.transactions import of_one_moment
from scripts.swarm_v2.scope_key import resolve_scope_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from scripts.swarm_v2.memory.derivations import Derivation
    from scripts.swarm_v2.memory.scheduler import Report
    from scripts.swarm_v2.memory.sessions import Session, SessionRegistry
    from scripts.swarm_v2.memory.space_feed import SpaceFeed
    from scripts.swarm_v2.memory.store import Change, DocumentStore
    from scripts.swarm_v2.memory.transactions import Transaction
    from scripts.swarm_v2.scope_key import Identity

DERIVATIONS = frozenset(DERIVED)
ALL = (CONTEXT, DIGEST, STATUS)
LEASE_S = 1.0  # between two looks whether the lease is free
BUDGET = 1000  # instances that one pass runs


class _Serving(NamedTuple):
    service: Session
    scheduler: Scheduler
    reads: set[str]  # the spaces that its runs may read


class Standing:
    """The demands of a runtime's sessions. For one thread."""

    def __init__(
        self,
        store: DocumentStore,
        registry: SessionRegistry,
        feed: SpaceFeed,
        service: str,
        now: Callable[[], datetime],
        roots: Callable[[str, Identity], Roots] | None,
    ) -> None:
        self._store, self._registry, self._feed = store, registry, feed
        self._name, self._now, self._roots = service, now, roots
        self._serving: dict[str, _Serving] = {}
        self._demands: dict[tuple[Session, str], str] = {}  # session and watch -> what is wanted
        self.reports: list[Report] = []  # of the last pass

    def demand(self, session: Session, watch_id: str, node: str) -> None:
        """Let a session's watch want ``node``, and nothing else that it wanted before."""
        before = self._demands.get((session, watch_id))
        if before == node:
            return
        scheduler = self._serve(session).scheduler
        scheduler.demand(session.identity, [node])
        self._demands[(session, watch_id)] = node
        if before is not None:
            scheduler.undemand(session.identity, [before])

    def undemand(self, session: Session, watch_id: str) -> None:
        """Take a watch's demand back, if it has one; the last one in a space frees its lease."""
        node = self._demands.pop((session, watch_id), None)
        serving = self._serving.get(session.space)
        if node is None or serving is None:
            return
        serving.scheduler.undemand(session.identity, [node])
        if all(one.space != session.space for one, _ in self._demands):
            self.end(session.space)

    @contextmanager
    def wanted(self, session: Session, node: str) -> Iterator[None]:
        """Want ``node`` for as long as the block lasts."""
        self.demand(session, "", node)  # no watch is named so
        try:
            yield
        finally:
            self.undemand(session, "")

    def leave(self, session: Session) -> None:
        """Take back all that a session wants."""
        for one, watch_id in list(self._demands):
            if one is session:
                self.undemand(session, watch_id)

    def end(self, space: str) -> None:
        """Stop recomputing for a space, and let another process do it."""
        serving = self._serving.pop(space, None)
        if serving is not None and serving.service.lease is not None:
            self._registry.close(serving.service)
            try:
                serving.service.lease.release()
            except MemoryRefused as err:
                if err.code != "store-busy":
                    raise  # where nothing can be written now, it ends by itself

    def spaces(self) -> set[str]:
        """Return every space that somebody's result here may be made from."""
        return {space for serving in self._serving.values() for space in serving.reads}

    def graph(self, space: str) -> GraphSnapshot | None:
        """Return the picture of a space's scheduler; None where it has none."""
        serving = self._serving.get(space)
        return GraphSnapshot(serving.scheduler) if serving else None

    def dirty(self, space: str, change: Change) -> None:
        """Mark what reads the changed instances."""
        for serving in self._serving.values():
            if space in serving.reads:
                serving.scheduler.dirty(change, space)

    def begin_anew(self, space: str) -> None:
        """Compare what reads a space with what is stored: the store lost commits there."""
        for serving in self._serving.values():
            if space in serving.reads:
                serving.scheduler.begin_anew()

    def run(self, most: int = BUDGET) -> bool:
        """Recompute ``most`` of what is dirty and due in each space; say whether that did much."""
        self.reports = [one.scheduler.run_dirty(most) for one in self._serving.values()]
        return any(report.commits or (report.runs and report.left) for report in self.reports)

    def speculate(self, session: Session, node: str) -> Document | None:
        """Compute ``node`` for a session whose instance waits: for another's lease, for its turn.

        And for one that can have none: results are a session's each, say, and it has no session.
        None where nothing waits, or where it cannot be computed: the last good one stays. Nothing
        is written; its number is that of what is stored.

        Raises:
            MemoryRefused: it can have no instance, and it cannot be computed.
        """
        scheduler = self._serving[session.space].scheduler
        has_own = scheduler.nodes[node].instances.key_for(session.identity) is not None
        if has_own and not scheduler.left:
            return None
        derivation = next(one for one in ALL if one.output.id == node)
        try:
            value, transaction = self._computed(session, derivation)
        except FAULTY as err:
            if not has_own:
                raise MemoryRefused("derivation-failed", f"{node}: {err}") from None
            return None
        scope = narrower_of(derivation.output.scope, depth_of(transaction.log))
        key = resolve_scope_key(scope, session.identity)
        stored = self._store.read(session.space, key, node)
        return Document(session.space, key, node, stored.seq if stored else ABSENT, value)

    def _computed(self, session: Session, derivation: Derivation) -> tuple[object, Transaction]:
        """Return what a run gives, and its transaction; results that it reads are computed too."""
        roots = self._roots_of(session.space, session.identity)
        made: dict[Address, object] = {}

        def run(tx: Transaction) -> object:
            for address, value in made.items():
                tx.write(address, value)
            return derivation.run(tx, roots)

        where = (self._store, session.space, session.identity)
        found = of_one_moment(*where, run)
        for one in ALL:
            output = Address(session.space, one.output.id, one.output.scope)
            if output in [logged.address for logged in found[1].log]:
                try:
                    made[output], _ = self._computed(session, one)
                except FAULTY:
                    continue  # its last good one is read
        return of_one_moment(*where, run) if made else found

    def due_s(self) -> float | None:
        """Return in how many seconds something that waits may run; None where nothing does."""
        waits = [self._due_s(one.scheduler) for one in self._serving.values()]
        return min((wait for wait in waits if wait is not None), default=None)

    def _due_s(self, scheduler: Scheduler) -> float | None:
        due = scheduler.due_ms()
        if due is None:
            return None
        wait = (due - scheduler.now()) / 1000
        # What may run and did not, waits for a lease that is another's.
        return wait if wait > 0 else LEASE_S

    def _serve(self, session: Session) -> _Serving:
        space = session.space
        serving = self._serving.get(space)
        if serving is None:
            lease = Lease(self._store, space, self._name)
            service = self._registry.open(space, Credential(None, "service"), lease=lease)
            scheduler = Scheduler(
                self._store,
                space,
                service,
                ALL,
                now=lambda: round(self._now().timestamp() * 1000),
                roots=lambda identity: self._roots_of(space, identity),
            )
            serving = self._serving[space] = _Serving(service, scheduler, {space})
        for root in self._roots_of(space, session.identity).everything:
            serving.reads.add(root)
            self._feed.follow(root)
        return serving

    def _roots_of(self, space: str, identity: Identity) -> Roots:
        return self._roots(space, identity) if self._roots else Roots(space)
