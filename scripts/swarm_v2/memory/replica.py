"""What one long-lived client holds of one space: confirmed documents, and its own on their way.

Several identities may run in it (a process that serves); their instances lie side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scripts.swarm_v2.memory.address import Address, InstanceKey
    from scripts.swarm_v2.memory.frames import SyncFrame
    from scripts.swarm_v2.memory.store import Op
    from scripts.swarm_v2.scope_key import Identity

    Loaded = Callable[[BaseException | None], None]
    Load = Callable[[Address, Loaded], None]


class Entry(NamedTuple):
    """One instance as one identity sees it: ``seq`` of the confirmed state, ``pending`` on top."""

    seq: int
    value: object
    pending: bool = False


class Sealed(NamedTuple):
    """A commit that was handed over and has no verdict yet."""

    number: int
    identity: Identity
    keys: tuple[InstanceKey, ...]


class Replica:
    """Documents by instance: a confirmed state, and layers of commits without a verdict.

    ``running`` is who acts now; None is nobody in particular, and then ``own`` is meant. A layer
    is seen by the identity that sealed it and by no other.
    """

    def __init__(self, space: str, own: Identity, load: Load | None = None) -> None:
        raise NotImplementedError

    def instance(self, address: Address, running: Identity | None) -> InstanceKey:
        """Return the instance of an address: its own key, else ``running``'s, else ``own``'s.

        A scope that cannot be resolved is keyed by its name: for anonymous readers.
        """
        raise NotImplementedError

    def read(self, address: Address, running: Identity | None) -> object:
        """Return the value at the address's path, or MISSING; what was never seen starts a load.

        One load per instance, that names the instance only where it is not ``own``'s; after a
        failed one the next read loads again.
        """
        raise NotImplementedError

    def missing(self, address: Address, running: Identity | None) -> bool:
        """Load the target of a link that was not there; False where that was done before."""
        raise NotImplementedError

    def entry(self, key: InstanceKey, identity: Identity) -> Entry | None:
        """Return what ``identity`` sees; None where the instance was never seen."""
        raise NotImplementedError

    def keys_of(self, frame: SyncFrame) -> tuple[InstanceKey, ...]:
        """Return the instances that applying ``frame`` may change: for a change set."""
        raise NotImplementedError

    def apply(self, frame: SyncFrame) -> tuple[InstanceKey, ...]:
        """Take a frame in; return the instances whose confirmed state changed.

        An entry older than what is held changes nothing. Layers stay.

        Raises:
            MemoryRefused: ``request-invalid`` for another space's frame; nothing was changed.
        """
        raise NotImplementedError

    def seal(self, identity: Identity, writes: Sequence[tuple[Address, Op, object]]) -> Sealed:
        """Lay a commit of ``identity`` over what it sees, until ``confirm`` or ``roll_back``."""
        raise NotImplementedError

    def basis(
        self, identity: Identity, addresses: Iterable[Address]
    ) -> tuple[tuple[InstanceKey, int], ...]:
        """Return the confirmed number of each, from ``identity``'s own records."""
        raise NotImplementedError

    def confirm(self, sealed: Sealed, seq: int) -> tuple[InstanceKey, ...]:
        """Make that commit's layers confirmed at ``seq``; nobody else's are touched."""
        raise NotImplementedError

    def roll_back(self, sealed: Sealed) -> tuple[InstanceKey, ...]:
        """Drop that commit's layers; nobody else's are touched."""
        raise NotImplementedError
