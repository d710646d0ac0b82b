"""When a session's rows go: a stated time after it ended, and nobody else's with them.

Everything is by the exact session key. A key is never a pattern: ``session:p%`` would take the
rows of the principal ``p2`` with those of ``p``.
"""

from __future__ import annotations

from hooks.clock import from_epoch, iso
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.scope_key import SESSION, parse_scope_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator
    from datetime import datetime

    from scripts.swarm_v2.memory.sessions import SessionRegistry
    from scripts.swarm_v2.memory.store import Document, DocumentStore

    # Told the space and the session key: drops what a process keeps in memory of that session.
    Forget = Callable[[str, str], None]

_NEVER = "9"  # behind every mark
KEPT_DAYS = 30  # after its end a session can be resumed for so long with its notes


class Retention:
    """Ends sessions, and deletes what ended ``kept_days`` ago, in every space of the store."""

    def __init__(
        self,
        store: DocumentStore,
        *,
        registry: SessionRegistry | None = None,
        kept_days: float = KEPT_DAYS,
        forget: Iterable[Forget] = (),
    ) -> None:
        self._store, self._registry = store, registry
        self._kept_s = kept_days * 86400
        self._forget = tuple(forget)

    def end(self, session_key: str, at: datetime) -> None:
        """Mark a session as ended in every space; nothing is deleted yet.

        Sessions of this key that are open here are closed.

        Raises:
            MemoryRefused: ``scope-key-malformed`` for what is no whole session key.
        """
        _check_session_key(session_key)
        if self._registry is not None:
            for session in self._registry.with_key(session_key):
                self._registry.close(session, "session-retired")
        for space in self._store.spaces():
            self._store.retire(space, session_key, iso(at))

    def end_unseen(self, session_keys: Iterable[str], at: datetime) -> None:
        """Mark, where they have documents, sessions whose end nobody may have told.

        For many at once and again and again: what is marked, or has nothing, costs no write.
        """
        keys = list(dict.fromkeys(session_keys))
        for key in keys:
            _check_session_key(key)
        for space in self._store.spaces():
            marked = set(self._store.retired(space, _NEVER))
            for key in keys:
                if key not in marked and self._store.select(space, (key,), limit=1):
                    self._store.retire(space, key, iso(at))

    def resume(self, session_key: str, at: datetime) -> None:
        """Let a session that is open at ``at`` have ended then at the earliest, in every space.

        So no other process deletes under it what it is about to read.
        """
        _check_session_key(session_key)
        self._store.resume(session_key, iso(at))

    def sweep(self, now: datetime, in_use: Container[str] = ()) -> list[tuple[str, str]]:
        """Delete what is due; return each space and session key that lost its rows.

        Watchers get tombstones. A session that is open here or ``in_use`` elsewhere, or wrote
        after the time from which its mark counts, was resumed: it is left alone.
        """
        for session_key in self._registry.keys() if self._registry is not None else ():
            self.resume(session_key, now)
        before = iso(from_epoch(now.timestamp() - self._kept_s))
        # boundary: which spaces an ended session is marked in, for the length of a sweep.
        due: dict[str, list[str]] = {}
        for space in self._store.spaces():
            for session_key in self._store.retired(space, before):
                due.setdefault(session_key, []).append(space)
        return [
            (space, session_key)
            for session_key, spaces in due.items()
            if session_key not in in_use and not self._resumed(session_key, spaces, before)
            for space in spaces
            if session_key in self._store.retired(space, before)  # nobody resumed it meanwhile
            and self._drop(space, session_key, now)
        ]

    def _resumed(self, session_key: str, spaces: list[str], before: str) -> bool:
        if self._registry is not None and self._registry.with_key(session_key):
            return True
        return any(
            revision.at >= before
            for space in spaces
            for document in self._each(space, session_key)
            for revision in self._store.history(space, session_key, document.id, limit=1)
        )

    def _each(self, space: str, session_key: str) -> Iterator[Document]:
        after = ""
        while page := self._store.select(space, (session_key,), after=after):
            yield from page
            after = page[-1].id

    def _drop(self, space: str, session_key: str, now: datetime) -> bool:
        seq = self._store.drop_session(space, session_key, iso(now))
        for forget in self._forget:
            forget(space, session_key)
        return seq > 0


def _check_session_key(session_key: str) -> None:
    parsed = parse_scope_key(session_key)
    if parsed is None or parsed.scope != SESSION:
        sentence = "only a session ends, and only by its whole key"
        raise MemoryRefused("scope-key-malformed", sentence)
