"""Who acts in a process, and which process recomputes for a space.

A session's identity comes from its credential (the principal) and from the harness (the session
id), once. No commit, read or argument that comes later can change or name it.
"""

from __future__ import annotations

import os

from scripts.swarm_v2.memory.document import check_space
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.scope_key import SESSION, USER, Identity, can_resolve, resolve_scope_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from scripts.swarm_v2.memory.store import DocumentStore
else:
    from hooks.record import NamedTuple

OWN = "token"
LEASE_MS = 15_000  # a holder that died is replaced after this; a live one renews far earlier


class Credential(NamedTuple):
    """Who somebody proved to be; a principal of None is an anonymous reader.

    ``source`` says how it was proved: ``OWN`` is the token of the very home it is used in.
    """

    principal: str | None
    source: str


class Lease:
    """The right to recompute and commit a space's derived documents.

    One object is one holder: a second one of the same service is another, in the same process
    too. Whether it is live is the store's answer, by the store's clock.
    """

    def __init__(
        self, store: DocumentStore, space: str, service: str, ttl_ms: int = LEASE_MS
    ) -> None:
        self.space = check_space(space)
        self.holder = f"{service}:{os.urandom(12).hex()}"
        self._store, self._ttl_ms = store, ttl_ms

    def acquire(self) -> bool:
        """Take the lease, or prolong it; False where another's is live."""
        return self._store.acquire(self.space, self.holder, self._ttl_ms)

    def release(self) -> bool:
        return self._store.release(self.space, self.holder)

    def live(self) -> bool:
        """Say whether this very holder has the lease now."""
        held = self._store.held(self.space)
        return held is not None and held.holder == self.holder


class Session:
    """One open session of one space. Only a registry makes them.

    Attributes:
        session_key: its session instance; ``""`` where a part of the identity is missing.
        holder: of the lease it serves its space under; ``""`` for everybody's ordinary session.
        watches: by watch id, kept by the subscription server.
        keyed: an explicit instance was ever admitted, so its frames name instances (for good).
        is_home: it is the home's own person: what it writes may be told as a person's words.
        lapsed: its lease was found lapsed, and no full evaluation has followed yet.
        closed: ``""`` while it is open, else the code that every later use is refused with.
    """

    def __init__(self, space: str, identity: Identity, number: int, lease: Lease | None) -> None:
        self.space, self.identity, self.number, self.lease = space, identity, number, lease
        whole = can_resolve(SESSION, identity)
        self.session_key = resolve_scope_key(SESSION, identity) if whole else ""
        self.holder = lease.holder if lease else ""
        self.watches: dict[str, object] = {}
        self.keyed = False
        self.is_home = False
        self.lapsed = False
        self.closed = ""

    def serves(self) -> bool:
        """Say whether it holds its space's lease at this moment."""
        return self.lease is not None and self.lease.live()

    def check_open(self) -> None:
        """Raise what it was closed with.

        Raises:
            MemoryRefused: ``session-missing`` or ``session-retired``.
        """
        if self.closed == "session-retired":
            raise MemoryRefused(self.closed, "the session was ended for good", "open another one")
        if self.closed:
            raise MemoryRefused(self.closed, "the session is not open", "open it again")


class SessionRegistry:
    """The sessions that are open in this process."""

    def __init__(self, store: DocumentStore) -> None:
        self._store = store
        self._number = 0
        # boundary: wire sessions. By a number of the registry's own: two principals may choose
        # one session id, and one session may be connected twice.
        self._sessions: dict[tuple[str, int], Session] = {}

    def open(
        self,
        space: str,
        credential: Credential,
        session_id: str | None = None,
        *,
        lease: Lease | None = None,
    ) -> Session:
        """Open a session; with a ``lease`` it is the one that serves the space.

        Raises:
            MemoryRefused: ``space-invalid``; ``credential-refused`` for a principal that is no
                Unicode text, ``request-invalid`` for such a session id; ``lease-lost`` for the
                lease of another space.
        """
        identity = Identity(credential.principal or None, session_id or None)
        check_space(space)
        if identity.principal is not None and not can_resolve(USER, identity):
            raise MemoryRefused("credential-refused", "the credential names nobody")
        if identity.session_id is not None and not _usable(identity.session_id):
            raise MemoryRefused("request-invalid", "a session id is Unicode text")
        if lease is not None and lease.space != space:
            raise MemoryRefused("lease-lost", "the lease is another space's")
        self._number += 1
        session = Session(space, identity, self._number, lease)
        session.is_home = credential.source == OWN
        self._sessions[(space, session.number)] = session
        return session

    def close(self, session: Session, code: str = "session-missing") -> None:
        """Forget a session; whatever it asks later is refused. Closing twice does nothing."""
        session.closed = session.closed or code
        session.watches.clear()
        self._sessions.pop((session.space, session.number), None)

    def of(self, space: str) -> list[Session]:
        """Return the open sessions of a space, oldest first."""
        return [one for (where, _), one in self._sessions.items() if where == space]

    def spaces(self) -> list[str]:
        """Return each space that has an open session."""
        return list(dict.fromkeys(space for space, _ in self._sessions))

    def keys(self) -> list[str]:
        """Return the session key of each open session that has one, once."""
        found = dict.fromkeys(one.session_key for one in self._sessions.values())
        return [key for key in found if key]

    def with_key(self, session_key: str) -> list[Session]:
        """Return the open sessions of this very key, in any space."""
        return [one for one in self._sessions.values() if one.session_key == session_key]


def _usable(session_id: object) -> bool:
    return can_resolve(USER, Identity(session_id))  # type: ignore[arg-type]  # any object: no text
