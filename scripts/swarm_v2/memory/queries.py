"""A watched part of the graph: what it reached, what it missed, and how it is kept current."""

from __future__ import annotations

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.document import check_id, check_space
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.loader import DocumentLoader, own_instance
from scripts.swarm_v2.memory.overlay import Overlay
from scripts.swarm_v2.memory.selectors import Selector, compile_schema, moved
from scripts.swarm_v2.memory.traversal import (
    MissLedger,
    SchemaMemo,
    SchemaTracker,
    Step,
    Traverser,
    target,
)
from scripts.swarm_v2.memory.values import ValueBuilder
from scripts.swarm_v2.scope_key import DirtyKey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NamedTuple

    from scripts.swarm_v2.memory.address import Address
    from scripts.swarm_v2.memory.selectors import Reached
    from scripts.swarm_v2.memory.store import Document, DocumentStore
    from scripts.swarm_v2.scope_key import Identity

    _News = dict[Selector, tuple[Reached, ...]]
else:
    from hooks.record import NamedTuple

KIND = "document"


class Query(NamedTuple):
    """A root, and how much of what hangs on it is wanted (selectors.py says which schemas).

    ``at_seq`` asks for the graph as it was after that commit.
    """

    root: Address
    schema: object = True
    kind: str = KIND
    branch: str = ""
    at_seq: int | None = None


class TrackedQuery:
    """One query for one identity.

    Attributes:
        entities: every tracked document that is or was there, by (scope key, id).
        fresh: the keys that the last ``evaluate`` or ``refresh`` read anew; none in a clone.
        gone: the keys that the last ``evaluate`` no longer reached, nor has anything for;
            ``refresh`` never takes anything away and leaves it empty.
        seq: the space's number before the last whole evaluation: changes above it count.
        visited: roots walked by the last ``evaluate``; 0 where a cache served it.
        reads: instances asked of the store for it, probes too.
        unresolved: some link asked for a scope that the identity has no instance of.
        broken: instances whose redirects go in a circle or do not end within the limit.
    """

    def __init__(self, store: DocumentStore, query: Query, identity: Identity) -> None:
        """Prepare it; nothing is read.

        Raises:
            MemoryRefused: ``watch-invalid``, ``id-invalid``, ``space-invalid``,
                ``scope-unknown``, ``scope-key-malformed``, ``identity-missing``.
        """
        if query.kind != KIND:
            raise MemoryRefused(
                "watch-invalid", f"there are watches of documents, not {query.kind}"
            )
        check_space(query.root.space)
        check_id(query.root.id)
        self.store, self.query, self.identity = store, query, identity
        self.root = own_instance(query.root, identity)
        self.selector = Selector(query.root.path, compile_schema(query.schema))
        self.entities: Overlay[DirtyKey, Document] = Overlay()
        self.fresh: set[DirtyKey] = set()
        self.gone: set[DirtyKey] = set()
        self.seq = self.visited = self.reads = 0
        self.unresolved = False
        self.broken: set[InstanceKey] = set()
        self._begin()

    def evaluate(self) -> TrackedQuery:
        """Walk all of it anew and return itself."""
        before = self.entities
        self.seq = self.store.seq(self.root.space)
        self._begin()
        self.entities, self.broken, self.unresolved = Overlay(), set(), False
        self._walk([Step(self.root, self.selector)], self.loader)
        self.visited = 1
        self.gone = {key for key in before if key not in self.entities}
        return self

    def touches(self, dirty: Iterable[DirtyKey]) -> bool:
        """Say whether a changed instance is one that it reached, or missed."""
        return bool(self._affected(dirty))

    def refresh(self, dirty: Iterable[DirtyKey]) -> bool:
        """Walk again from those of ``dirty`` that it reached or missed; False where none is.

        Only what they want is walked, with a loader and a memo of its own, then merged.
        """
        affected = self._affected(dirty)
        self.fresh, self.gone = set(), set()
        if not affected:
            return False
        loader = self._loader()
        documents = loader.load_instances(affected)
        known = {key: self._news(key, documents[key]) for key in affected}
        for key in affected:
            if known[key] is None:
                self.misses.release(key)
        steps: list[Step] = []
        for key in affected:
            if documents[key] is None:  # it was there, and retention took the very row
                self.entities.pop(DirtyKey(key.scope_key, key.id))
            steps += self._again(key, documents[key], known[key] or {})
        self.memo = SchemaMemo()
        self._walk(steps, loader)
        self.loader.merge_from(loader)
        return True

    @property
    def result(self) -> object:
        """Return the root's value, links replaced by what they lead to; MISSING where none is.

        Equal parts are one object: read it, never change it.
        """
        builder = ValueBuilder(self.loader, self.memo)
        return builder.build(self.query.root, self.root, self.selector.schema)

    def clone(
        self,
        identity: Identity,
        rename: Callable[[InstanceKey], InstanceKey] | None = None,
    ) -> TrackedQuery:
        """Return an independent copy with a fresh memo, bound to ``identity``.

        For another one its misses get that one's keys by ``rename``. Whether an
        evaluation may be handed on is the evaluation cache's to say.
        """
        copy = TrackedQuery(self.store, self.query, identity)
        copy.tracker, copy.entities = self.tracker.fork(), self.entities.fork()
        copy.misses = self.misses.fork() if rename is None else self.misses.rekeyed(rename)
        copy.loader = self.loader.shared_with(identity)
        copy.seq = self.seq
        copy.broken, copy.unresolved = set(self.broken), self.unresolved
        return copy

    def _begin(self) -> None:
        self.tracker, self.misses, self.memo = SchemaTracker(), MissLedger(), SchemaMemo()
        self.loader = self._loader()

    def _loader(self) -> DocumentLoader:
        query = self.query
        return DocumentLoader(
            self.store, query.root.space, self.identity, branch=query.branch, at_seq=query.at_seq
        )

    def _affected(self, dirty: Iterable[DirtyKey]) -> list[InstanceKey]:
        if self.query.at_seq is not None:  # the past does not change
            return []
        space = self.root.space
        keys = dict.fromkeys(InstanceKey(space, key, document_id) for key, document_id in dirty)
        return [key for key in keys if key in self.tracker or key in self.misses]

    def _news(self, key: InstanceKey, document: Document | None) -> _News | None:
        """Return, by selector, the links that a changed document did not have before.

        None where it has to be walked anew: it was or is not there, or a link to what is missed
        was taken out of it, and something else in it may lead there too.
        """
        before = self.entities.get(DirtyKey(key.scope_key, key.id))
        if before is None or document is None or before.deleted or document.deleted:
            return None
        news: _News = {}
        missed = self.misses.missed_by(key)
        for selector in self.tracker.selectors(key):
            found = moved(before.value, document.value, selector)
            if found is None:
                return None
            news[selector], went = found
            space, identity = key.space, self.identity
            if missed and any(target(space, one.link, identity) in missed for one in went):
                return None
        return news

    def _again(self, key: InstanceKey, document: Document | None, news: _News) -> list[Step]:
        steps = [
            Step(key, one, self.tracker.hops(key, one), None, True, news.get(one))
            for one in self.tracker.selectors(key)
        ]
        if document is not None:  # a miss that is still one stays with its referrers
            steps += [Step(key, selector) for selector in self.misses.resolve(key)]
        return steps

    def _walk(self, steps: list[Step], loader: DocumentLoader) -> None:
        traverser = Traverser(loader, self.tracker, self.misses, self.memo)
        traverser.walk(steps)
        self.unresolved = self.unresolved or traverser.unresolved
        self.broken |= traverser.broken
        self.reads = loader.loads
        self.fresh = set()
        for document in loader.present():
            key = DirtyKey(document.scope_key, document.id)
            self.entities[key] = document
            self.fresh.add(key)
