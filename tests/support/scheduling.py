"""A scheduler over a real store, the people who want its results, and its feed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.derivations import Roots
from scripts.swarm_v2.memory.derive_context import CONTEXT
from scripts.swarm_v2.memory.derive_digest import DIGEST
from scripts.swarm_v2.memory.derive_status import STATUS
from scripts.swarm_v2.memory.memories import writes_for
from scripts.swarm_v2.memory.scheduler import Report, Scheduler
from scripts.swarm_v2.memory.sessions import Session
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.memory.transactions import Transaction
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from tests.support.memory_stores import AT, SPACE, A, B, People

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scripts.swarm_v2.memory.derivations import Derivation
    from scripts.swarm_v2.memory.store import DocumentStore

A1, A2, B1 = Identity(A, "a1"), Identity(A, "a2"), Identity(B, "b1")
ALL = (DIGEST, CONTEXT, STATUS)


def key(scope: Any, who: Identity) -> str:
    return resolve_scope_key(scope, who)


class World:
    """``at_ms`` is the clock; nothing runs but in ``go``."""

    def __init__(
        self, store: DocumentStore, derivations: Sequence[Derivation] = ALL, space: str = SPACE
    ) -> None:
        self.store, self.derivations, self.space = store, derivations, space
        self.people = People(store, space)
        self.at_ms = 1_800_000_000_000
        self.service: Session | None = None
        self.restart()

    def restart(self) -> Scheduler:
        """Let another process take over."""
        if self.service is not None and self.service.lease is not None:
            self.service.lease.release()
        self.service = self.people.service()
        self.fed = self.store.seq(self.space)
        self.scheduler = Scheduler(
            self.store,
            self.space,
            self.service,
            self.derivations,
            now=lambda: self.at_ms,
            roots=lambda _: Roots(self.space),
        )
        return self.scheduler

    def save(self, who: Identity, document_id: str, scope: str, value: object) -> int:
        session = self.people.open(who.principal, who.session_id)
        return self.people.save(session, document_id, scope, value)

    def remember(
        self, who: Identity, slug: str, text: str, scope: Any = "space", **more: str
    ) -> None:
        writes = writes_for(slug, {"text": text, "type": "lesson", **more}, key(scope, who), scope)
        self.store.commit(self.space, Commit("system", writes))

    def feed(self) -> int:
        """Tell the scheduler what the store's feed has; return how many it woke."""
        woken = 0
        for change in self.store.changes(self.space, self.fed):
            woken += self.scheduler.dirty(change)
            self.fed = change.seq
        return woken

    def go(self, budget: int = 1_000) -> Report:
        self.feed()
        return self.scheduler.run_dirty(budget)

    def want(self, *who: Identity, nodes: Sequence[str] = ()) -> Report:
        for one in who:
            self.scheduler.demand(one, nodes)
        return self.go()

    def runs(self, node: str) -> dict[str, int]:
        """Return how often each instance that is there has run."""
        instances = self.scheduler.nodes[node].instances
        return {scope_key: one.runs for scope_key, one in instances.items()}

    def result(self, node: str, who: Identity) -> Any:
        """Return what ``who`` reads at the declared address, redirects followed."""
        output = self.scheduler.nodes[node].derivation.output
        tx = Transaction(self.store, self.space)
        tx.act_as(who)
        return tx.read(Address(self.space, output.id, output.scope))

    def row(self, document_id: str, scope: Any, who: Identity) -> Any:
        return self.store.read(self.space, key(scope, who), document_id)

    def put(self, *writes: Write) -> int:
        return self.store.commit(self.space, Commit("system", writes, at=AT))
