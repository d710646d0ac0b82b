"""What a document store keeps and answers. Two backends, one contract suite.

Rows: ``head`` (the newest revision of an instance), ``revision`` (every one, which is also the
change feed), ``basis`` (what a derived instance was made from), ``lease`` (who recomputes).
Each space has one sequence of numbers, shared by all its instances, without a gap.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal, NamedTuple, Protocol

    from scripts.swarm_v2.memory.address import InstanceKey
    from scripts.swarm_v2.scope_key import DirtyKey

    Op = Literal["set", "patch", "delete", "erase"]
    Kind = Literal["authored", "derived", "system"]
else:
    from hooks.record import NamedTuple

ABSENT = 0  # the sequence number of an instance that never was


class Write(NamedTuple):
    """One change of one instance.

    ``patch`` is a JSON merge patch (RFC 7396). ``delete`` leaves the history; ``erase`` takes
    the values of every earlier revision too and leaves a tombstone. An ``erase`` with a value, a
    merge patch, takes only the members that are null in it: out of the document as a patch does,
    and out of every earlier revision. Deleting what is not there writes nothing.

    ``base`` is the sequence number of the head the author saw (``ABSENT`` for none); None writes
    whatever stands there.
    """

    id: str
    scope_key: str
    op: Op
    value: object = None
    base: int | None = None


class Seen(NamedTuple):
    """One instance as it was read: at ``seq``, or ``ABSENT``. A tombstone has its own number."""

    space: str
    scope_key: str
    id: str
    seq: int


class Basis(NamedTuple):
    """What the instance ``scope_key`` of a derivation was made from.

    A commit that carries one replaces the rows of that instance, and deletes those of the same
    action at each key in ``drop``: the one it started under and every broader one of its chain.
    """

    action: str
    scope_key: str
    seen: tuple[Seen, ...]
    drop: tuple[str, ...] = ()


class Commit(NamedTuple):
    """All of it or nothing. ``kind`` is given by the door, never by the author."""

    kind: Kind
    writes: tuple[Write, ...] = ()
    reads: tuple[Seen, ...] = ()  # refused as ``stale-read`` where one has moved
    basis: tuple[Basis, ...] = ()
    session_key: str = ""  # the author's session instance, "" where there is none
    holder: str = ""  # of the lease, for derived ones: refused as ``lease-lost`` where not held
    at: str = ""  # ISO 8601, UTC
    annotations: Mapping[str, object] | None = None


class Document(NamedTuple):
    """The state of one instance. A tombstone is ``deleted`` and has no value."""

    space: str
    scope_key: str
    id: str
    seq: int
    value: object = None
    deleted: bool = False
    op: Op = "set"  # of the newest revision: a ``patch`` may hold what its author never saw


class Revision(NamedTuple):
    """One past state. ``value`` is what was written: a whole value, or a patch."""

    seq: int
    op: Op
    value: object
    kind: Kind
    at: str
    session_key: str


class Change(NamedTuple):
    """One commit as the feed tells it: instances, never only names."""

    seq: int
    kind: Kind
    touched: tuple[DirtyKey, ...]
    session_key: str = ""
    holder: str = ""


class Held(NamedTuple):
    """A live lease. ``expires_at_ms`` is by the store's clock."""

    holder: str
    expires_at_ms: int


if TYPE_CHECKING:

    class Reader(Protocol):
        """What a transaction reads from: a store, or what a client keeps of one."""

        def read(
            self, space: str, scope_key: str, id: str, *, branch: str = ""
        ) -> Document | None: ...

        def read_many(
            self, space: str, keys: Iterable[DirtyKey], *, branch: str = ""
        ) -> dict[DirtyKey, Document]: ...

        def heads(
            self, keys: Iterable[InstanceKey], *, branch: str = ""
        ) -> dict[InstanceKey, int]: ...

    class DocumentStore(Protocol):
        """Every method may raise ``MemoryRefused`` with ``store-busy`` or ``store-damaged``."""

        name: str  # of this very store, so that nothing computed from one is served from another

        def commit(self, space: str, commit: Commit, *, branch: str = "") -> int:
            """Write it and return its sequence number; 0 for a commit that changes no instance.

            Basis rows alone are replaced without a number, and are not told in the feed.

            Raises:
                MemoryRefused: ``stale-base``, ``stale-read`` (facts: ``key``, ``current``),
                    ``lease-lost``. Nothing was written, no number was used.
            """
            ...

        def read(self, space: str, scope_key: str, id: str, *, branch: str = "") -> Document | None:
            """Return the instance, a tombstone too; None where it never was."""
            ...

        def read_many(
            self, space: str, keys: Iterable[DirtyKey], *, branch: str = ""
        ) -> dict[DirtyKey, Document]:
            """Return those of ``keys`` that ever were, all at one sequence number."""
            ...

        def heads(self, keys: Iterable[InstanceKey], *, branch: str = "") -> dict[InstanceKey, int]:
            """Return the newest sequence number of each, ``ABSENT`` for what never was."""
            ...

        def select(
            self,
            space: str,
            scope_keys: Sequence[str],
            *,
            prefix: str = "",
            after: str = "",
            limit: int = 1000,
            branch: str = "",
        ) -> list[Document]:
            """Return live documents of exactly these instances, by id, then scope key.

            ``after`` is the last id of the page before: a page holds all instances of its last
            id, which may be some more than ``limit``.
            """
            ...

        def history(
            self,
            space: str,
            scope_key: str,
            id: str,
            *,
            branch: str = "",
            limit: int = 100,
        ) -> list[Revision]:
            """Return the revisions of one instance, newest first; none of what was erased."""
            ...

        def seq(self, space: str) -> int:
            """Return the number of the newest commit, 0 before the first."""
            ...

        def mark(self, space: str, seq: int) -> str:
            """Return what tells the commit ``seq`` from any other that may have that number.

            A store that lost its newest commits gives their numbers again. "" where none has it.
            """
            ...

        def changes(self, space: str, since: int, *, limit: int = 1000) -> list[Change]:
            """Return the commits after ``since``, oldest first, and what each touched.

            Only instances of the main branch are told.
            """
            ...

        def wait(self, since: Mapping[str, int], timeout_s: float) -> bool:
            """Wait until a space has a commit after its number in ``since``; False after the time.

            Other processes' commits wake it too.
            """
            ...

        def basis(self, space: str, action: str | None = None) -> list[Basis]:
            """Return the recorded inputs, of one action or of all; ``drop`` is empty."""
            ...

        def moved(self, space: str, action: str, scope_key: str) -> list[Seen] | None:
            """Return the recorded inputs of one instance whose head is another now.

            Each with the number recorded; None where nothing is recorded. One query.
            """
            ...

        def held(self, space: str) -> Held | None:
            """Return the live lease of a space."""
            ...

        def acquire(self, space: str, holder: str, ttl_ms: int) -> bool:
            """Take or renew the lease; False where another holder's is live."""
            ...

        def release(self, space: str, holder: str) -> bool:
            """Give the lease back; False where it was not held."""
            ...

        def retire(self, space: str, session_key: str, at: str) -> None:
            """Mark a session's rows as ended at ``at`` (ISO, UTC); the first mark stays."""
            ...

        def retired(self, space: str, before: str) -> list[str]:
            """Return the session keys that ended before ``before``, also where no row is left."""
            ...

        def resume(self, session_key: str, at: str) -> None:
            """Move each mark of a session, in every space, to ``at``; one that is later stays."""
            ...

        def drop_session(self, space: str, session_key: str, at: str) -> int:
            """Erase every instance and basis row of exactly this session key, in one commit.

            The mark that it ended goes with them. Watchers get tombstones. Returns the
            commit's number, 0 where there was nothing.
            """
            ...

        def spaces(self) -> list[str]:
            """Return every space that has a commit."""
            ...

        def tidy(self) -> bool:
            """Do what an erasure still owes, waiting for nobody; say whether nothing is owed."""
            ...

        def due_s(self) -> float | None:
            """Return in how many seconds to ``tidy`` again; None where nothing is owed."""
            ...

        def close(self) -> None: ...
