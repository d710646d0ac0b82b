"""Whole evaluations, handed to whoever would have got the very same one.

Valid at one sequence number of one store object; any commit makes a space start anew.
Evaluation is blind to who receives it: whatever filters per recipient (redaction, relevance,
a person's limits) comes after, on its output. Whole ones only: inside one walk what was walked
before is skipped, together with all that it would have registered, so that a slice replayed
alone registers too little.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.address import Address, InstanceKey, declared_scope, instance_key
from scripts.swarm_v2.memory.queries import TrackedQuery
from scripts.swarm_v2.memory.selectors import compile_schema
from scripts.swarm_v2.scope_key import SPACE, can_resolve, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, Literal, NamedTuple, Protocol, TypeVar

    from scripts.swarm_v2.memory.queries import Query
    from scripts.swarm_v2.memory.store import DocumentStore
    from scripts.swarm_v2.scope_key import Identity, Scope

    ReachClass = Literal["pure", "residue", "tainted"]
    Name = TypeVar("Name")

    class Asker(Protocol):
        """What of a session matters here."""

        keyed: bool

        @property
        def identity(self) -> Identity: ...
else:
    from hooks.record import NamedTuple

MAX_SPACES: Final = 8
PROBES_AT_ONCE: Final = 64

PURE: Final = "pure"
RESIDUE: Final = "residue"
TAINTED: Final = "tainted"


class Residue(NamedTuple):
    """A scoped link target that was not there, as the identity that looked would key it."""

    scope_key: str
    id: str
    scope: Scope


class Reach(NamedTuple):
    kind: ReachClass
    residue: tuple[Residue, ...] = ()


class Shape(NamedTuple):
    """What two questions must have in common to have one answer."""

    root: Address
    schema: str
    kind: str
    branch: str


class _Entry(NamedTuple):
    tracked: TrackedQuery  # private: only its clones are handed out
    reach: Reach
    weight: int


class _Slot:
    """One space's evaluations, at one number of one store."""

    def __init__(self, store: DocumentStore, seq: int) -> None:
        self.store, self.seq = store, seq
        # boundary: query evaluation cache, for all who would get the same
        self.shared: dict[Shape, _Entry] = {}
        # boundary: query evaluation cache, for the evaluating identity alone
        self.own: dict[tuple[Shape, Identity], _Entry] = {}
        self.weight = 0  # of all of them

    def put(self, shape: Shape, identity: Identity | None, entry: _Entry) -> None:
        """Keep an entry in place of the one before; ``identity`` is whose alone it is."""
        if identity is None:
            before = self.shared.get(shape)
            self.shared[shape] = entry
        else:
            before = self.own.get((shape, identity))
            self.own[(shape, identity)] = entry
        self.weight += entry.weight - (before.weight if before else 0)

    def evict(self, newest: _Entry, budget: int) -> None:
        """Drop what was kept before ``newest`` until the rest fits, one identity's first."""
        self._drop(self.own, newest, budget)
        self._drop(self.shared, newest, budget)

    def _drop(self, kept: dict[Name, _Entry], newest: _Entry, budget: int) -> None:
        for name in list(kept) if self.weight > budget else ():
            if kept[name] is not newest and self.weight > budget:
                self.weight -= kept.pop(name).weight


def classify_reach(tracked: TrackedQuery) -> Reach:
    """Say who else may be given an evaluation.

    *Tainted*: its identity alone. Something that was tracked or loaded is not the space's, by
    its key or by the scope it was asked for; or the identity could not even say which instance
    a link means. *Residue*: whoever lacks the same scoped link targets. *Pure*: anybody.
    """
    keys = [key.scope_key for key in tracked.tracker]
    keys += [document.scope_key for document in tracked.loader.present()]
    scoped = declared_scope(tracked.query.root) != SPACE or tracked.query.root.scope != SPACE
    if scoped or tracked.unresolved or any(key != SPACE for key in keys):
        return Reach(TAINTED)
    missed = tracked.misses.scoped()
    residue = tuple(Residue(key.scope_key, key.id, scope_of(key.scope_key)) for key in missed)
    return Reach(RESIDUE, residue) if residue else Reach(PURE)


class EvaluationCache:
    """At most ``MAX_SPACES`` spaces, the one used longest ago goes first.

    Counters: ``hits``, ``evaluations`` (bypassing ones too), ``refusals`` (shares that somebody
    could not be given), ``probes`` (instances read to decide that).
    """

    def __init__(self, budget: int) -> None:
        """``budget`` is a number of documents, missed ones too, over all spaces."""
        self.hits = self.evaluations = self.refusals = self.probes = 0
        self._budget = budget
        self._slots: dict[str, _Slot] = {}  # the one used last stands last

    @property
    def weight(self) -> int:
        return sum(slot.weight for slot in self._slots.values())

    @property
    def spaces(self) -> tuple[str, ...]:
        return tuple(self._slots)

    def ask(
        self,
        store: DocumentStore,
        query: Query,
        session: Asker,
        evaluate: Callable[[], TrackedQuery] | None = None,
    ) -> TrackedQuery:
        """Return the evaluated query for a session, its own to change.

        ``evaluate`` makes one for the session's identity; without it ``TrackedQuery`` does.
        Historical queries and keyed sessions are evaluated and leave the cache alone: a lease
        moves without a commit.

        Raises:
            MemoryRefused: as ``TrackedQuery`` and its ``evaluate``; nothing is kept then.
        """
        identity = session.identity
        if evaluate is None:
            evaluate = TrackedQuery(store, query, identity).evaluate
        if query.at_seq is not None or session.keyed:
            return self._evaluated(evaluate)
        shape = Shape(query.root, compile_schema(query.schema).text, query.kind, query.branch)
        slot = self._current(store, query.root.space)
        if slot is not None:
            found = self._shared(slot, shape, identity) or self._own(slot, shape, identity)
            if found is not None:
                return found
        tracked = self._evaluated(evaluate)
        # A commit in the middle of it: what was read belongs to no single number.
        if store.seq(query.root.space) == tracked.seq:
            self._keep(store, shape, tracked)
        return tracked

    def drop(self, space: str) -> None:
        """Forget what was evaluated in a space: its numbers mean something else now."""
        self._slots.pop(space, None)

    def _evaluated(self, evaluate: Callable[[], TrackedQuery]) -> TrackedQuery:
        self.evaluations += 1
        return evaluate()

    def _current(self, store: DocumentStore, space: str) -> _Slot | None:
        """Return the space's slot if it is of this very store and nothing was committed since."""
        slot = self._slots.get(space)
        if slot is None:
            return None
        del self._slots[space]
        if slot.store is not store or slot.seq != store.seq(space):
            return None
        self._slots[space] = slot
        return slot

    def _shared(self, slot: _Slot, shape: Shape, identity: Identity) -> TrackedQuery | None:
        entry = slot.shared.get(shape)
        if entry is None:
            return None
        space = shape.root.space
        renamed: dict[InstanceKey, InstanceKey] = {}
        for one in entry.reach.residue:
            if not can_resolve(one.scope, identity):
                self.refusals += 1
                return None
            mine = instance_key(Address(space, one.id, one.scope), identity)
            if mine.scope_key != one.scope_key:
                renamed[InstanceKey(space, one.scope_key, one.id)] = mine
        before = self.probes
        if self._any_present(slot.store, [*renamed.values()], shape.branch):
            self.refusals += 1
            return None
        self.hits += 1
        copy = entry.tracked.clone(identity, lambda key: renamed.get(key, key))
        copy.reads = self.probes - before
        return copy

    def _any_present(self, store: DocumentStore, keys: list[InstanceKey], branch: str) -> bool:
        """Read the asker's own instances, and stop at a batch that has one; tombstones count."""
        for start in range(0, len(keys), PROBES_AT_ONCE):
            batch = keys[start : start + PROBES_AT_ONCE]
            self.probes += len(batch)
            if any(store.heads(batch, branch=branch).values()):
                return True
        return False

    def _own(self, slot: _Slot, shape: Shape, identity: Identity) -> TrackedQuery | None:
        entry = slot.own.get((shape, identity))
        if entry is None:
            return None
        self.hits += 1
        return entry.tracked.clone(identity)

    def _keep(self, store: DocumentStore, shape: Shape, tracked: TrackedQuery) -> None:
        weight = max(1, len(tracked.entities) + len(tracked.misses))
        if weight > self._budget:
            return
        space = shape.root.space
        slot = self._slots.get(space)
        if slot is None or slot.store is not store or slot.seq != tracked.seq:
            slot = _Slot(store, tracked.seq)
        self._slots.pop(space, None)
        self._slots[space] = slot
        reach = classify_reach(tracked)
        entry = _Entry(tracked.clone(tracked.identity), reach, weight)
        slot.put(shape, tracked.identity if reach.kind == TAINTED else None, entry)
        self._shrink(slot, entry)

    def _shrink(self, kept: _Slot, newest: _Entry) -> None:
        """Evict other spaces, oldest first, then what this one had before ``newest``."""
        while len(self._slots) > MAX_SPACES or (
            self.weight > self._budget and len(self._slots) > 1
        ):
            del self._slots[next(iter(self._slots))]
        kept.evict(newest, self._budget)
