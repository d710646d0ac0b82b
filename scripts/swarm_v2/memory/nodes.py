"""One derivation inside a scheduler: its instances, where their results are, their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.derivations import ResultSlots, below_redirects, rows_of
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.instances import InstanceSet
from scripts.swarm_v2.scope_key import scope_of

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.derivations import CompositionCache, Derivation, OwnKey
    from scripts.swarm_v2.memory.instances import Instance, Refit
    from scripts.swarm_v2.memory.store import DocumentStore
    from scripts.swarm_v2.scope_key import Identity


class Node:
    """Attributes: ``feeds``, the derivations whose output some run of this one has read."""

    def __init__(self, space: str, derivation: Derivation) -> None:
        self.space, self.derivation, self.name = space, derivation, derivation.name
        self.instances = InstanceSet(derivation.output.scope)
        self.slots = ResultSlots(space, derivation.output)
        self.feeds: set[str] = set()
        # boundary: fan-out, the parts that an instance's plan names, by its scope key.
        self.parts: dict[OwnKey, tuple[str, ...]] = {}
        self.built = self.kept = 0

    def compose(self, cache: CompositionCache, scope_key: str, value: object) -> None:
        """Keep or build anew the parts of one instance, by the plan that its run returned."""
        plan = value.get("plan") if isinstance(value, dict) else None
        if not isinstance(plan, list):
            return
        if cache.keeps(self.space, self.derivation.output.id, scope_key, plan):
            self.kept += 1
        else:
            self.built += 1
            self.parts[scope_key] = tuple(map(str, plan))

    def drop(self, scope_key: str) -> None:
        self.slots.drop(scope_key)
        self.parts.pop(scope_key, None)

    def recover(self, store: DocumentStore, scope_key: str, identity: Identity) -> Refit | None:
        """Learn from the stored redirects how deep results are; None where that is known.

        The instance itself may be gone by that.
        """
        output = self.derivation.output
        rows = rows_of(store, self.space, output.id, identity)
        depth = below_redirects(rows, scope_of(scope_key), identity)
        return None if depth == scope_of(scope_key) else self.instances.learn(depth, identity)

    def has_result(self, store: DocumentStore, scope_key: str) -> bool:
        """Say whether a result is stored that can be read."""
        try:
            row = store.read(self.space, scope_key, self.derivation.output.id)
        except MemoryRefused as refused:
            if refused.code != "store-damaged":
                raise
            return False
        return row is not None and not row.deleted

    def instance(self, scope_key: str) -> Instance | None:
        return self.instances.get(scope_key)
