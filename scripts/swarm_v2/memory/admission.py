"""The three doors through which a commit becomes rows: authored, derived, system.

For an author, keys are built here from the session's identity: a proposal has no field that
could name one. For the process that recomputes, and for jobs, keys are stated and checked. The
kind of a commit is the door it came through, never a field.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.document import SCOPES, check_id
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.scope_key import SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    from scripts.swarm_v2.memory.address import Address, InstanceKey
    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import Basis, Change, Commit, DocumentStore, Op, Seen, Write
    from scripts.swarm_v2.scope_key import Scope
else:
    from hooks.record import NamedTuple

MAX_WRITES = 1000  # of one commit
MAX_READS = 10_000


class Asked(NamedTuple):
    """A write as its author asks for it: the scope by name, ``base`` of the author's instance."""

    id: str
    scope: Scope
    op: Op
    value: object = None
    base: int | None = None


class AskedRead(NamedTuple):
    """What a proposal relies on: the author's own instance as it was at ``seq``."""

    id: str
    scope: Scope
    seq: int


class Proposal(NamedTuple):
    writes: tuple[Asked, ...]
    reads: tuple[AskedRead, ...] = ()


class Annotated(NamedTuple):
    """A write of the process that recomputes.

    ``scope_key`` names the instance of a scoped write; a write at ``space`` has none.
    """

    id: str
    scope: Scope
    op: Op
    value: object = None
    base: int | None = None
    scope_key: str | None = None


def parse_proposal(document: object) -> Proposal:
    """Read ``{"writes": [{id, scope, op, value, base}], "reads": [{id, scope, seq}]}``.

    ``scope`` is ``space`` and ``op`` is ``set`` where they are left out.

    Raises:
        MemoryRefused: ``identity-in-commit``, ``field-unknown``, ``request-invalid``,
            ``scope-unknown``, ``id-invalid``. Values are looked at by the door.
    """
    raise NotImplementedError


class Admission:
    """Makes the commit that the store will write whole or refuse whole.

    A set, delete or erase that would change nothing is left out; that it changes nothing
    becomes a read of the commit. (A patch is not looked at: that would cost its whole document.)
    """

    def __init__(self, store: DocumentStore) -> None:
        self._store = store

    def authored(
        self, proposal: Proposal, session: Session, at: str, *, elide: bool = True
    ) -> Commit:
        """Build what a session proposes, on its own instances.

        Raises:
            MemoryRefused: ``session-missing``, ``session-retired``; ``identity-missing`` for a
                scope that the session's identity does not reach; ``link-circle``; what is wrong
                with a value.
        """
        raise NotImplementedError

    def derived(
        self,
        space: str,
        writes: Iterable[Annotated | Write],
        reads: Iterable[Seen],
        basis: Iterable[Basis],
        session: Session,
        at: str,
    ) -> Commit:
        """Build what the holder of the lease recomputed, each scoped write naming its instance.

        The store refuses it (``lease-lost``) where the session's lease is not live.

        Raises:
            MemoryRefused: ``lease-lost`` for a session that does not serve ``space``;
                ``scope-key-malformed``, ``instance-unnamed``, ``scope-unknown``.
        """
        raise NotImplementedError

    def system(
        self, space: str, writes: Iterable[Write], at: str, *, carried: Iterable[str] = ()
    ) -> Commit:
        """Build what a migration or import writes.

        It has no session: a write at a session instance is refused (``identity-missing``),
        unless ``carried`` holds that very key, since the rows brought it with them.
        """
        raise NotImplementedError

    def commit_authored(self, proposal: Proposal, session: Session, at: str) -> Change | None:
        """Build and write; return what changed, None where nothing did.

        Raises:
            MemoryRefused: as ``authored``; ``stale-base``, ``stale-read``.
        """
        raise NotImplementedError


def admit_reads(
    session: Session, roots: Iterable[Address], standing: Iterable[Address] = ()
) -> tuple[InstanceKey, ...]:
    """Return the instances that a session may read at these roots.

    ``standing`` are roots it reads already. An explicit key that is admitted makes the
    session ``keyed``, for good.

    Raises:
        MemoryRefused: ``scope-key-malformed``, before anything else is looked at;
            ``instances-ambiguous`` and ``instance-refused`` without a live lease, whatever rows
            exist; ``instance-unnamed`` for a serving session's scoped root without a key;
            ``identity-missing``.
    """
    raise NotImplementedError


def change_of(seq: int, commit: Commit) -> Change:
    """Return what the feed will say of a commit that became ``seq``."""
    raise NotImplementedError
