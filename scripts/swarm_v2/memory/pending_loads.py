"""Loads that are under way, one ledger entry per instance; and who may start one.

Both are used from several threads at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scripts.swarm_v2.memory.address import Address, InstanceKey
    from scripts.swarm_v2.scope_key import Identity

    Settled = Callable[[BaseException | None], None]
    Submit = Callable[[Callable[[], None]], object]


class Ticket(NamedTuple):
    """One load that was started and has to be finished once."""

    key: InstanceKey
    generation: int


class _Entry:
    __slots__ = ("count", "failure", "generation", "waiters")

    def __init__(self, generation: int) -> None:
        self.count, self.generation = 0, generation
        self.failure: BaseException | None = None
        self.waiters: list[Settled] = []


class PendingLoads:
    """Loads by instance: how many run, in which generation, what failed first, who waits.

    Loads of one instance share an entry. Its waiters settle when the last one has ended, and
    see the first failure; a load that starts after that has a new generation and a clean entry.
    """

    def start(self, key: InstanceKey) -> Ticket:
        """Count one more load of ``key``; every ticket must come back to ``finish``."""
        raise NotImplementedError

    def finish(self, ticket: Ticket, failure: BaseException | None = None) -> None:
        """Count it off; a ticket of an older generation changes nothing."""
        raise NotImplementedError

    def when_settled(self, keys: Iterable[InstanceKey], then: Settled) -> None:
        """Call ``then`` once, with the first failure or None, when no load of ``keys`` runs.

        At once where none runs. A key that stands twice in ``keys`` counts once.
        """
        raise NotImplementedError

    def wait(self, keys: Iterable[InstanceKey], timeout_s: float) -> bool:
        """Block until they have settled; False after the time. Raises the first failure."""
        raise NotImplementedError

    def load(
        self,
        address: Address,
        identity: Identity,
        read: Callable[[InstanceKey], Iterable[Address]],
        submit: Submit,
    ) -> Ticket | None:
        """Read the instance that ``identity`` means, and then what it links to, as ``identity``.

        ``read`` returns the links to follow. Where that instance is loading already nothing
        starts and None comes back: wait for the key. ``submit`` runs it (a pool's, or a plain
        call); where it raises, the entry is given back and the error comes through.
        """
        raise NotImplementedError


class Reservation:
    """The right to load one instance, until ``release``."""

    def release(self) -> None:
        """Give it back, once; nobody else's reservation of the same instance is touched."""
        raise NotImplementedError


class LoadReservations:
    """Which instances somebody has set out to load: one set for pulls, one for missing links."""

    def reserve(self, key: InstanceKey) -> Reservation | None:
        """Return the reservation, or None where somebody has it."""
        raise NotImplementedError

    def drop(self, key: InstanceKey) -> None:
        """Let whoever comes next load it again, whoever reserved it."""
        raise NotImplementedError

    def __contains__(self, key: object) -> bool:
        raise NotImplementedError
