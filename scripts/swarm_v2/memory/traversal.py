"""From a root along its links, no further than a schema asks.

A walk says *which* instances belong to a query (tracked ones and missed ones); ``values`` says
what they amount to. It is a loop over levels, each with one question to the store, so that
neither a long chain of links nor a circle of them matters.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.misses import MissLedger as MissLedger  # noqa: TC001 - handed on
from scripts.swarm_v2.memory.overlay import Overlay
from scripts.swarm_v2.memory.selectors import Selector, reach
from scripts.swarm_v2.scope_key import can_resolve, encode_identity, resolve_scope_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import NamedTuple

    from scripts.swarm_v2.memory.document import Link
    from scripts.swarm_v2.memory.loader import DocumentLoader
    from scripts.swarm_v2.memory.selectors import Reached
    from scripts.swarm_v2.memory.store import Document
    from scripts.swarm_v2.memory.values import Built, MemoKey
    from scripts.swarm_v2.scope_key import Identity
else:
    from hooks.record import NamedTuple

MAX_HOPS = 16  # redirects in a row, as in a transaction


def target(space: str, link: Link, identity: Identity) -> InstanceKey | None:
    """Return the instance that a link means for ``identity``.

    A link that declares no scope leads to the space's instance. None where the identity lacks
    what the scope needs: for it the link leads nowhere.
    """
    if not can_resolve(link.scope, identity):
        return None
    return InstanceKey(space, resolve_scope_key(link.scope, identity), link.id)


class SchemaTracker:
    """Which parts of each instance were reached. Writer and readers share one constructor of keys.

    With each selector stands the number of redirects that led to it in a row.
    """

    def __init__(self) -> None:
        # site 6: schema tracker
        self._selectors: Overlay[InstanceKey, dict[Selector, int]] = Overlay()

    def __contains__(self, key: object) -> bool:
        return key in self._selectors

    def __len__(self) -> int:
        return len(self._selectors)

    def __iter__(self) -> Iterator[InstanceKey]:
        return iter(self._selectors)

    def keys(self) -> tuple[InstanceKey, ...]:
        return tuple(self._selectors)

    def selectors(self, key: InstanceKey) -> frozenset[Selector]:
        return frozenset(self._selectors.get(key) or ())

    def hops(self, key: InstanceKey, selector: Selector) -> int:
        return (self._selectors.get(key) or {}).get(selector, 0)

    def add(self, key: InstanceKey, selector: Selector, hops: int = 0) -> bool:
        """Note a part of an instance; False where it is noted already, with as few redirects."""
        known = self._selectors.get(key) or {}
        if known.get(selector, MAX_HOPS + 1) <= hops:
            return False
        self._selectors[key] = {**known, selector: hops}
        return True

    def covers(self, space: str, link: Link, selector: Selector, identity: Identity) -> bool:
        """Say whether what a link leads to was walked already, as far as ``selector`` wants it.

        Site 5. Asked of the instance that ``identity`` means, so that one person's walk never
        stands for another's. A link that declares no scope is never covered: what it shows is
        shown at each place that links there.
        """
        key = None if link.scope is None else target(space, link, identity)
        known = None if key is None else self._selectors.get(key)
        return known is not None and any(one.covers(selector) for one in known)

    def fork(self) -> SchemaTracker:
        copy = SchemaTracker()
        copy._selectors = self._selectors.fork()
        return copy


class SchemaMemo:
    """Values worked out during one traversal; bound to the identity of the first one.

    It is keyed by the *name* of a scope, so what it holds is true for that identity alone.
    """

    def __init__(self) -> None:
        # boundary: schema memo guard
        self.values: dict[MemoKey, Built] = {}
        self._owner = ""

    def bind(self, identity: Identity) -> None:
        """Bind to the first identity; the same again does nothing.

        Raises:
            MemoryRefused: ``identity-changed``. It stays bound to its owner and serves it.
        """
        owner = encode_identity(identity)
        if self._owner and self._owner != owner:
            raise MemoryRefused("identity-changed", "a schema memo serves one identity")
        self._owner = owner


class Step(NamedTuple):
    """One part of one instance to walk.

    ``referrer`` is the instance whose link led there; None for a root, which is tracked whether
    it is there or not. ``again`` walks it although it is tracked; where ``links`` is not None,
    those of its links alone, since the others were walked and are as they were.
    """

    key: InstanceKey
    selector: Selector
    hops: int = 0
    referrer: InstanceKey | None = None
    again: bool = False
    links: tuple[Reached, ...] | None = None


class Traverser:
    """One walk, as the identity of its loader.

    Attributes:
        unresolved: some link asked for a scope that the identity has no instance of.
        broken: instances behind more than ``MAX_HOPS`` redirects, or a circle of them.
    """

    def __init__(
        self, loader: DocumentLoader, tracker: SchemaTracker, misses: MissLedger, memo: SchemaMemo
    ) -> None:
        """Bind ``memo`` to the loader's identity.

        Raises:
            MemoryRefused: ``identity-changed`` where the memo is another identity's.
        """
        memo.bind(loader.identity)
        self.loader, self.tracker, self.misses, self.memo = loader, tracker, misses, memo
        self.unresolved = False
        self.broken: set[InstanceKey] = set()

    def walk(self, steps: Iterable[Step]) -> None:
        """Walk each step and all that its links lead to."""
        level = list(steps)
        while level:
            documents = self.loader.load_instances(step.key for step in level)
            below: list[Step] = []
            for step in level:
                below += self._visit(step, documents[step.key])
            level = below

    def _visit(self, step: Step, document: Document | None) -> list[Step]:
        if document is None and step.referrer is not None:
            self.misses.miss(step.key, step.selector, step.referrer)
            return []
        fresh = self.tracker.add(step.key, step.selector, step.hops)
        if document is None or document.deleted or not (fresh or step.again):
            return []
        links = reach(document.value, step.selector) if step.links is None else step.links
        follow = (self._follow(step, one) for one in links)
        return [one for one in follow if one is not None]

    def _follow(self, step: Step, reached: Reached) -> Step | None:
        space, identity = self.loader.space, self.loader.identity
        key = target(space, reached.link, identity)
        if key is None:
            self.unresolved = True
            return None
        hops = step.hops + 1 if reached.hop else 0
        if hops > MAX_HOPS:
            self.broken.add(step.key)
            return None
        covered = self.tracker.covers(space, reached.link, reached.selector, identity)
        if covered and self.tracker.hops(key, reached.selector) <= hops:
            return None
        return Step(key, reached.selector, hops, step.key, False, None)  # whole: a hot path
