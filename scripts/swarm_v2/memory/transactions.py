"""One run, as one identity: what it read, what it writes, how narrow it came out.

A *redirect* is a document whose whole value is one link. A reader follows it into its own
instance. Where a run read something narrower than the output it declares, redirects lead from
the declared address down to the instance that holds the value.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.document import MISSING
from scripts.swarm_v2.scope_key import SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    from scripts.swarm_v2.memory.address import Address, InstanceKey
    from scripts.swarm_v2.memory.admission import Annotated
    from scripts.swarm_v2.memory.store import Basis, Document, DocumentStore, Seen
    from scripts.swarm_v2.scope_key import Identity, Scope
else:
    from hooks.record import NamedTuple

MAX_HOPS = 16


class Logged(NamedTuple):
    """One read. ``key`` is None at space, and where nobody acts (R3)."""

    address: Address
    key: InstanceKey | None
    seq: int
    present: bool
    schema: object = True

    @property
    def instance(self) -> InstanceKey:
        """Return the instance that was read, at space too."""
        raise NotImplementedError


class Transaction:
    """Reads are repeatable: an instance read twice shows one version.

    Own writes are seen by later reads, and are not logged as inputs. ``consistent`` says whether
    all that was read stands at one moment.
    """

    def __init__(self, store: DocumentStore, space: str, *, branch: str = "") -> None:
        self.space = space

    def act_as(self, identity: Identity) -> None:
        """Set who acts, before the first read; the same again does nothing.

        Raises:
            MemoryRefused: ``identity-changed`` for another one, or after a read.
        """
        raise NotImplementedError

    def read(self, address: Address, schema: object = True) -> object:
        """Return the value at an address, redirects followed; MISSING where there is none.

        ``schema`` is recorded: how much of the value the reader uses.

        Raises:
            MemoryRefused: ``identity-missing``, ``link-circle``, ``instance-unnamed`` where a
                redirect of somebody else's instance leads on to nobody in particular.
        """
        raise NotImplementedError

    def read_many(self, addresses: Iterable[Address], schema: object = True) -> list[object]:
        """Return what ``read`` would, with one question to the store."""
        raise NotImplementedError

    def document(self, address: Address, schema: object = True) -> Document | None:
        """Return the document at an address, redirects followed; a tombstone too."""
        raise NotImplementedError

    def write(self, address: Address, value: object) -> InstanceKey:
        """Set a whole document; a redirect there stays, and what it leads to is set."""
        raise NotImplementedError

    def patch(self, address: Address, patch: object) -> InstanceKey:
        raise NotImplementedError

    def delete(self, address: Address) -> InstanceKey:
        raise NotImplementedError

    def write_result(self, output: Address, value: object) -> InstanceKey:
        """Write a run's result as deep as the run came out; return the instance that holds it.

        Redirects lead there from ``output``: space to user, user to session. One that stands
        is never taken away, so a result is never shallower than the last.

        Raises:
            MemoryRefused: ``identity-missing``.
        """
        raise NotImplementedError

    def basis(self, action: str, output: InstanceKey, started: str = SPACE) -> Basis:
        """Return what the run was made from, for the instance that holds its result.

        ``started`` is the key the run was asked for at: its rows and those of every broader
        key are dropped.
        """
        raise NotImplementedError

    def consistent(self) -> bool:
        """Say whether everything read is still as it was read: one moment for all of it."""
        raise NotImplementedError

    @property
    def log(self) -> tuple[Logged, ...]:
        raise NotImplementedError

    @property
    def seen(self) -> tuple[Seen, ...]:
        """Return each instance that was read, once, for the commit's read set and its basis."""
        raise NotImplementedError

    @property
    def narrowest(self) -> Scope:
        """Return the narrowest scope at which something was found; an absent read narrows none."""
        raise NotImplementedError

    @property
    def writes(self) -> tuple[Annotated, ...]:
        raise NotImplementedError


def broader(scope_key: str) -> tuple[str, ...]:
    """Return the keys that a narrower instance's chain passes: of a session, its user and space."""
    raise NotImplementedError
