"""Loads that are under way, one ledger entry per instance; and who may start one.

Both are used from several threads at once. What they call back is called without their lock.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.address import declared_scope, instance_key
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.scope_key import can_resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scripts.swarm_v2.memory.address import Address, InstanceKey
    from scripts.swarm_v2.scope_key import Identity

    Settled = Callable[[BaseException | None], None]
    Submit = Callable[[Callable[[], None]], object]
    Read = Callable[[InstanceKey], Iterable[Address]]


class Ticket(NamedTuple):
    """One load that was started and has to be finished once."""

    key: InstanceKey
    generation: int
    number: int


class _Entry:
    """The loads of one instance that overlap in time."""

    __slots__ = ("failure", "generation", "running", "waiters")

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.running: set[int] = set()
        self.failure: BaseException | None = None
        self.waiters: list[Settled] = []


class PendingLoads:
    """Loads by instance: how many run, in which generation, what failed first, who waits.

    Loads of one instance share an entry. Its waiters settle when the last one has ended, and
    see the first failure; a load that starts after that has a new generation and a clean entry.
    """

    def __init__(self) -> None:
        # site 7: loads under way by instance, so that no waiter sees another instance's failure
        self._entries: dict[InstanceKey, _Entry] = {}
        self._lock = threading.Lock()
        self._generations = 0
        self._tickets = 0

    def start(self, key: InstanceKey) -> Ticket:
        """Count one more load of ``key``; every ticket must come back to ``finish``."""
        with self._lock:
            return self._count(key)

    def finish(self, ticket: Ticket, failure: BaseException | None = None) -> None:
        """Count it off; a ticket that came back before changes nothing."""
        with self._lock:
            entry = self._entries.get(ticket.key)
            if entry is None or ticket.number not in entry.running:
                return
            entry.running.discard(ticket.number)
            if entry.failure is None:
                entry.failure = failure
            if entry.running:
                return
            del self._entries[ticket.key]
        for settle in entry.waiters:
            settle(entry.failure)

    def count(self, key: InstanceKey) -> int:
        """Return how many loads of ``key`` run."""
        with self._lock:
            entry = self._entries.get(key)
            return len(entry.running) if entry else 0

    def when_settled(self, keys: Iterable[InstanceKey], then: Settled) -> None:
        """Call ``then`` once, with the first failure or None, when no load of ``keys`` runs.

        At once where none runs. A key that stands twice in ``keys`` counts once.
        """
        with self._lock:
            entries = [self._entries[key] for key in dict.fromkeys(keys) if key in self._entries]
            gate = _Gate(len(entries), then)
            for entry in entries:
                entry.waiters.append(gate.pass_one)
        if not entries:
            then(None)

    def wait(self, keys: Iterable[InstanceKey], timeout_s: float) -> bool:
        """Block until they have settled; False after the time. Raises the first failure."""
        ended = threading.Event()
        failures: list[BaseException] = []

        def settle(failure: BaseException | None) -> None:
            if failure is not None:
                failures.append(failure)
            ended.set()

        self.when_settled(keys, settle)
        if not ended.wait(timeout_s):
            return False
        for failure in failures:
            raise failure
        return True

    def load(
        self, address: Address, identity: Identity, read: Read, submit: Submit, then: Settled
    ) -> int:
        """Read the instance that ``identity`` means, and what it links to, as ``identity`` too.

        ``read`` returns the links to follow; each is a load with an entry of its own, and one
        that ``identity`` has no instance of is left out. Where the instance is loading already
        nothing starts. Either way ``then`` is called when its entry settles, and the entry's
        generation comes back. ``submit`` runs what it is given: a pool's, or a plain call.

        Raises:
            ScopeKeyError: ``identity`` has no instance of ``address``.
            Exception: what ``submit`` raised; the entry is settled with it then.
        """
        key = instance_key(address, identity)
        walk = _Walk(self, identity, read, submit, {key})
        return walk.load(key, then)

    def _begin(self, key: InstanceKey, then: Settled) -> tuple[int, Ticket | None]:
        with self._lock:
            entry = self._entries.get(key)
            ticket = self._count(key) if entry is None else None
            entry = self._entries[key]
            entry.waiters.append(then)
            return entry.generation, ticket

    def _count(self, key: InstanceKey) -> Ticket:
        entry = self._entries.get(key)
        if entry is None:
            self._generations += 1
            entry = self._entries[key] = _Entry(self._generations)
        self._tickets += 1
        entry.running.add(self._tickets)
        return Ticket(key, entry.generation, self._tickets)


class _Walk:
    """One requested load with all that follows from it: one identity, each instance once."""

    def __init__(
        self,
        loads: PendingLoads,
        identity: Identity,
        read: Read,
        submit: Submit,
        seen: set[InstanceKey],
    ) -> None:
        self._loads, self._identity = loads, identity
        self._read, self._submit = read, submit
        self._seen = seen
        self._waiting: list[Ticket] = []
        self._feeding: set[int] = set()
        self._lock = threading.Lock()

    def load(self, key: InstanceKey, then: Settled) -> int:
        generation, ticket = self._loads._begin(key, then)
        if ticket is not None:
            self._feed([ticket])
        return generation

    def _feed(self, tickets: list[Ticket]) -> None:
        # Where ``submit`` is a plain call, a long chain of links must not be a deep recursion:
        # whoever is feeding in this thread already takes what comes from below.
        thread = threading.get_ident()
        with self._lock:
            self._waiting += tickets
            if thread in self._feeding:
                return
            self._feeding.add(thread)
        try:
            while ticket := self._next(thread):
                self._start(ticket)
        except BaseException as failure:
            self._give_up(thread, failure)
            raise

    def _next(self, thread: int) -> Ticket | None:
        with self._lock:
            if self._waiting:
                return self._waiting.pop()
            self._feeding.discard(thread)
            return None

    def _start(self, ticket: Ticket) -> None:
        try:
            self._submit(lambda: self._run(ticket))
        except BaseException as failure:
            self._loads.finish(ticket, failure)
            raise

    def _give_up(self, thread: int, failure: BaseException) -> None:
        with self._lock:
            self._feeding.discard(thread)
            left, self._waiting = self._waiting, []
        for ticket in left:
            self._loads.finish(ticket, failure)

    def _run(self, ticket: Ticket) -> None:
        try:
            fresh = self._fresh(self._read(ticket.key))
            begun = [self._loads._begin(key, _nobody)[1] for key in fresh]
        except MemoryRefused as refused:
            self._loads.finish(ticket, refused)
            return
        except BaseException as failure:
            self._loads.finish(ticket, failure)
            raise
        self._loads.finish(ticket)
        self._feed([one for one in begun if one is not None])

    def _fresh(self, targets: Iterable[Address]) -> list[InstanceKey]:
        mine = [one for one in targets if _resolves(one, self._identity)]
        keys = [instance_key(one, self._identity) for one in mine]
        with self._lock:
            fresh = [key for key in dict.fromkeys(keys) if key not in self._seen]
            self._seen.update(fresh)
        return fresh


class _Gate:
    """Opens once, when as many have passed as were waited for."""

    def __init__(self, count: int, then: Settled) -> None:
        self._left, self._then = count, then
        self._failure: BaseException | None = None
        self._lock = threading.Lock()

    def pass_one(self, failure: BaseException | None) -> None:
        with self._lock:
            self._left -= 1
            if self._failure is None:
                self._failure = failure
            if self._left:
                return
        self._then(self._failure)


class Reservation:
    """The right to load one instance, until ``release``."""

    def __init__(self, owner: LoadReservations, key: InstanceKey) -> None:
        self._owner, self.key = owner, key

    def release(self) -> None:
        """Give it back, once; nobody else's reservation of the same instance is touched."""
        self._owner._release(self)


class LoadReservations:
    """Which instances somebody has set out to load: one set for pulls, one for missing links."""

    def __init__(self) -> None:
        # boundary: pull kicks, missing-document load kicks
        self._held: dict[InstanceKey, Reservation] = {}
        self._lock = threading.Lock()

    def reserve(self, key: InstanceKey) -> Reservation | None:
        """Return the reservation, or None where somebody has it."""
        with self._lock:
            if key in self._held:
                return None
            held = self._held[key] = Reservation(self, key)
            return held

    def drop(self, key: InstanceKey) -> None:
        """Let whoever comes next load it again, whoever reserved it."""
        with self._lock:
            self._held.pop(key, None)

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return key in self._held

    def _release(self, reservation: Reservation) -> None:
        with self._lock:
            if self._held.get(reservation.key) is reservation:
                del self._held[reservation.key]


def _resolves(address: Address, identity: Identity) -> bool:
    return address.scope_key is not None or can_resolve(declared_scope(address), identity)


def _nobody(failure: BaseException | None) -> None:
    """Wait for nothing: who needs a linked document waits for its key."""
