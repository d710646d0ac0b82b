"""A watched part of the graph: what it reached, what it missed, and how it is kept current."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import NamedTuple

    from scripts.swarm_v2.memory.address import Address
    from scripts.swarm_v2.memory.loader import DocumentLoader
    from scripts.swarm_v2.memory.store import Document, DocumentStore
    from scripts.swarm_v2.memory.traversal import MissLedger, SchemaTracker
    from scripts.swarm_v2.scope_key import DirtyKey, Identity
else:
    from hooks.record import NamedTuple


class Query(NamedTuple):
    """A root, and how much of what hangs on it is wanted (selectors.py says which schemas).

    ``at_seq`` asks for the graph as it was after that commit.
    """

    root: Address
    schema: object = True
    kind: str = "document"
    branch: str = ""
    at_seq: int | None = None


class TrackedQuery:
    """One query for one identity.

    Attributes:
        entities: every tracked document, tombstones too, by (scope key, id).
        fresh: the keys that the last ``evaluate`` or ``refresh`` read anew.
        gone: the keys that the last whole ``evaluate`` no longer reached; ``refresh`` never
            takes anything away and leaves it empty.
        seq: the space's number before the last whole evaluation: changes above it count.
        visited: roots walked by the last ``evaluate``; 0 in one that was served from a cache.
        reads: instances asked of the store for it, probes too.
    """

    entities: Mapping[DirtyKey, Document]
    fresh: set[DirtyKey]
    gone: set[DirtyKey]
    tracker: SchemaTracker
    misses: MissLedger
    loader: DocumentLoader

    def __init__(self, store: DocumentStore, query: Query, identity: Identity) -> None:
        """Prepare it; nothing is read.

        Raises:
            MemoryRefused: ``watch-invalid``, ``identity-missing``, ``scope-key-malformed``.
        """
        raise NotImplementedError

    def evaluate(self) -> TrackedQuery:
        """Walk all of it anew and return itself."""
        raise NotImplementedError

    def touches(self, dirty: Iterable[DirtyKey]) -> bool:
        """Say whether a changed instance is one that it reached, or missed."""
        raise NotImplementedError

    def refresh(self, dirty: Iterable[DirtyKey]) -> bool:
        """Walk again from those of ``dirty`` that it reached or missed; False where none is."""
        raise NotImplementedError

    @property
    def result(self) -> object:
        """Return the root's value, links replaced by what they lead to; MISSING where none is."""
        raise NotImplementedError

    def clone(self, identity: Identity | None = None) -> TrackedQuery:
        """Return an independent copy, for the same identity or bound to another one."""
        raise NotImplementedError
