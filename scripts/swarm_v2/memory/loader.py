"""Documents of one space as one identity sees them, each asked of the store at most once.

What is cached is a document or its *absence*, by instance, id and kind. Instances that were
named explicitly lie beside the identity's own.
"""

from __future__ import annotations

from scripts.swarm_v2.errors import ScopeKeyError
from scripts.swarm_v2.memory.address import InstanceKey, instance_key
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.history import document_at
from scripts.swarm_v2.memory.overlay import Overlay
from scripts.swarm_v2.memory.store import ABSENT
from scripts.swarm_v2.scope_key import SPACE, DirtyKey, is_scope_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final, Literal, NamedTuple

    from scripts.swarm_v2.memory.address import Address
    from scripts.swarm_v2.memory.store import Document, DocumentStore
    from scripts.swarm_v2.scope_key import Identity

    Kind = Literal["document", "head"]
else:
    from hooks.record import NamedTuple

DOCUMENT: Final = "document"
HEAD: Final = "head"  # the sequence number alone: no body is read for it


class _Absent:
    """A cached answer: there is none. ``None`` from a cache means that nobody asked."""

    def __repr__(self) -> str:
        return "ABSENT"


_ABSENT: Final = _Absent()


class CacheKey(NamedTuple):
    scope_key: str
    id: str
    kind: Kind


def own_instance(address: Address, identity: Identity) -> InstanceKey:
    """Return the instance that ``identity`` means by ``address``; an explicit key wins.

    Raises:
        MemoryRefused: ``scope-key-malformed``, ``scope-unknown`` or ``identity-missing``.
    """
    if address.scope_key is not None and not is_scope_key(address.scope_key):
        raise MemoryRefused("scope-key-malformed", "a scope key is not canonical")
    try:
        return instance_key(address, identity)
    except ScopeKeyError as err:
        code = "scope-unknown" if err.part == "scope" else "identity-missing"
        raise MemoryRefused(code, str(err)) from None


class DocumentLoader:
    """Loads for one identity, bound at construction.

    ``at_seq`` reads the documents as they were after that commit. ``loads`` counts the bodies
    that were asked of the store, found or not.
    """

    def __init__(
        self,
        store: DocumentStore,
        space: str,
        identity: Identity,
        *,
        branch: str = "",
        at_seq: int | None = None,
    ) -> None:
        self.store, self.space, self.identity = store, space, identity
        self.branch, self.at_seq = branch, at_seq
        self.loads = 0
        # boundary: engine object manager
        self._cached: Overlay[CacheKey, Document | int | _Absent] = Overlay()
        # boundary: engine object manager, what of it was ever somebody's
        self._scoped: set[CacheKey] = set()

    def load(self, address: Address) -> Document | None:
        """Return the document that the identity means, a tombstone too; None where none ever was.

        The path of the address plays no part.

        Raises:
            MemoryRefused: ``identity-missing``, ``scope-unknown``, ``scope-key-malformed``,
                ``link-cross-space`` for another space, or what the store refuses.
        """
        key = self.key_of(address)
        return self.load_instances((key,))[key]

    def load_instances(self, keys: Iterable[InstanceKey]) -> dict[InstanceKey, Document | None]:
        """Return the document of each instance of this space, with one question to the store."""
        answers: dict[InstanceKey, Document | None] = {}
        unknown: dict[DirtyKey, InstanceKey] = {}
        for key in keys:
            found = self._cached.get(CacheKey(key.scope_key, key.id, DOCUMENT))
            if found is None:
                unknown[DirtyKey(key.scope_key, key.id)] = key
            else:
                answers[key] = None if isinstance(found, (_Absent, int)) else found
        for name, document in self._fetch([*unknown]).items():
            answers[unknown[name]] = document
        return answers

    def cached(self, key: InstanceKey) -> Document | None:
        """Return what is cached of an instance, and never ask the store."""
        found = self._cached.get(CacheKey(key.scope_key, key.id, DOCUMENT))
        return None if found is None or isinstance(found, (_Absent, int)) else found

    def head(self, address: Address) -> int:
        """Return the sequence number of an instance without reading its body."""
        key = self.key_of(address)
        name = CacheKey(key.scope_key, key.id, HEAD)
        if self.at_seq is not None or name._replace(kind=DOCUMENT) in self._cached:
            document = self.load_instances((key,))[key]
            return ABSENT if document is None else document.seq
        if name not in self._cached:
            self._remember(name, self.store.heads((key,), branch=self.branch)[key])
        seq = self._cached[name]
        return seq if isinstance(seq, int) else ABSENT

    def key_of(self, address: Address) -> InstanceKey:
        """Return the instance that the bound identity means.

        Raises:
            MemoryRefused: as ``load``.
        """
        if address.space != self.space:
            raise MemoryRefused("link-cross-space", "a loader reads one space")
        return own_instance(address, self.identity)

    def present(self) -> Iterable[Document]:
        """Return every cached document, tombstones too."""
        return [one for one in self._cached.values() if not isinstance(one, (_Absent, int))]

    def invalidate(self, keys: Iterable[DirtyKey]) -> None:
        """Forget instances, the identity's own and explicitly named ones alike."""
        for scope_key, document_id in keys:
            self._cached.pop(CacheKey(scope_key, document_id, DOCUMENT))
            self._cached.pop(CacheKey(scope_key, document_id, HEAD))

    def merge_from(self, other: DocumentLoader) -> None:
        """Take what ``other`` knows over what is known here, absences too.

        Raises:
            MemoryRefused: ``identity-changed`` for a loader of another identity, space, branch
                or store.
        """
        if other._bound() != self._bound() or other.store is not self.store:
            raise MemoryRefused("identity-changed", "the other loader reads for somebody else")
        self.invalidate({DirtyKey(key.scope_key, key.id) for key in other._cached})
        for key, found in other._cached.items():
            self._remember(key, found)

    def shared_with(self, identity: Identity) -> DocumentLoader:
        """Return a loader for ``identity`` that knows what this one knows of the space's rows.

        Nothing of a user or a session goes along, their absence neither.
        """
        if identity == self.identity:
            return self.fork()
        other = self._empty(identity)
        other._cached = self._cached.fork()
        for key in self._scoped:
            other._cached.pop(key)
        return other

    def fork(self) -> DocumentLoader:
        """Return an independent loader of the same identity that knows the same."""
        other = self._empty(self.identity)
        other._cached, other._scoped = self._cached.fork(), set(self._scoped)
        return other

    def _empty(self, identity: Identity) -> DocumentLoader:
        return DocumentLoader(
            self.store, self.space, identity, branch=self.branch, at_seq=self.at_seq
        )

    def _bound(self) -> tuple[object, ...]:
        return (self.space, self.branch, self.at_seq, self.identity)

    def _fetch(self, unknown: list[DirtyKey]) -> dict[DirtyKey, Document | None]:
        if not unknown:
            return {}
        self.loads += len(unknown)
        found: dict[DirtyKey, Document | None] = {}
        if self.at_seq is None:
            found.update(self.store.read_many(self.space, unknown, branch=self.branch))
        else:
            for key in unknown:
                found[key] = document_at(self.store, self.space, key, self.at_seq, self.branch)
        for key in unknown:
            document = found.setdefault(key, None)
            self._remember(CacheKey(key.scope_key, key.id, DOCUMENT), document or _ABSENT)
        return found

    def _remember(self, name: CacheKey, found: Document | int | _Absent) -> None:
        self._cached[name] = found
        if name.scope_key != SPACE:
            self._scoped.add(name)
