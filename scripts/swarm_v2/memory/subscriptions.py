"""Who watches what, and what each watcher is told: documents of its own instances, once each.

Used from one thread. Evaluating is ``TrackedQuery``'s; here is decided whose graph is looked at
again, what of it that session has already, and what it may see at this moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scripts.swarm_v2.memory.admission import admit_reads
from scripts.swarm_v2.memory.document import same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.queries import TrackedQuery
from scripts.swarm_v2.memory.session_cache import SessionCache, Shown
from scripts.swarm_v2.scope_key import Identity, applies_to, parse_scope_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scripts.swarm_v2.memory.address import Address
    from scripts.swarm_v2.memory.evaluation_cache import EvaluationCache
    from scripts.swarm_v2.memory.frames import SyncFrame
    from scripts.swarm_v2.memory.queries import Query
    from scripts.swarm_v2.memory.sessions import Session, SessionRegistry
    from scripts.swarm_v2.memory.store import Change, Document, DocumentStore
    from scripts.swarm_v2.scope_key import DirtyKey

MAX_WATCHES = 100  # of one session
_ECHOED = ("set", "delete")  # a patch may have been merged with what its author never saw


class Watch:
    """One watch of one session: what was asked for, and the graph that answers it."""

    __slots__ = ("query", "tracked")

    def __init__(self, query: Query, tracked: TrackedQuery) -> None:
        self.query, self.tracked = query, tracked


class SubscriptionServer:
    """Watches of every open session.

    The feed of a space must be followed from before its first ``watch``.

    Attributes:
        evaluations: whole walks asked for (the cache may have answered).
        refreshes: partial walks.
        withheld: documents that a pass kept from a session that may not see them.
        refused: by space, the sessions whose graphs its last ``flush`` could not evaluate.
    """

    def __init__(
        self, store: DocumentStore, registry: SessionRegistry, cache: EvaluationCache
    ) -> None:
        self._store, self._registry, self._cache = store, registry, cache
        # boundary: dirty keys, by space
        self._dirty: dict[str, set[DirtyKey]] = {}
        self._written: dict[str, dict[int, Session]] = {}
        self._marked: dict[str, int] = {}
        self._caches: WeakKeyDictionary[Session, SessionCache] = WeakKeyDictionary()
        self.evaluations = self.refreshes = self.withheld = 0
        self.refused: dict[str, list[tuple[Session, MemoryRefused]]] = {}

    def watch(self, session: Session, watch_id: str, query: Query) -> SyncFrame:
        """Set one watch of a session; return all that it lacks of it.

        The same id with the same query again is answered with an empty frame; with another
        query, or another explicit key, it is a changed watch and what only the old one showed
        is removed.

        Raises:
            MemoryRefused: ``session-missing``, ``session-retired``; ``watch-invalid`` for
                another space, a query of the past, or one too many; ``scope-key-malformed``,
                ``instance-refused`` (an explicit key of another's, without a live lease;
                whether the row exists plays no part), ``instances-ambiguous``,
                ``identity-missing``, or what the store refuses. The watches are as before.
        """
        session.check_open()
        if query.root.space != session.space or query.at_seq is not None:
            sentence = "a watch is of the session's own space, as it is from now on"
            raise MemoryRefused("watch-invalid", sentence)
        standing = self._standing(session, watch_id)
        if len(standing) >= MAX_WATCHES:
            sentence = f"a session has at most {MAX_WATCHES} watches"
            raise MemoryRefused("watch-invalid", sentence, "end one that you need no more")
        admit_reads(session, [query.root], standing)
        cache = self._cache_of(session)
        before = _watches(session).get(watch_id)
        live, whole = self._judge(session, cache)
        asked = before
        if asked is None or not _equal(asked.query, query):
            asked = Watch(query, self._evaluate(session, cache, query))
        if whole:
            self._evaluate_all(session, cache)
        session.watches[watch_id] = asked
        fresh = asked if before is None and not whole else None
        return self._answer(session, cache, live=live, only=fresh)

    def unwatch(self, session: Session, watch_id: str) -> SyncFrame:
        """End a watch; the frame removes what only it showed."""
        cache = self._cache_of(session)
        session.watches.pop(watch_id, None)
        live, _ = self._judge(session, cache)
        return self._answer(session, cache, live=live)

    def forget(self, session: Session) -> None:
        """Drop all that is kept about a session that is gone."""
        self._caches.pop(session, None)
        session.watches.clear()

    def mark_dirty(self, space: str, change: Change, writer: Session | None = None) -> None:
        """Note what a commit touched; ``flush`` tells it. Twice is as good as once.

        ``writer`` is the very session object whose client made the commit: its own ``set`` and
        ``delete`` are not sent back to it. Another client of the same agent session is told.
        """
        if not self._registry.of(space):
            return
        self._dirty.setdefault(space, set()).update(change.touched)
        self._marked[space] = max(change.seq, self._marked.get(space, 0))
        if writer is not None:
            self._written.setdefault(space, {})[change.seq] = writer

    def begin_anew(self, space: str) -> None:
        """Have the next ``flush`` send each session all that it watches: numbers went back."""
        for kept in (self._dirty, self._written, self._marked):
            kept.pop(space, None)
        for session in self._registry.of(space):
            if session in self._caches:
                self._caches[session].begin_anew()

    def pending(self, space: str) -> bool:
        """Say whether ``flush`` has anything to do that it was told of.

        That a lease lapsed or is back, each ``flush`` finds out by itself.
        """
        if space in self._dirty:
            return True
        refused = {session for session, _ in self.refused.get(space, ())}
        mine = [one for one in self._registry.of(space) if one not in refused]
        return any(self._caches[one].whole for one in mine if one in self._caches)

    def looked_at(self, session: Session) -> int:
        """Return how often a graph of this session was evaluated or refreshed."""
        return self._caches[session].looked_at if session in self._caches else 0

    def flush(self, space: str) -> list[tuple[Session, SyncFrame]]:
        """Look at each touched session once; return its frame where there is something to tell.

        A session whose graph cannot be evaluated gets none, and a whole evaluation at the next
        flush; the others get theirs.
        """
        dirty, written = self._dirty.pop(space, set()), self._written.pop(space, {})
        refusals: list[tuple[Session, MemoryRefused]] = []
        frames: list[tuple[Session, SyncFrame]] = []
        for session in self._registry.of(space):
            cache = self._caches.get(session)
            if cache is None:
                continue
            try:
                frame = self._pass(session, cache, dirty, written)
            except MemoryRefused as refused:
                cache.whole = True
                refusals.append((session, refused))
            else:
                if frame is not None:
                    frames.append((session, frame))
        self.refused[space] = refusals
        return frames

    def delivered(self, session: Session, frame: SyncFrame) -> None:
        """Forget what ``failed`` would need."""
        if session in self._caches:
            self._caches[session].arrived(frame)

    def failed(self, session: Session, frame: SyncFrame) -> None:
        """Take a frame back that did not arrive: the next flush tells all of it again."""
        if session in self._caches:
            self._caches[session].lost(frame)

    def _pass(
        self,
        session: Session,
        cache: SessionCache,
        dirty: set[DirtyKey],
        written: Mapping[int, Session],
    ) -> SyncFrame | None:
        live, whole = self._judge(session, cache)
        changed: list[Shown] = []
        if not whole:
            touched = [one for one in _watches(session).values() if one.tracked.touches(dirty)]
            if not touched:
                return None
            went = _held(touched, dirty)
            changed = self._refresh(cache, touched, dirty)
            went -= _held(touched, dirty)
            whole = any(cache.has(branch, key) for branch, key in went)
            whole = whole or any(one.erased for one in changed)
        everything = whole or cache.wants_everything(session.keyed)
        if whole:
            self._evaluate_all(session, cache)
        shown = _all_of(_watches(session).values()) if everything else changed
        return self._frame(session, cache, shown, live=live, everything=everything, written=written)

    def _judge(self, session: Session, cache: SessionCache) -> tuple[bool, bool]:
        """Say whether foreign instances may be told in this pass, and whether it is a whole one.

        Asks for the lease only where it matters: of a session that was admitted explicit reads.
        """
        live = session.keyed and session.serves()
        if session.keyed and live is session.lapsed:
            # It lapsed, and foreign instances go; or it is back, and what was withheld comes.
            session.lapsed = not live
            cache.whole = True
        return live, cache.whole

    def _refresh(
        self, cache: SessionCache, touched: Iterable[Watch], dirty: set[DirtyKey]
    ) -> list[Shown]:
        changed: list[Shown] = []
        for watch in touched:
            self.refreshes += 1
            cache.looked_at += 1
            watch.tracked.refresh(dirty)
            entities = watch.tracked.entities
            fresh = [key for key in watch.tracked.fresh if key in entities]
            changed += [Shown(watch.query.branch, key, entities[key]) for key in sorted(fresh)]
        return changed

    def _evaluate_all(self, session: Session, cache: SessionCache) -> None:
        for watch in _watches(session).values():
            watch.tracked = self._evaluate(session, cache, watch.query)
        cache.whole = False

    def _evaluate(self, session: Session, cache: SessionCache, query: Query) -> TrackedQuery:
        self.evaluations += 1
        cache.looked_at += 1
        reader = _reader(query.root, session.identity)

        def evaluate() -> TrackedQuery:
            return TrackedQuery(self._store, query, reader).evaluate()

        return self._cache.ask(self._store, query, session, evaluate)

    def _answer(
        self, session: Session, cache: SessionCache, *, live: bool, only: Watch | None = None
    ) -> SyncFrame:
        """Make the frame that answers a watch: of that one alone, or of all there are."""
        alone = only is not None and not cache.wants_everything(session.keyed)
        shown = _all_of([only] if only is not None and alone else _watches(session).values())
        frame = self._frame(session, cache, shown, live=live, everything=not alone, answer=True)
        if frame is None:
            raise AssertionError  # an answer is made even where it is empty
        return frame

    def _frame(
        self,
        session: Session,
        cache: SessionCache,
        shown: list[Shown],
        *,
        live: bool,
        everything: bool,
        written: Mapping[int, Session] | None = None,
        answer: bool = False,
    ) -> SyncFrame | None:
        watches = _watches(session).values()
        evaluated = min((one.tracked.seq for one in watches), default=cache.seq)
        return cache.frame(
            session.space,
            self._admissible(session, shown, live),
            everything=everything,
            seq=evaluated if everything or answer else self._marked.get(session.space, 0),
            keyed=session.keyed,
            own=lambda document: _echo(document, session, written or {}),
            answer=answer,
        )

    def _admissible(self, session: Session, shown: list[Shown], live: bool) -> list[Shown]:
        # The last filter: what is left out here is not noted as sent either (D6).
        mine = [one for one in shown if live or applies_to(one.key.scope_key, session.identity)]
        self.withheld += len(shown) - len(mine)
        return mine

    def _standing(self, session: Session, but: str) -> list[Address]:
        watches = _watches(session)
        return [one.query.root for name, one in watches.items() if name != but]

    def _cache_of(self, session: Session) -> SessionCache:
        return self._caches.setdefault(session, SessionCache())


def _watches(session: Session) -> dict[str, Watch]:
    return {name: one for name, one in session.watches.items() if isinstance(one, Watch)}


def _held(watches: Iterable[Watch], keys: set[DirtyKey]) -> set[tuple[str, DirtyKey]]:
    return {
        (one.query.branch, key) for one in watches for key in keys if key in one.tracked.entities
    }


def _all_of(watches: Iterable[Watch]) -> list[Shown]:
    return [
        Shown(watch.query.branch, key, document)
        for watch in watches
        for key, document in watch.tracked.entities.items()
    ]


def _reader(root: Address, own: Identity) -> Identity:
    """Return as whom a root's links are followed: an explicit instance's are its owner's."""
    key = parse_scope_key(root.scope_key)
    if key is None or key.principal is None or applies_to(root.scope_key, own):
        return own
    return Identity(key.principal, key.session_id)


def _equal(one: Query, other: Query) -> bool:
    """Say whether two watches ask for the same: the explicit key, and the schema by its types."""
    return one._replace(schema=None) == other._replace(schema=None) and same(
        one.schema, other.schema
    )


def _echo(document: Document, session: Session, written: Mapping[int, Session]) -> bool:
    return document.op in _ECHOED and written.get(document.seq) is session
