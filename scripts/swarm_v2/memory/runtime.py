"""One store, many people's sessions: what a server and a program share.

Every identity is a session's, opened from a credential. ``pump`` is the only thing that moves:
it takes the feed, marks what changed, recomputes while the lease is held, and returns the frames
that the sessions' watches are owed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.clock import iso
from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.admission import Admission, parse_proposal
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.evaluation_cache import EvaluationCache
from scripts.swarm_v2.memory.preferences import NOTES
from scripts.swarm_v2.memory.queries import Query
from scripts.swarm_v2.memory.quoted import quoting, quoting_elsewhere, unlinking
from scripts.swarm_v2.memory.reindex import WholeIndexes
from scripts.swarm_v2.memory.retention import Retention
from scripts.swarm_v2.memory.seed_memo import ON_NOTE, SeedMemo
from scripts.swarm_v2.memory.sessions import SessionRegistry
from scripts.swarm_v2.memory.space_feed import SpaceFeed
from scripts.swarm_v2.memory.standing import DERIVATIONS, Standing
from scripts.swarm_v2.memory.subscriptions import SubscriptionServer
from scripts.swarm_v2.memory.transactions import Transaction
from scripts.swarm_v2.scope_key import can_resolve, resolve_scope_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from scripts.swarm_v2.memory.derivations import Roots
    from scripts.swarm_v2.memory.frames import SyncFrame
    from scripts.swarm_v2.memory.inspect import GraphSnapshot
    from scripts.swarm_v2.memory.proposals import Asked, Proposal
    from scripts.swarm_v2.memory.sessions import Credential, Session
    from scripts.swarm_v2.memory.store import (
        Change,
        Commit,
        Document,
        DocumentStore,
        Revision,
        Write,
    )
    from scripts.swarm_v2.scope_key import Identity, Scope

CACHED_DOCUMENTS = 50_000  # in the evaluation cache, over all spaces
RETRY_S = 1.0  # before a graph is evaluated again for which the store was busy
MOST_ROUNDS = 100  # of one pump: results that feed each other without end go on in the next


class MemoryRuntime:
    """For one thread. ``now`` is a clock in UTC; ``roots`` says what a run may read besides."""

    def __init__(
        self,
        store: DocumentStore,
        *,
        now: Callable[[], datetime],
        service: str = "library",
        roots: Callable[[str, Identity], Roots] | None = None,
    ) -> None:
        self.store = store
        self.registry = SessionRegistry(store)
        self.cache = EvaluationCache(CACHED_DOCUMENTS)
        self.subscriptions = SubscriptionServer(store, self.registry, self.cache)
        self.retention = Retention(store, registry=self.registry)
        self._admission = Admission(store)
        self._seeds, self._indexes = SeedMemo(store), WholeIndexes(store)
        self._now = now
        self._feed = SpaceFeed(store)
        self._standing = Standing(store, self.registry, self._feed, service, now, roots)
        self._is_cut = False  # whether the last pump left something that may run now
        self._writers: dict[tuple[str, int], Session] = {}  # of commits the feed still has to tell

    def open_session(
        self, space: str, credential: Credential, session_id: str | None = None
    ) -> Session:
        """Open a session; its identity never changes. A person's first one writes defaults.

        Where the store takes no commit now, a later one does.

        Raises:
            MemoryRefused: ``space-invalid``, ``credential-refused``, ``request-invalid``; what
                else the store says of the defaults. No session is left open then.
        """
        session = self.registry.open(space, credential, session_id)
        self._feed.follow(space)
        try:
            self._begin(session)
        except MemoryRefused as err:
            if err.code != "store-busy":
                self.close_session(session)
                raise  # a store that can be read only: all this comes with a later session
        return session

    def _begin(self, session: Session) -> None:
        if session.identity.principal is not None:
            self._seeds.seed(session, iso(self._now()))
        if session.session_key:
            self.retention.resume(session.session_key, self._now())

    def close_session(self, session: Session) -> None:
        """End a session's watches and demands; its rows stay. Closing twice does nothing."""
        self._standing.leave(session)
        self.subscriptions.forget(session)
        self.registry.close(session)
        if all(one.lease for one in self.registry.of(session.space)):
            self._standing.end(session.space)
            used = {*self.registry.spaces(), *self._standing.spaces()}
            for space in self._feed.positions().keys() - used:
                self._feed.leave(space)

    def read(self, session: Session, id: str, scope: Scope) -> Document | None:
        """Return the session's own instance, a tombstone too; redirects are followed.

        What is derived is brought up to date before; where another process has the lease it is
        computed for this session alone, and not stored.

        Raises:
            MemoryRefused: ``identity-missing``, ``link-circle``, ``session-missing`` …
        """
        session.check_open()
        if id in DERIVATIONS:
            with self._standing.wanted(session, id):
                self._settle()
                speculated = self._standing.speculate(session, id)
            if speculated is not None:
                return speculated
        transaction = Transaction(self.store, session.space)
        transaction.act_as(session.identity)
        return transaction.document(Address(session.space, id, scope))

    def stored(self, session: Session, id: str, scope: Scope) -> Document | None:
        """Return the session's own instance as it is stored: a redirect is not followed."""
        return self.store.read(session.space, _own_key(session, scope), id)

    def select(
        self, session: Session, scope: Scope, *, prefix: str = "", after: str = "", limit: int
    ) -> list[Document]:
        """Return live documents of the session's own instance of ``scope``, by id."""
        key = _own_key(session, scope)
        return self.store.select(session.space, [key], prefix=prefix, after=after, limit=limit)

    def history(self, session: Session, id: str, scope: Scope, *, limit: int) -> list[Revision]:
        """Return the revisions of the session's own instance, newest first."""
        return self.store.history(session.space, _own_key(session, scope), id, limit=limit)

    def commit(self, session: Session, proposal: object, at: str) -> int:
        """Admit and write an authored commit; return its number, 0 where nothing changed.

        With what is erased go its link and the derived documents that may quote it, with their
        histories, in the same commit; with a session's first note comes what notes begin with.

        Raises:
            MemoryRefused: what is wrong with the proposal, ``stale-base``, ``stale-read`` …
        """
        asked = parse_proposal(proposal)
        notes = any(_first_note(one) for one in asked.writes)
        seeds = self._seeds.writes(session, ON_NOTE) if notes else ()
        try:
            change = self._commit(asked, session, at, seeds)
        except MemoryRefused as refused:
            now = self._seeds.writes(session, ON_NOTE) if seeds else ()
            if refused.code != "stale-base" or now == seeds:
                raise
            change = self._commit(asked, session, at, now)  # another process began the notes
        if change is None:
            return 0
        self._writers[(session.space, change.seq)] = session
        return change.seq

    def _commit(
        self, asked: Proposal, session: Session, at: str, seeds: tuple[Write, ...]
    ) -> Change | None:
        def completed(commit: Commit) -> Commit:
            erased = {one.scope_key for one in commit.writes if one.op == "erase"}
            quotes = quoting(self.store, session.space, erased) if erased else ()
            links = unlinking(self.store, session.space, commit.writes)
            commit = self._indexes.completed(session.space, commit)
            last.append(commit._replace(writes=(*seeds, *commit.writes, *links, *quotes)))
            return last[-1]

        last: list[Commit] = []
        change = self._admission.commit_authored(asked, session, at, completed)
        if change is not None:
            self._indexes.wrote(session.space, last[-1], change.seq)
        if change is not None and any(one.op == "erase" for one in asked.writes):
            self._erase_quotes(session, asked, at)
        return change

    def _erase_quotes(self, session: Session, asked: Proposal, at: str) -> None:
        """Erase what another process made of it meanwhile, and what quotes it in other spaces."""
        keys = {_own_key(session, one.scope) for one in asked.writes if one.op == "erase"}
        here = (session.space, quoting(self.store, session.space, keys))
        for space, writes in (here, *quoting_elsewhere(self.store, session.space, keys)):
            if writes:
                carried = [write.scope_key for write in writes]
                commit = self._admission.system(space, writes, at, carried=carried)
                self.store.commit(space, commit)

    def watch(
        self,
        session: Session,
        watch_id: str,
        id: str,
        scope: Scope,
        *,
        path: tuple[str, ...] = (),
        schema: object = True,
    ) -> SyncFrame:
        """Start or replace a watch; the frame is what it shows now.

        Who watches what is derived demands it: it is recomputed for them as it moves.

        Raises:
            MemoryRefused: ``watch-invalid``, ``identity-missing`` …; the watches are as before.
        """
        session.check_open()
        query = Query(Address(session.space, id, scope, path), schema)
        if id in DERIVATIONS:
            with self._standing.wanted(session, id):
                self._settle()
                frame = self.subscriptions.watch(session, watch_id, query)
                self._standing.demand(session, watch_id, id)
            return frame
        frame = self.subscriptions.watch(session, watch_id, query)
        self._standing.undemand(session, watch_id)
        return frame

    def unwatch(self, session: Session, watch_id: str) -> SyncFrame:
        """End a watch; the frame takes away what only it showed."""
        self._standing.undemand(session, watch_id)
        return self.subscriptions.unwatch(session, watch_id)

    def delivered(self, session: Session, frame: SyncFrame) -> None:
        """Say that a frame arrived."""
        self.subscriptions.delivered(session, frame)

    def failed(self, session: Session, frame: SyncFrame) -> None:
        """Say that a frame did not arrive: the next pump sends its content again."""
        self.subscriptions.failed(session, frame)

    def pump(self, most: int | None = None) -> list[tuple[Session, SyncFrame]]:
        """Bring everything up to the feed; return what each session is owed.

        ``most`` is about how many results are recomputed at once: the next pump, due at once,
        goes on. Nobody has to wait until hundreds of people's are.

        Raises:
            MemoryRefused: ``store-busy`` or ``store-damaged``; the next pump goes on from there.
        """
        self._settle(most)
        self.store.tidy()
        spaces = self.registry.spaces()
        return [found for space in spaces for found in self.subscriptions.flush(space)]

    def _settle(self, most: int | None = None) -> None:
        self._is_cut = False
        for _ in range(MOST_ROUNDS):
            moved = self._take()
            ran = self._standing.run() if most is None else self._standing.run(most)
            if not ran and not moved:
                return
            if most is not None:
                most -= sum(report.runs for report in self._standing.reports)
                if most <= 0:
                    break
        self._take()
        self._is_cut = any(report.left for report in self._standing.reports)

    def _take(self) -> bool:
        """Mark what the feed says; say whether it said anything."""
        moved = False
        for space, change in self._feed.take():
            moved = True
            if change is None:
                self._begin_anew(space)
                continue
            writer = self._writers.pop((space, change.seq), None)
            self.subscriptions.mark_dirty(space, change, writer)
            self._standing.dirty(space, change)
        return moved

    def _begin_anew(self, space: str) -> None:
        """Take nothing of a space as known, whose store lost commits: everybody is told it all."""
        self.cache.drop(space)
        self._seeds.forget(space)
        for name in [name for name in self._writers if name[0] == space]:
            del self._writers[name]
        self.subscriptions.begin_anew(space)
        self._standing.begin_anew(space)

    def wait(self, timeout_s: float) -> bool:
        """Wait for a commit of anybody's in a space that has a session here."""
        due = self.due_s()
        patience = timeout_s if due is None else min(timeout_s, due)
        return self.store.wait(self._feed.positions(), patience)

    def positions(self) -> dict[str, int]:
        """Return up to which commit each followed space was taken: a copy, for another thread."""
        return self._feed.positions()

    def due_s(self) -> float | None:
        """Return in how many seconds a pump has to run although nothing was committed."""
        if self._is_cut or any(map(self.subscriptions.pending, self.registry.spaces())):
            return 0.0
        refused = [err.code for found in self.subscriptions.refused.values() for _, err in found]
        again = RETRY_S if "store-busy" in refused else None
        waits = [self._standing.due_s(), self.store.due_s(), again]
        return min((wait for wait in waits if wait is not None), default=None)

    def graph(self, space: str) -> GraphSnapshot | None:
        """Return what is recomputed for a space, as it is now; None where nobody wants anything."""
        return self._standing.graph(space)

    def sweep(self) -> int:
        """Delete what sessions left that ended long ago; return of how many."""
        return len(self.retention.sweep(self._now()))

    def close(self) -> None:
        """End every session and give the leases back."""
        for space in self.registry.spaces():
            for session in [one for one in self.registry.of(space) if one.lease is None]:
                self.close_session(session)


def _first_note(write: Asked) -> bool:
    """Say whether a write adds to a session's notes, which have a form from the first on."""
    return write.id == NOTES and write.op == "patch" and write.base is None


def _own_key(session: Session, scope: Scope) -> str:
    session.check_open()
    if not can_resolve(scope, session.identity):
        missing = "session" if session.identity.principal else "principal"
        sentence = f"the scope {scope} needs a {missing}, and there is none here"
        raise MemoryRefused("identity-missing", sentence)
    return resolve_scope_key(scope, session.identity)
