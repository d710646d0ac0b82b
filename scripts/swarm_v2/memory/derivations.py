"""What is computed from documents: who declares it, where its result goes, what it was made from.

One run has one identity. Its result goes to the narrowest instance that it read anything from;
every broader address on the way holds a link to the next one, and is never taken back.
"""

from __future__ import annotations

from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.document import SCOPES, is_link, make_link, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.store import ABSENT, Basis, Document, Seen, Write
from scripts.swarm_v2.memory.transactions import head_of
from scripts.swarm_v2.scope_key import (
    SPACE,
    DirtyKey,
    can_resolve,
    resolve_scope_key,
    scope_of,
)
from scripts.swarm_v2.wire_json import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import NamedTuple

    from scripts.swarm_v2.memory.store import DocumentStore
    from scripts.swarm_v2.memory.transactions import Logged, Transaction
    from scripts.swarm_v2.scope_key import Identity, Scope

    OwnKey = str  # a scope key, of an instance of what the collection is about
else:
    from hooks.record import NamedTuple

PERSON = "person"  # the space of what a person lets cross projects: user instances only
FLEET = "fleet"  # the space of what was shared with everybody
# What documents of a wrong shape can raise in a derivation. Another fault is a program's error,
# and is not hidden.
FAULTY = (MemoryRefused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Roots(NamedTuple):
    """The spaces that one run may read; no link leads from one into another.

    ``joined`` are those that the person aliased to ``space``. ``""`` for a root: not read.
    """

    space: str
    joined: tuple[str, ...] = ()
    person: str = PERSON
    fleet: str = FLEET
    project: str = ""  # as people read it; "" for ``space``

    @property
    def title(self) -> str:
        return self.project or self.space

    @property
    def everything(self) -> tuple[str, ...]:
        """Return every space that a run may read, its own first."""
        others = (*self.joined, self.person, self.fleet)
        return (self.space, *(one for one in dict.fromkeys(others) if one and one != self.space))


class Output(NamedTuple):
    """Where a derivation says that its result is."""

    id: str
    scope: Scope = SPACE


class Derivation(NamedTuple):
    """``run`` reads through its transaction and returns the value; it writes nothing itself.

    Equal documents give an equal value: no clock, no environment, no order of arrival.
    """

    name: str
    output: Output
    run: Callable[[Transaction, Roots], object]
    reads_roots: bool = False  # every one of them: other roots ask for another run


class Outcome(NamedTuple):
    """What one run has to commit. No writes and no basis: nothing that anybody could notice."""

    key: str  # the instance that the value belongs to
    writes: tuple[Write, ...]
    seen: tuple[Seen, ...]
    basis: tuple[Basis, ...]


def narrower_of(one: Scope, other: Scope) -> Scope:
    return max(one, other, key=SCOPES.index)


def broader(scope: Scope) -> tuple[Scope, ...]:
    """Return the scopes above ``scope``, the broadest first."""
    return SCOPES[: SCOPES.index(scope)]


def chain(scope: Scope, identity: Identity) -> tuple[str, ...]:
    """Return ``identity``'s keys at ``scope`` and above, the broadest first."""
    return tuple(resolve_scope_key(one, identity) for one in (*broader(scope), scope))


def key_of(logged: Logged) -> InstanceKey:
    """Return the instance that was read; a transaction logs no key for what is everybody's."""
    return logged.key or InstanceKey(logged.address.space, SPACE, logged.address.id)


def seen_by(log: Iterable[Logged]) -> tuple[Seen, ...]:
    """Return each instance of a log once, as it was when it was read first."""
    first: dict[InstanceKey, int] = {}
    for logged in log:
        first.setdefault(key_of(logged), logged.seq)
    return tuple(Seen(*key, seq) for key, seq in first.items())


def depth_of(log: Iterable[Logged]) -> Scope:
    """Return the narrowest scope of what was found there; what was absent narrows nothing."""
    found = {scope_of(key_of(logged).scope_key) for logged in log if logged.present}
    return max(found, key=SCOPES.index, default=SPACE)


def residue(
    seen: Iterable[Seen | InstanceKey], scope_key: str, identity: Identity
) -> list[InstanceKey]:
    """Return what ``identity`` must not have, to be served by the instance ``scope_key``.

    An instance is narrower than no document that was present when it was made. So its inputs at
    a narrower scope were absent, for whom it ran as; each other one that it serves has instances
    of its own there. Those that ``identity`` cannot have are left out.
    """
    above = SCOPES.index(scope_of(scope_key))
    found = []
    for one in seen:
        scope = scope_of(one.scope_key)
        if SCOPES.index(scope) > above and can_resolve(scope, identity):
            found.append(InstanceKey(one.space, resolve_scope_key(scope, identity), one.id))
    return list(dict.fromkeys(found))


def present(store: DocumentStore, keys: Iterable[InstanceKey]) -> list[InstanceKey]:
    """Return those of ``keys`` that hold a value; one question for each space."""
    return [key for key, document in _documents(store, keys) if not document.deleted]


def erased(store: DocumentStore, keys: Iterable[InstanceKey]) -> list[InstanceKey]:
    """Return those of ``keys`` that were erased."""
    return [key for key, document in _documents(store, keys) if document.op == "erase"]


def _documents(
    store: DocumentStore, keys: Iterable[InstanceKey]
) -> Iterator[tuple[InstanceKey, Document]]:
    by_space: dict[str, list[DirtyKey]] = {}
    for key in dict.fromkeys(keys):
        by_space.setdefault(key.space, []).append(DirtyKey(key.scope_key, key.id))
    for space, wanted in by_space.items():
        for name, document in _read_all(store, space, wanted).items():
            yield InstanceKey(space, *name), document


def outcome(
    store: DocumentStore,
    space: str,
    derivation: Derivation,
    identity: Identity,
    value: object,
    log: Sequence[Logged],
    floor: Scope = SPACE,
) -> Outcome:
    """Return what the run of ``identity`` that gave ``value`` has to commit.

    ``floor`` is how narrow results of this derivation are known to be for ``identity``; a
    redirect that is stored says so too. An equal value is not written, and where also none of
    the recorded inputs moved nothing is.

    Raises:
        ScopeKeyError: a redirect leads to a session, and ``identity`` has none.
    """
    document_id = derivation.output.id
    rows = rows_of(store, space, document_id, identity)
    depth = narrower_of(narrower_of(derivation.output.scope, floor), depth_of(log))
    depth = below_redirects(rows, depth, identity)
    keys = chain(depth, identity)
    writes = []
    for place, scope in enumerate((*broader(depth), depth)):
        if SCOPES.index(scope) < SCOPES.index(derivation.output.scope):
            continue
        wanted = value if scope == depth else make_link(document_id, SCOPES[place + 1])
        row = rows.get(keys[place])
        if row is None or row.deleted or not same(row.value, wanted):
            base = row.seq if row else ABSENT
            writes.append(Write(document_id, keys[place], "set", wanted, base))
    seen = seen_by(log)
    if not writes and store.moved(space, derivation.name, keys[-1]) == []:
        return Outcome(keys[-1], (), seen, ())
    basis = Basis(derivation.name, keys[-1], seen, keys[:-1])
    return Outcome(keys[-1], tuple(writes), seen, (basis,))


def without_history(writes: Iterable[Write]) -> tuple[Write, ...]:
    """Return the same writes letting go of the values of before.

    They can be made again, would be most of the store, and repeat words that may be forgotten.
    """
    found: list[Write] = []
    for write in writes:
        if write.base == ABSENT:
            found.append(write)
        else:
            found.append(Write(write.id, write.scope_key, "erase", base=write.base))
            found.append(write._replace(base=None))
    return tuple(found)


def rows_of(
    store: DocumentStore, space: str, document_id: str, identity: Identity
) -> dict[str, Document]:
    """Return the instances of a document that ``identity`` can reach, by their keys."""
    keys = [resolve_scope_key(one, identity) for one in SCOPES if can_resolve(one, identity)]
    found = _read_all(store, space, [DirtyKey(key, document_id) for key in keys])
    return {name.scope_key: document for name, document in found.items()}


def _read_all(
    store: DocumentStore, space: str, names: Sequence[DirtyKey]
) -> dict[DirtyKey, Document]:
    """As ``read_many``; what is damaged has no value, and the number of its head."""
    try:
        return store.read_many(space, names)
    except MemoryRefused as refused:
        if refused.code != "store-damaged":
            raise
    found = {}
    for name in names:
        try:
            document = store.read(space, *name)
        except MemoryRefused as refused:
            if refused.code != "store-damaged":
                raise
            document = Document(space, *name, head_of(store, InstanceKey(space, *name)))
        if document is not None:
            found[name] = document
    return found


def below_redirects(rows: dict[str, Document], depth: Scope, identity: Identity) -> Scope:
    """Return how deep the stored redirects lead ``identity`` from ``depth``."""
    place = SCOPES.index(depth)
    while place + 1 < len(SCOPES):
        row = rows.get(resolve_scope_key(SCOPES[place], identity))
        if row is None or row.deleted or not is_link(row.value):
            break
        place += 1
    return SCOPES[place]


class ResultSlots:
    """Where each instance of one derivation has its result.

    There is no "the result of a session": who asks says for whom.
    """

    def __init__(self, space: str, output: Output) -> None:
        self._space, self._output = space, output
        # site 3: the output of each instance, by its scope key.
        self._slots: dict[OwnKey, Address] = {}

    def put(self, returned: Scope, narrowest: Scope, identity: Identity) -> Address:
        """Note a result at the narrowest of what is declared, returned and read; return where."""
        scope = narrower_of(narrower_of(self._output.scope, returned), narrowest)
        key = resolve_scope_key(scope, identity)
        found = Address(self._space, self._output.id, scope, scope_key=key)
        self._slots[key] = found
        return found

    def get(self, scope: Scope, identity: Identity) -> Address | None:
        """Return where ``identity`` has its result at ``scope``; None where there is none.

        Raises:
            ScopeKeyError: ``identity`` lacks what the scope needs.
        """
        return self._slots.get(resolve_scope_key(scope, identity))

    def drop(self, scope_key: str) -> None:
        self._slots.pop(scope_key, None)

    def __len__(self) -> int:
        return len(self._slots)


class CompositionCache:
    """Which plan each instance of a document was last composed by.

    A run that returns an equal plan keeps the parts that were made for *its* instance. What
    another instance's plan was says nothing about them.
    """

    def __init__(self) -> None:
        # site 2: by document, then by the run's own output instance: the print of its plan.
        self._plans: dict[tuple[str, str], dict[OwnKey, str]] = {}

    def keeps(self, space: str, document_id: str, scope_key: str, plan: object) -> bool:
        """Say whether the parts of this instance can stay; note its plan."""
        inner = self._plans.setdefault((space, document_id), {})
        new = _print_of(plan)
        old, inner[scope_key] = inner.get(scope_key), new
        return old == new

    def changed(self, space: str, document_id: str) -> None:
        """Drop every instance of a document that somebody else changed: news name only that."""
        self._plans.pop((space, document_id), None)

    def failed(self, space: str, document_id: str, scope_key: str, plan: object) -> None:
        """Drop what a commit that came to nothing noted, if it is still that one's."""
        inner = self._plans.get((space, document_id), {})
        if inner.get(scope_key) == _print_of(plan):
            del inner[scope_key]

    def reset(self, space: str) -> None:
        for outer in [one for one in self._plans if one[0] == space]:
            del self._plans[outer]


def _print_of(plan: object) -> str:
    return short_digest(canonical(plan))
