"""One run, as one identity: what it read, what it writes, how narrow it came out.

A *redirect* is a document whose whole value is one link. A reader follows it into its own
instance, and so does a writer: what is rewritten is what it leads to.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.address import (
    Address,
    InstanceKey,
    instance_key,
)
from scripts.swarm_v2.memory.document import (
    MISSING,
    at,
    is_link,
    merge,
    parse_link,
)
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.redirects import check_circle, hop, instance_for
from scripts.swarm_v2.memory.store import ABSENT, Seen
from scripts.swarm_v2.scope_key import (
    SESSION,
    SPACE,
    USER,
    DirtyKey,
    Identity,
    applies_to,
    scope_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NamedTuple

    from scripts.swarm_v2.memory.store import Document, DocumentStore, Op, Reader
    from scripts.swarm_v2.scope_key import Scope
else:
    from hooks.record import NamedTuple

TRIES = 3


class Annotated(NamedTuple):
    """A write of a run. ``scope_key`` names the instance of a scoped one; at space there is none.

    ``base`` is the sequence number that the run found there.
    """

    id: str
    scope: Scope
    op: Op
    value: object = None
    base: int | None = None
    scope_key: str | None = None


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
        return self.key or instance_key(self.address, Identity())


class _Place(NamedTuple):
    """Where the redirects of an address end, and what path is left to go there."""

    key: InstanceKey
    path: tuple[str, ...]


class Transaction:
    """Reads are repeatable: an instance read twice shows one version.

    Own writes are seen by later reads, and are not logged as inputs. ``consistent`` says whether
    all that was read stands at one moment.
    """

    def __init__(self, store: Reader, space: str, *, branch: str = "") -> None:
        self.space = space
        self._store, self._branch = store, branch
        self._identity: Identity | None = None
        self._begun = False
        self._log: list[Logged] = []
        # boundary: a run's snapshot (read set and bases), one identity's; None is an absence.
        self._found: dict[InstanceKey, Document | None] = {}
        # boundary: a run's pending values, seen by its own reads; MISSING is a deletion.
        self._pending: dict[InstanceKey, object] = {}
        self._writes: list[tuple[InstanceKey, Annotated]] = []

    def act_as(self, identity: Identity) -> None:
        """Set who acts, before the first read; the same again does nothing.

        Raises:
            MemoryRefused: ``identity-changed`` for another one, or after a read.
        """
        if self._identity is not None and self._identity == identity:
            return
        if self._identity is not None or self._begun:
            sentence = "a transaction acts as one identity, set before its first read"
            raise MemoryRefused("identity-changed", sentence)
        self._identity = identity

    def read(self, address: Address, schema: object = True) -> object:
        """Return the value at an address, redirects followed; MISSING where there is none.

        ``schema`` is recorded: how much of the value the reader uses.

        Raises:
            MemoryRefused: ``identity-missing``, ``link-circle``, ``instance-unnamed`` where a
                redirect of somebody else's instance leads on to nobody in particular.
        """
        place = self._end(address, schema)
        return at(self._value(place.key), place.path)

    def read_many(self, addresses: Iterable[Address], schema: object = True) -> list[object]:
        """Return what ``read`` would, with one question to the store per space."""
        wanted = list(addresses)
        self._fetch([self._key(address) for address in wanted])
        return [self.read(address, schema) for address in wanted]

    def document(self, address: Address, schema: object = True) -> Document | None:
        """Return the stored document at an address, redirects followed; a tombstone too."""
        return self._peek(self._end(address, schema).key)

    def write(self, address: Address, value: object) -> InstanceKey:
        """Set a whole document; a redirect there stays, and what it leads to is set."""
        key = self._target(address)
        self._put(key, "set", value)
        return key

    def patch(self, address: Address, patch: object) -> InstanceKey:
        """Merge into a document what somebody else may be merging into too: it has no base."""
        key = self._target(address)
        before = self._value(key)
        self._pending[key] = merge(None if before is MISSING else before, patch)
        self._writes.append((key, self._annotated(key, "patch", patch, None)))
        return key

    def delete(self, address: Address) -> InstanceKey:
        """Delete what stands at the end of the redirects; they stay."""
        key = self._target(address)
        self._put(key, "delete", None)
        return key

    def consistent(self) -> bool:
        """Say whether everything read is still as it was read: one moment for all of it."""
        seen = {InstanceKey(one.space, one.scope_key, one.id): one.seq for one in self.seen}
        return self._store.heads(seen, branch=self._branch) == seen

    @property
    def identity(self) -> Identity:
        """Return who acts; nobody in particular where that was not said."""
        return self._identity or Identity()

    @property
    def log(self) -> tuple[Logged, ...]:
        return tuple(self._log)

    @property
    def seen(self) -> tuple[Seen, ...]:
        """Return each instance that was read, once, for the commit's read set and its basis."""
        seqs = {one.instance: one.seq for one in self._log}
        return tuple(Seen(*key, seq) for key, seq in seqs.items())

    @property
    def narrowest(self) -> Scope:
        """Return the narrowest scope at which something was found; an absent read narrows none."""
        found = {scope_of(one.instance.scope_key) for one in self._log if one.present}
        return SESSION if SESSION in found else USER if USER in found else SPACE

    @property
    def writes(self) -> tuple[Annotated, ...]:
        return tuple(write for _, write in self._writes)

    def _key(self, address: Address) -> InstanceKey:
        self._begun = True
        return instance_for(address, self._identity or Identity())

    def _fetch(self, keys: Iterable[InstanceKey]) -> None:
        missing = [key for key in dict.fromkeys(keys) if key not in self._found]
        for space in dict.fromkeys(key.space for key in missing):
            asked = [DirtyKey(key.scope_key, key.id) for key in missing if key.space == space]
            try:
                found = self._store.read_many(space, asked, branch=self._branch)
            except MemoryRefused as refused:
                if refused.code != "store-damaged":
                    raise
                continue  # which one it is comes out, and into the log, where that one is read
            for one in asked:
                self._found[InstanceKey(space, *one)] = found.get(one)

    def _peek(self, key: InstanceKey) -> Document | None:
        """Return the document without logging a read: for bases and redirects of own outputs."""
        if key not in self._found:
            self._found[key] = self._store.read(*key, branch=self._branch)
        return self._found[key]

    def _value(self, key: InstanceKey) -> object:
        if key in self._pending:
            return self._pending[key]
        document = self._peek(key)
        return MISSING if document is None or document.deleted else document.value

    def _end(self, address: Address, schema: object, *, log: bool = True) -> _Place:
        key, path = self._key(address), address.path
        passed = {key}
        while True:
            try:
                value = self._value(key)
            except MemoryRefused as refused:
                if log and refused.code == "store-damaged":
                    self._note(key, path, schema)
                raise
            link = parse_link(value) if is_link(value) else None
            if log and key not in self._pending:
                self._note(key, () if link else path, True if link else schema)
            if link is None:
                return _Place(key, path)
            key, path = hop(key, link, self._identity or Identity()), (*link.path, *path)
            check_circle(key, passed)

    def _note(self, key: InstanceKey, path: tuple[str, ...], schema: object) -> None:
        scope, identity = scope_of(key.scope_key), self._identity or Identity()
        named = None if applies_to(key.scope_key, identity) else key.scope_key
        address = Address(key.space, key.id, scope, path, named)
        logged = None if scope == SPACE or self._identity is None else key
        if key in self._found:
            document = self._found[key]
            present = document is not None and not document.deleted
            seq = document.seq if document else ABSENT
        else:  # it is damaged, and there: the next write of it is news
            present, seq = True, head_of(self._store, key, self._branch)
        self._log.append(Logged(address, logged, seq, present, schema))

    def _target(self, address: Address) -> InstanceKey:
        place = self._end(address, True, log=False)
        if place.path:
            raise MemoryRefused("request-invalid", "a document is written whole, not at a path")
        return place.key

    def _put(self, key: InstanceKey, op: Op, value: object) -> None:
        document = self._peek(key)
        base = document.seq if document else ABSENT
        self._writes = [one for one in self._writes if one[0] != key]
        self._writes.append((key, self._annotated(key, op, value, base)))
        self._pending[key] = MISSING if op == "delete" else value

    def _annotated(self, key: InstanceKey, op: Op, value: object, base: int | None) -> Annotated:
        if key.space != self.space:
            sentence = "a transaction writes into its own space only"
            raise MemoryRefused("space-invalid", sentence)
        scope = scope_of(key.scope_key)
        return Annotated(key.id, scope, op, value, base, None if scope == SPACE else key.scope_key)


def head_of(store: Reader, key: InstanceKey, branch: str = "") -> int:
    """Return the number of a document that cannot be read; ABSENT where its head is damaged too."""
    try:
        return store.heads([key], branch=branch)[key]
    except MemoryRefused as refused:
        if refused.code != "store-damaged":
            raise
        return ABSENT


def of_one_moment(
    store: DocumentStore, space: str, identity: Identity, run: Callable[[Transaction], object]
) -> tuple[object, Transaction]:
    """Return what ``run`` gave, and its transaction, where all that it read stood at one moment.

    It runs again where something moved meanwhile, ``TRIES`` times; a store that changes faster
    than it is read is taken as it was read last.
    """
    tries = TRIES
    while True:
        transaction = Transaction(store, space)
        transaction.act_as(identity)
        value, tries = run(transaction), tries - 1
        if not tries or transaction.consistent():
            return value, transaction
