"""Recompute what moved, once for each instance that somebody wants, under the space's lease."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.changes import Changed
from scripts.swarm_v2.memory.dependencies import DependencyIndex, Reader, WriterIndex, ordered
from scripts.swarm_v2.memory.derivations import CompositionCache, Roots, present, residue
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.instances import ANY_SEQ
from scripts.swarm_v2.memory.nodes import Node
from scripts.swarm_v2.memory.store import Change
from scripts.swarm_v2.memory.wakeups import Wake, WakeGroup, WakeShaper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scripts.swarm_v2.memory.derivations import Derivation, OwnKey
    from scripts.swarm_v2.memory.faults import Fault
    from scripts.swarm_v2.memory.instances import Instance, Refit
    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import Basis, DocumentStore
    from scripts.swarm_v2.scope_key import Identity

MOST_TRIES = 3  # of one instance in one pass; then it waits for the next


class Report(NamedTuple):
    """What one pass did. ``left`` instances stay dirty for the next one."""

    runs: int
    commits: tuple[int, ...]
    left: int
    errors: tuple[Fault, ...] = ()


class Pass:
    """One pass on its way. ``stopped`` is the code for which it ends early."""

    def __init__(self) -> None:
        self.runs = 0
        self.commits: list[int] = []
        self.errors: list[Fault] = []
        self.stopped = ""
        # boundary: fan-out, how often each was tried, for the length of a pass.
        self.tries: dict[Reader, int] = {}
        # boundary: fan-out, recorded inputs by derivation and scope key, for the length of a pass.
        self.recorded: dict[str, dict[OwnKey, Basis]] = {}


class Scheduler:
    """The derivations of one space. ``service`` is the session of the lease's holder.

    ``now`` is a clock in milliseconds. It belongs to one thread. What a derivation raises is
    the fault of that instance alone.
    """

    def __init__(
        self,
        store: DocumentStore,
        space: str,
        service: Session,
        derivations: Sequence[Derivation],
        *,
        now: Callable[[], int],
        roots: Callable[[Identity], Roots] | None = None,
        shaper: WakeShaper | None = None,
    ) -> None:
        self.store, self.space, self.service, self.now = store, space, service, now
        self.roots = roots or (lambda _: Roots(space))
        self.nodes = {one.name: Node(space, one) for one in derivations}
        self.index, self.writers = DependencyIndex(), WriterIndex()
        for one in derivations:
            self.writers.add(one.name, Address(space, one.output.id, one.output.scope))
        self.compositions = CompositionCache()
        self._shaper = shaper or WakeShaper()
        # boundary: what may run, by derivation, in the order in which it became so.
        self._ready: dict[str, dict[Reader, None]] = {name: {} for name in self.nodes}
        self._served = False
        # boundary: demand. How often each identity asks for which derivations.
        self._demands: dict[Identity, dict[str, int]] = {}
        # boundary: demand. Which run for each: those, and what they were seen to read.
        self._given: dict[Identity, set[str]] = {}

    # What is wanted.

    def demand(self, identity: Identity, nodes: Iterable[str] = ()) -> None:
        """Let ``identity`` want ``nodes`` (none named: all), and so what they are made from.

        Only what is new becomes dirty. Take the feed's position before: what moves from then
        on is told to ``dirty``.
        """
        counts = self._demands.setdefault(identity, {})
        for name in tuple(nodes) or tuple(self.nodes):
            counts[name] = counts.get(name, 0) + 1
        self._fit(identity)

    def undemand(self, identity: Identity, nodes: Iterable[str] = ()) -> None:
        """Take one demand back; an instance that nobody wants any more is forgotten here."""
        counts = self._demands.get(identity, {})
        for name in tuple(nodes) or tuple(self.nodes):
            if counts.get(name, 0) > 1:
                counts[name] -= 1
            else:
                counts.pop(name, None)
        self._fit(identity)
        if not counts:
            self._demands.pop(identity, None)
            self._given.pop(identity, None)

    def fed(self, node: Node, writers: set[str]) -> None:
        """Take in that a run of ``node`` read what ``writers`` write: who wants it wants them."""
        if writers <= node.feeds:
            return
        node.feeds |= writers
        for identity, given in list(self._given.items()):
            if node.name in given:
                self._fit(identity)

    def _fit(self, identity: Identity) -> None:
        wanted: set[str] = set()
        waiting = list(self._demands.get(identity, ()))
        while waiting:
            name = waiting.pop()
            if name not in wanted:
                wanted.add(name)
                waiting += self.nodes[name].feeds
        given = self._given.get(identity, set())
        self._given[identity] = wanted
        for name, node in self.nodes.items():
            if name in given - wanted:
                self.take(node, node.instances.remove(identity))
            elif name in wanted - given:
                self.take(node, node.instances.add(identity))
                key = node.instances.key_for(identity)
                instance = node.instance(key) if key else None
                if key and instance is not None:
                    reader = Reader(name, key)
                    if instance.is_checked:
                        self.look_for(reader, instance, [identity])
                    else:
                        self.ready(reader)

    def take(self, node: Node, refit: Refit) -> None:
        """Make ready what became an instance, forget what is none any more."""
        for key in refit.gone:
            reader = Reader(node.name, key)
            self.index.drop(reader)
            self._shaper.drop(self._group(reader))
            self._ready[node.name].pop(reader, None)
            node.drop(key)
        for key in refit.new:
            self.ready(Reader(node.name, key))

    def look_for(self, reader: Reader, instance: Instance, askers: Iterable[Identity]) -> None:
        """Watch what the instance's other askers must not have, to be served by it.

        One that has it already makes the instance dirty: its run learns that it is deeper.
        """
        keys = [
            key
            for one in askers
            for key in residue(list(instance.seen), reader.scope_key, one)
            if key not in instance.seen
        ]
        if keys:
            self.index.add(reader, dict.fromkeys(keys, ((),)))
        for key in present(self.store, keys):
            instance.dirty(key)
            self.ready(reader)

    # What moved.

    def dirty(self, change: Change | Iterable[InstanceKey | Changed], space: str = "") -> int:
        """Mark what reads the changed instances; return how many became dirty.

        ``space`` is that of the change: "" for the scheduler's own. A ``Changed`` wakes only who
        reads its place. What the last run of a reader saw already does not count.
        """
        seq, space = ANY_SEQ, space or self.space
        if isinstance(change, Change):
            seq = change.seq
            if change.holder != self.service.holder and space == self.space:
                self._doubt(change)
            change = [InstanceKey(space, *one) for one in change.touched]
        count = 0
        for one in change:
            key, path = (one.key, one.path) if isinstance(one, Changed) else (one, ())
            count += sum(self._wake(reader, key, seq) for reader in self.index.readers(key, path))
        return count

    def begin_anew(self) -> None:
        """Compare every result with what is stored: that may be another, by the same numbers."""
        self.compositions.reset(self.space)
        for node in self.nodes.values():
            for key, instance in node.instances.items():
                instance.seen.clear()
                instance.is_checked = False
                self.ready(Reader(node.name, key))

    def _doubt(self, change: Change) -> None:
        """Look again at results that somebody else wrote."""
        for node in self.nodes.values():
            own = [one for one in change.touched if one.id == node.derivation.output.id]
            if own:
                self.compositions.changed(self.space, node.derivation.output.id)
            for one in own:
                instance = node.instance(one.scope_key)
                if instance is not None:
                    instance.is_checked = False
                    self.ready(Reader(node.name, one.scope_key))

    def _wake(self, reader: Reader, key: InstanceKey, seq: int) -> bool:
        instance = self.nodes[reader.node].instance(reader.scope_key)
        if instance is None or not instance.dirty(key, seq):
            return False
        if reader not in self._ready[reader.node]:
            commit = seq if seq != ANY_SEQ and key.space == self.space else 0
            if self._shaper.offer(self._group(reader), Wake(key, commit), self.now()):
                self.ready(reader)
        return True

    def _group(self, reader: Reader) -> WakeGroup:
        return WakeGroup(self.space, reader.scope_key, reader.node)

    def ready(self, reader: Reader) -> None:
        self._ready[reader.node][reader] = None

    def due_ms(self) -> int | None:
        """Return when something may run: 0 for now, None where nothing waits."""
        return 0 if any(self._ready.values()) else self._shaper.due_ms()

    @property
    def left(self) -> int:
        """Return how many instances may or will run; those that failed wait for an input."""
        return sum(map(len, self._ready.values())) + self._shaper.waiting

    # Running.

    def run_dirty(self, budget: int = 1_000) -> Report:
        """Run at most ``budget`` instances; nothing at all while the lease is another's."""
        from scripts.swarm_v2.memory.running import run_one

        for group, _ in self._shaper.release(self.now()):
            self.ready(Reader(group.node, group.scope_key))
        work = Pass()
        if any(self._ready.values()) and self._serve():
            while work.runs < budget and not work.stopped:
                reader = self._next(work)
                if reader is None:
                    break
                self._ready[reader.node].pop(reader)
                self._shaper.settle(self._group(reader))
                run_one(self, reader, work)
        return Report(work.runs, tuple(work.commits), self.left, tuple(work.errors))

    def _serve(self) -> bool:
        """Say whether the lease is ours.

        After a time without it an instance is compared with what is stored before it runs:
        another holder may have made it. What that one wrote, the feed tells.
        """
        lease = self.service.lease
        if lease is None:
            return False
        was_live = self._served and lease.live()
        try:
            self._served = lease.acquire()
        except MemoryRefused as err:
            if err.code != "store-busy":
                raise
            self._served = False  # nothing can be written now, on a full disk say
        if self._served and not was_live:
            for node in self.nodes.values():
                node.instances.doubt()
        return self._served

    def _next(self, work: Pass) -> Reader | None:
        """Return what runs next: writers before their readers, and who failed before last."""
        feeds = {name: node.feeds for name, node in self.nodes.items()}
        for name in ordered(self.nodes, feeds):
            failed = None
            for reader in self._ready[name]:
                if work.tries.get(reader, 0) >= MOST_TRIES:
                    continue
                instance = self.nodes[name].instance(reader.scope_key)
                if instance is None or not instance.failures:
                    return reader
                failed = failed or reader
            if failed is not None:
                return failed
        return None
