"""Link targets that are not there, and the documents whose links lead to them.

A miss is delivered to nobody, but it wakes the graph when the document appears.
"""

from __future__ import annotations

from scripts.swarm_v2.scope_key import SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scripts.swarm_v2.memory.address import InstanceKey
    from scripts.swarm_v2.memory.selectors import Selector


class MissLedger:
    """Three maps that always agree: every miss has a selector and a referrer, and back."""

    def __init__(self) -> None:
        # boundary: missed ledger
        self._selectors: dict[InstanceKey, set[Selector]] = {}
        # boundary: missed ledger, who links there
        self._referrers: dict[InstanceKey, set[InstanceKey]] = {}
        # boundary: missed ledger, where a referrer's links lead
        self._missed: dict[InstanceKey, set[InstanceKey]] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._selectors

    def __len__(self) -> int:
        return len(self._selectors)

    def __iter__(self) -> Iterator[InstanceKey]:
        return iter(self._selectors)

    def keys(self) -> tuple[InstanceKey, ...]:
        return tuple(self._selectors)

    def selectors(self, key: InstanceKey) -> frozenset[Selector]:
        """Return what was wanted of a missed instance; nothing for one that is not missed."""
        return frozenset(self._selectors.get(key, ()))

    def referrers(self, key: InstanceKey) -> frozenset[InstanceKey]:
        """Return the instances whose links lead to a missed one."""
        return frozenset(self._referrers.get(key, ()))

    def missed_by(self, referrer: InstanceKey) -> frozenset[InstanceKey]:
        """Return the missed instances that a document's links lead to."""
        return frozenset(self._missed.get(referrer, ()))

    def miss(self, key: InstanceKey, selector: Selector, referrer: InstanceKey) -> None:
        """Note that ``referrer`` links to an instance that is not there."""
        self._selectors.setdefault(key, set()).add(selector)
        self._referrers.setdefault(key, set()).add(referrer)
        self._missed.setdefault(referrer, set()).add(key)

    def release(self, referrer: InstanceKey) -> set[InstanceKey]:
        """Forget all that a document's links missed, before it is walked again.

        Returns the misses that ended with it, since nothing else leads to them.
        """
        retired = set()
        for key in self._missed.pop(referrer, ()):
            left = self._referrers[key]
            left.discard(referrer)
            if not left:
                del self._referrers[key], self._selectors[key]
                retired.add(key)
        return retired

    def resolve(self, key: InstanceKey) -> frozenset[Selector]:
        """End a miss because the document appeared; return what was wanted of it."""
        for referrer in self._referrers.pop(key, ()):
            self._missed[referrer].discard(key)
            if not self._missed[referrer]:
                del self._missed[referrer]
        return frozenset(self._selectors.pop(key, ()))

    def scoped(self) -> tuple[InstanceKey, ...]:
        """Return the misses that are somebody's, not the space's."""
        return tuple(key for key in self._selectors if key.scope_key != SPACE)

    def rekeyed(self, rename: Callable[[InstanceKey], InstanceKey]) -> MissLedger:
        """Return a copy whose missed instances have other keys; referrers keep theirs."""
        copy = MissLedger()
        for key, selectors in self._selectors.items():
            renamed = rename(key)
            for selector in selectors:
                for referrer in self._referrers[key]:
                    copy.miss(renamed, selector, referrer)
        return copy

    def fork(self) -> MissLedger:
        return self.rekeyed(lambda key: key)
