"""One run of one instance: read, compute, find where the result belongs, commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.clock import from_epoch, iso
from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.admission import Admission, change_of
from scripts.swarm_v2.memory.dependencies import Reader, compact
from scripts.swarm_v2.memory.derivations import (
    FAULTY,
    chain,
    depth_of,
    erased,
    key_of,
    narrower_of,
    outcome,
    present,
    residue,
    seen_by,
    without_history,
)
from scripts.swarm_v2.memory.document import is_link
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.faults import Fault, clearing, noting
from scripts.swarm_v2.memory.transactions import Transaction
from scripts.swarm_v2.scope_key import ScopeKeyError, scope_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scripts.swarm_v2.memory.derivations import Outcome
    from scripts.swarm_v2.memory.instances import Instance, Refit
    from scripts.swarm_v2.memory.nodes import Node
    from scripts.swarm_v2.memory.scheduler import Pass, Scheduler
    from scripts.swarm_v2.memory.store import Basis, Seen, Write
    from scripts.swarm_v2.memory.transactions import Logged
    from scripts.swarm_v2.scope_key import Identity

AGAIN = ("stale-base", "stale-read")  # somebody committed in the middle
KEPT = 64  # values of an instance at most in its history
STOPS = ("lease-lost", "lease-held", "store-busy")  # nothing else would fare better now


def run_one(scheduler: Scheduler, reader: Reader, work: Pass) -> None:
    """Run what is ready and not clean; whatever comes of it concerns this instance alone."""
    node = scheduler.nodes[reader.node]
    instance, askers = node.instance(reader.scope_key), node.instances.askers(reader.scope_key)
    if instance is None or not askers:
        return
    try:
        if not instance.is_checked and _recover(scheduler, reader, instance, work):
            return
        if not instance.is_clean:
            work.runs += 1
            work.tries[reader] = work.tries.get(reader, 0) + 1
            _Run(scheduler, node, reader, instance, askers[0], work).go()
    except MemoryRefused as err:
        if err.code == "store-damaged":  # of its own rows, beyond what a run replaces
            instance.failed((), instance.generation, (err.code, str(err)))
            work.errors.append(Fault(reader.node, reader.scope_key, err.code, str(err)))
            return
        if err.code not in STOPS:
            raise
        work.stopped = err.code
        scheduler.ready(reader)


def _recover(scheduler: Scheduler, reader: Reader, instance: Instance, work: Pass) -> bool:
    """Compare an instance with what is stored of it; say whether it needs no run now."""
    node, key = scheduler.nodes[reader.node], reader.scope_key
    store, space = scheduler.store, scheduler.space
    askers = node.instances.askers(key)
    refit = node.recover(store, key, askers[0])
    if refit is not None:
        scheduler.take(node, refit)
        if node.instance(key) is not instance:
            return True
    moved = store.moved(space, node.name, key)
    if moved is None or not node.has_result(store, key):
        return False
    if node.name not in work.recorded:
        work.recorded[node.name] = {one.scope_key: one for one in store.basis(space, node.name)}
    basis = work.recorded[node.name].get(key)
    if basis is None:
        return False
    if not _same_roots(scheduler, node, basis, askers[0]):
        instance.know(basis.seen)
        return False
    instance.ran(basis.seen, instance.generation)
    node.slots.put(scope_of(key), scope_of(key), askers[0])
    scheduler.index.replace(reader, {one: ((),) for one in instance.seen})
    scheduler.look_for(reader, instance, askers)
    for one in moved:
        instance.dirty(InstanceKey(one.space, one.scope_key, one.id))
    return instance.is_clean


def _same_roots(scheduler: Scheduler, node: Node, basis: Basis, identity: Identity) -> bool:
    if not node.derivation.reads_roots:
        return True
    wanted = set(scheduler.roots(identity).everything)
    return {one.space for one in basis.seen} == wanted


class _Run:
    """``reader`` follows the result to where it belongs."""

    def __init__(
        self,
        scheduler: Scheduler,
        node: Node,
        reader: Reader,
        instance: Instance,
        identity: Identity,
        work: Pass,
    ) -> None:
        self._scheduler, self._node, self._reader = scheduler, node, reader
        self._instance, self._identity, self._work = instance, identity, work
        self._generation = instance.generation

    def go(self) -> None:
        scheduler, node = self._scheduler, self._node
        self._instance.runs += 1
        tx = Transaction(scheduler.store, scheduler.space)
        tx.act_as(self._identity)
        try:
            value = node.derivation.run(tx, scheduler.roots(self._identity))
            extra = self._place(tx.log)
            done = self._outcome(value, tx.log)
        except FAULTY as err:
            self._fail(tx.log, err)
            return
        if self._node.instance(self._reader.scope_key) is not self._instance:
            return  # nobody wants it any more
        node.compose(scheduler.compositions, done.key, value)
        try:
            self._commit(self._tidied(done), done.seen, done.basis)
        except MemoryRefused as err:
            plan = value.get("plan") if isinstance(value, dict) else None
            output = node.derivation.output.id
            scheduler.compositions.failed(scheduler.space, output, done.key, plan)
            self._refused(err)
            return
        self._finish(tx.log, done.seen, extra)

    def _outcome(self, value: object, log: Sequence[Logged]) -> Outcome:
        scheduler, node = self._scheduler, self._node
        floor = node.instances.depth(self._identity)
        who = self._identity
        done = outcome(scheduler.store, scheduler.space, node.derivation, who, value, log, floor)
        if done.key != self._reader.scope_key:
            self._move(done.key)
        return done

    def _place(self, log: Sequence[Logged]) -> list[InstanceKey]:
        """Find the instance of the result; return what its other askers must not have.

        A read of what another asker has, and whom this ran as has not, makes it deeper too.
        """
        node, seen = self._node, seen_by(log)
        depth = narrower_of(node.instances.depth(self._identity), depth_of(log))
        self._move(chain(depth, self._identity)[-1])
        while True:
            here = self._reader.scope_key
            others = [one for one in node.instances.askers(here) if one != self._identity]
            extra = {one: residue(seen, here, one) for one in others}
            keys = [key for one in extra.values() for key in one]
            found = set(present(self._scheduler.store, keys))
            if not found:
                return keys
            for one, own in extra.items():
                for key in found.intersection(own):
                    self._take(node.instances.learn(scope_of(key.scope_key), one))
            now = node.instances.key_for(self._identity)
            if now is None:
                return []
            self._move(now)

    def _move(self, scope_key: str) -> None:
        node, before = self._node, self._reader.scope_key
        self._reader = Reader(node.name, scope_key)
        self._take(node.instances.settle(before, self._instance, scope_key, self._identity))

    def _take(self, refit: Refit) -> None:
        self._scheduler.take(self._node, refit)

    def _commit(
        self,
        writes: tuple[Write, ...],
        reads: tuple[Seen, ...] = (),
        basis: tuple[Basis, ...] = (),
    ) -> None:
        scheduler = self._scheduler
        if not writes and not basis:
            return
        store, space, service = scheduler.store, scheduler.space, scheduler.service
        at = iso(from_epoch(scheduler.now() / 1000))
        commit = Admission(store).derived(space, writes, reads, basis, service, at)
        seq = store.commit(space, commit)
        if seq:
            self._work.commits.append(seq)
            scheduler.dirty(change_of(seq, commit))

    def _tidied(self, done: Outcome) -> tuple[Write, ...]:
        """Let values of before go: now and then, and where a redirect takes their place.

        To let one go costs as much as fifty commits in a file with a WAL. Always where they may
        quote what was erased, or a space that is read no more: nobody would look for it here.
        """
        if self._instance.runs % KEPT == 0 or (done.writes and self._outgrown(done.seen)):
            return without_history(done.writes)
        return tuple(
            one
            for write in done.writes
            for one in (without_history([write]) if is_link(write.value) else [write])
        )

    def _outgrown(self, seen: Iterable[Seen]) -> bool:
        now = {InstanceKey(one.space, one.scope_key, one.id) for one in seen}
        left = self._instance.seen.keys() - now
        if {key.space for key in left} - {key.space for key in now}:
            return True
        return bool(erased(self._scheduler.store, left))

    def _refused(self, err: MemoryRefused) -> None:
        self._scheduler.ready(self._reader)
        if err.code in STOPS:
            self._work.stopped = err.code
        elif err.code not in AGAIN:
            raise err

    def _finish(
        self, log: Sequence[Logged], seen: tuple[Seen, ...], extra: Iterable[InstanceKey]
    ) -> None:
        scheduler, node, instance = self._scheduler, self._node, self._instance
        instance.ran(seen, self._generation)
        instance.failures = 0
        reads = reads_of(log)
        scheduler.index.replace(self._reader, {**dict.fromkeys(extra, ((),)), **reads})
        scope = scope_of(self._reader.scope_key)
        node.slots.put(scope, scope, self._identity)
        writers = [scheduler.writers.writers(logged.address) for logged in log]
        scheduler.fed(node, set().union(*writers) - {node.name})
        if instance.fault is not None or not instance.faults_read:
            keys = chain(scope, self._identity)
            self._commit(clearing(scheduler.store, scheduler.space, node.name, keys))
            instance.fault, instance.faults_read = None, True
        if not instance.is_clean:
            scheduler.ready(self._reader)

    def _fail(self, log: Sequence[Logged], err: Exception) -> None:
        """Keep the last good result, and watch what was read: only that may make it better.

        What was found narrows as in a run that went well, so that nobody else waits for this.
        """
        if isinstance(err, MemoryRefused) and err.code in STOPS:
            self._refused(err)
            return
        scheduler, node = self._scheduler, self._node
        try:
            self._place(log)
        except ScopeKeyError:
            return
        code = err.code if isinstance(err, MemoryRefused) else "derivation-failed"
        sentence = str(err) if isinstance(err, MemoryRefused) else f"{type(err).__name__}: {err}"
        fault = Fault(node.name, self._reader.scope_key, code, sentence)
        self._instance.failed(seen_by(log), self._generation, (code, sentence))
        scheduler.index.add(self._reader, reads_of(log))
        self._work.errors.append(fault)
        self._commit(noting(scheduler.store, scheduler.space, fault))
        if not self._instance.is_clean:
            scheduler.ready(self._reader)


def reads_of(log: Iterable[Logged]) -> dict[InstanceKey, tuple[tuple[str, ...], ...]]:
    """Return what a log read of each instance, its paths compacted."""
    found: dict[InstanceKey, list[tuple[str, ...]]] = {}
    for logged in log:
        found.setdefault(key_of(logged), []).append(logged.address.path)
    return {key: compact(paths) for key, paths in found.items()}
