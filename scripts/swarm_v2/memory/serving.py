"""The part of a server that touches the store: one runtime on one thread, never a socket."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hooks.clock import iso
from scripts.swarm_v2.memory.answers import answer, pushes, told
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.library import check_project
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.wire import Answer, Refusal, Welcome, check_version, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from scripts.swarm_v2.memory.derivations import Roots
    from scripts.swarm_v2.memory.frames import SyncFrame
    from scripts.swarm_v2.memory.people import People
    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import DocumentStore
    from scripts.swarm_v2.memory.wire import Ask, Hello
    from scripts.swarm_v2.scope_key import Identity

AT_ONCE = 8  # results recomputed between two questions: a third of a second
MAX_FRAME = 12 << 20  # bytes of what a new watch shows at once


class Out(NamedTuple):
    """Lines for one session, in order; ``frame`` is told to have arrived once they are out."""

    session: Session
    lines: list[bytes]
    frame: SyncFrame | None = None


class Engine:
    """Made and used on one thread. Nothing but ``MemoryRefused`` is a client's fault."""

    def __init__(
        self,
        store: DocumentStore,
        people: People,
        *,
        now: Callable[[], datetime],
        roots: Callable[[str, Identity], Roots] | None = None,
    ) -> None:
        self._store, self._people, self._now = store, people, now
        self._runtime = MemoryRuntime(store, now=now, service="server", roots=roots)
        self.faults = 0  # pumps that failed in a row

    def hello(self, hello: Hello) -> tuple[Session, bytes]:
        """Let somebody in, or refuse; return the session and the line that says so.

        Raises:
            MemoryRefused: ``credential-refused``, ``space-invalid``, ``request-invalid``.
        """
        check_version(hello)
        credential = self._people.who(hello.token)
        space = check_project(hello.space)
        session = self._runtime.open_session(space, credential, hello.session_id or None)
        return session, encode(Welcome(credential.principal, self._store.seq(space)))

    def ask(self, session: Session, ask: Ask) -> Iterator[list[Out]]:
        """Answer a question; then tell everybody what it changed, a part at least."""
        try:
            body, frame = answer(self._runtime, session, ask.ask, ask.fields, iso(self._now()))
        except MemoryRefused as err:
            # First what is new: a client that was refused over it may look at once again.
            yield [*self.pump(), Out(session, [refusal(told(err), ask.n)])]
            return
        lines = [] if frame is None else [encode(part) for part in pushes(frame)]
        if frame is not None and sum(map(len, lines)) > MAX_FRAME:
            yield [Out(session, [self._too_large(session, ask, frame)])]
            return
        yield [Out(session, [*lines, encode(Answer(ask.n, body))], frame)]
        yield self.pump()

    def _too_large(self, session: Session, ask: Ask, frame: SyncFrame) -> bytes:
        """End a watch that would show too much at once; what else is watched is told again."""
        self._runtime.unwatch(session, str(ask.fields["watch"]))
        self._runtime.failed(session, frame)
        sentence = f"what would be shown at once has more than {MAX_FRAME} bytes"
        err = MemoryRefused("request-too-large", sentence, "narrow it by a schema or a path")
        return refusal(err, ask.n)

    def pump(self) -> list[Out]:
        """Return what sessions are owed; a store that does not answer is asked again later."""
        try:
            found = self._runtime.pump(AT_ONCE)
        except MemoryRefused:
            self.faults += 1
            return []
        self.faults = 0
        return [
            Out(session, [encode(part) for part in pushes(frame)], frame)
            for session, frame in found
        ]

    def delivered(self, out: Out) -> None:
        if out.frame is not None:
            self._runtime.delivered(out.session, out.frame)

    def leave(self, session: Session) -> None:
        self._runtime.close_session(session)

    def positions(self) -> dict[str, int]:
        return self._runtime.positions()

    def due_s(self) -> float | None:
        return 1.0 if self.faults else self._runtime.due_s()

    def sweep(self) -> list[Out]:
        """Delete what sessions left that ended long ago, and tell who watched it."""
        try:
            self._runtime.sweep()
        except MemoryRefused:
            return []
        return self.pump()

    def close(self) -> None:
        """Give the leases back and close the store; what cannot be reached lapses by itself."""
        try:
            self._runtime.close()
        except MemoryRefused:
            pass
        self._store.close()


def refusal(err: MemoryRefused, number: int) -> bytes:
    return encode(Refusal(number, err.code, str(err), err.hint, err.facts))
