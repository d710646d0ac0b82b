"""The three doors through which a commit becomes rows: authored, derived, system.

For an author, keys are built here from the session's identity: a proposal has no field that
could name one. For the process that recomputes, and for jobs, keys are stated and checked. The
kind of a commit is the door it came through, never a field.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.claims import refuse_claims
from scripts.swarm_v2.memory.document import (
    check_id,
    check_space,
    is_link,
    parse_link,
    same,
)
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.proposals import (
    VALUED,
    Asked,
    AskedRead,
    Proposal,
    check_scope,
)
from scripts.swarm_v2.memory.proposals import parse_proposal as parse_proposal
from scripts.swarm_v2.memory.reading_rights import admit_reads as admit_reads
from scripts.swarm_v2.memory.reading_rights import check_key
from scripts.swarm_v2.memory.redirects import check_circle, hop, instance_for, owner_of
from scripts.swarm_v2.memory.reserved import check_form
from scripts.swarm_v2.memory.store import ABSENT, Change, Commit, Seen, Write
from scripts.swarm_v2.memory.transactions import Annotated
from scripts.swarm_v2.scope_key import SESSION, SPACE, DirtyKey, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import Basis, Document, DocumentStore
    from scripts.swarm_v2.scope_key import Identity


class Admission:
    """Makes the commit that the store will write whole or refuse whole.

    A set, delete or erase that would change nothing is left out; that it changes nothing
    becomes a read of the commit. (A patch is not looked at: that would cost its whole document.)
    What is wrong with a value, the store says before it writes anything.
    """

    def __init__(self, store: DocumentStore) -> None:
        self._store = store

    def authored(
        self, proposal: Proposal, session: Session, at: str, *, elide: bool = True
    ) -> Commit:
        """Build what a session proposes, on its own instances.

        Raises:
            MemoryRefused: ``session-missing``, ``session-retired``; ``identity-missing`` for a
                scope that the session's identity does not reach, ``instance-unnamed`` for a
                scope of the service itself; ``derived-write``, ``document-reserved``,
                ``person-unproven``, ``link-circle``.
        """
        session.check_open()
        for one in proposal.writes:
            check_form(one.id, one.scope, one.op, one.value)
        scopes = {one.scope for one in proposal.writes} | {one.scope for one in proposal.reads}
        if session.holder and scopes - {SPACE}:
            sentence = "a service has no instances of its own to write"
            raise MemoryRefused("instance-unnamed", sentence)
        writes = [
            Write(one.id, _own(session, one), one.op, one.value, one.base)
            for one in proposal.writes
        ]
        reads = tuple(
            Seen(session.space, _own(session, one), one.id, one.seq) for one in proposal.reads
        )
        if not session.is_home:
            reads += refuse_claims(self._store, session.space, writes)
        commit = Commit("authored", tuple(writes), reads, (), session.session_key, at=at)
        return self._checked(session.space, commit, session.identity, elide=elide)

    def commit_authored(
        self,
        proposal: Proposal,
        session: Session,
        at: str,
        completed: Callable[[Commit], Commit] | None = None,
    ) -> Change | None:
        """Build and write; return what changed, None where nothing did.

        ``completed`` adds what goes with it of the engine's own, all or nothing.

        Raises:
            MemoryRefused: as ``authored``; ``stale-base``, ``stale-read``.
        """
        complete = completed or (lambda commit: commit)
        commit = complete(self.authored(proposal, session, at))
        relies = len(commit.reads) > len(proposal.reads)
        try:
            seq = self._store.commit(session.space, commit)
        except MemoryRefused as refused:
            if refused.code != "stale-read" or not relies:
                raise
            # What was found here, not by the author, moved meanwhile: what would have changed
            # nothing may change something now, a redirect may close a circle.
            commit = complete(self.authored(proposal, session, at, elide=False))
            seq = self._store.commit(session.space, commit)
        return change_of(seq, commit) if seq else None

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
                ``instance-unnamed``, ``scope-key-malformed``, ``scope-key-mismatch``.
        """
        session.check_open()
        if not session.holder or session.space != space:
            sentence = "only the session that serves a space commits what is derived there"
            raise MemoryRefused("lease-lost", sentence)
        rows, inputs, seen = tuple(map(_keyed, writes)), tuple(basis), tuple(reads)
        _check_basis(inputs, seen)
        commit = Commit("derived", rows, seen, inputs, session.session_key, session.holder, at)
        return self._checked(space, commit, None)

    def system(
        self, space: str, writes: Iterable[Write], at: str, *, carried: Iterable[str] = ()
    ) -> Commit:
        """Build what a migration or import writes.

        It has no session: a write at a session instance is refused (``identity-missing``),
        unless ``carried`` holds that very key, since the rows brought it with them.
        """
        rows, brought = tuple(map(_keyed, writes)), frozenset(carried)
        for row in rows:
            if scope_of(row.scope_key) == SESSION and row.scope_key not in brought:
                raise MemoryRefused("identity-missing", "a job has no session to write for")
        return self._checked(space, Commit("system", rows, at=at), None)

    def _checked(
        self, space: str, commit: Commit, identity: Identity | None, *, elide: bool = True
    ) -> Commit:
        check_space(space)
        for write in commit.writes:
            check_id(write.id)
        passed = self._refuse_circles(space, commit.writes, identity)
        commit = commit._replace(reads=(*commit.reads, *passed))
        return self._elided(space, commit) if elide else commit

    def _refuse_circles(
        self, space: str, writes: tuple[Write, ...], identity: Identity | None
    ) -> dict[Seen, None]:
        """Walk from each redirect that is written, as its author or as whose instance it is.

        Returns what was read: two commits that close a circle together each rely on the other's.
        """
        # boundary: what one commit is about to write, for the length of this call.
        pending: dict[InstanceKey, Write] = {
            InstanceKey(space, write.scope_key, write.id): write for write in writes
        }
        read: dict[Seen, None] = {}
        for start, write in pending.items():
            if write.op in VALUED and is_link(write.value):
                self._walk(start, pending, identity or owner_of(start.scope_key), read)
        return read

    def _walk(
        self,
        key: InstanceKey,
        pending: dict[InstanceKey, Write],
        identity: Identity,
        read: dict[Seen, None],
    ) -> None:
        passed = {key}
        value: object = pending[key].value
        while is_link(value):
            try:
                key = hop(key, parse_link(value), identity)
            except MemoryRefused:  # it leads to whoever reads it: no circle of this author's
                return
            check_circle(key, passed)
            if key in pending:
                value = pending[key].value
                continue
            document = self._store.read(*key)
            read[Seen(*key, document.seq if document else ABSENT)] = None
            value = document and document.value

    def _elided(self, space: str, commit: Commit) -> Commit:
        keys = [DirtyKey(write.scope_key, write.id) for write in commit.writes]
        each = list(zip(keys, commit.writes, strict=True))
        asked = [key for key, write in each if _may_change_nothing(write)]
        if not asked or len(set(keys)) < len(keys):
            return commit
        try:
            heads = self._store.read_many(space, asked)
        except MemoryRefused as refused:
            if refused.code != "store-damaged":
                raise
            return commit  # what cannot be read any more is replaced
        kept: list[Write] = []
        reads = list(commit.reads)
        for key, write in each:
            head = heads.get(key)
            seq = head.seq if head else ABSENT
            if write.base in (None, seq) and _changes_nothing(write, head):
                reads.append(Seen(space, *key, seq))
            else:
                kept.append(write)
        return commit._replace(writes=tuple(kept), reads=tuple(reads))


def _own(session: Session, asked: Asked | AskedRead) -> str:
    address = Address(session.space, asked.id, asked.scope)
    return instance_for(address, session.identity).scope_key


def _keyed(write: Annotated | Write) -> Write:
    """Check the annotation of a derived write, in the order that A3 gives, and take it."""
    if isinstance(write, Annotated):
        write = Write(write.id, _annotation(write), write.op, write.value, write.base)
    check_key(write.scope_key)
    return write


def _annotation(write: Annotated) -> str:
    scope, key = check_scope(write.scope), write.scope_key
    if scope == SPACE:
        if key is not None:
            sentence = "a write at space scope has no instance to name"
            raise MemoryRefused("scope-key-mismatch", sentence)
        return SPACE
    if key is None:
        sentence = f"a derived write at {scope} scope names its instance"
        raise MemoryRefused("instance-unnamed", sentence)
    check_key(key)
    if scope_of(key) != scope:
        raise MemoryRefused("scope-key-mismatch", f"the scope key is none of scope {scope}")
    return key


def _check_basis(basis: tuple[Basis, ...], reads: tuple[Seen, ...]) -> None:
    for one in basis:
        for key in (one.scope_key, *one.drop):
            check_key(key)
    for seen in (*(row for one in basis for row in one.seen), *reads):
        check_key(seen.scope_key)
        check_id(seen.id)
        check_space(seen.space)


def _may_change_nothing(write: Write) -> bool:
    return write.op in ("set", "delete") or (write.op == "erase" and write.value is None)


def _changes_nothing(write: Write, head: Document | None) -> bool:
    if not _may_change_nothing(write):
        return False
    if write.op == "set":
        return head is not None and not head.deleted and same(head.value, write.value)
    if write.op == "delete":
        return head is None or head.deleted
    return head is None or head.op == "erase"


def change_of(seq: int, commit: Commit) -> Change:
    """Return what the feed will say of a commit that became ``seq``."""
    touched = dict.fromkeys(DirtyKey(write.scope_key, write.id) for write in commit.writes)
    return Change(seq, commit.kind, tuple(touched), commit.session_key, commit.holder)
