"""Real stores of scoped memory, both kinds, and the people who meet in them.

The setting of the acceptance scenarios: space ``proj``; A with sessions a1 and a2; B with b1.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.admission import Admission, parse_proposal
from scripts.swarm_v2.memory.document import SCOPES
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.sessions import Credential, Lease, Session, SessionRegistry
from scripts.swarm_v2.memory.store_redis import RedisStore
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from tests.support.redis_servers import Server, binary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scripts.swarm_v2.memory.store import Change, DocumentStore

KINDS = ("sqlite", "redis")
SPACE = "proj"
A, B, C = "did:key:zA", "did:key:zB", "did:key:zC"
AT = "2026-11-30T12:00:00.000000+00:00"
_number = count()


def open_store(kind: str, folder: Path, request: pytest.FixtureRequest) -> DocumentStore:
    """Open a new, empty store; ``request`` lends the module's Redis (fixture ``memory_redis``)."""
    if kind == "sqlite":
        return SqliteStore(str(folder / "memory.db"))
    server = request.getfixturevalue("memory_redis")
    return RedisStore(server.url, prefix=f"test{next(_number)}")


def redis_server(folder: Path) -> Iterator[Server]:
    with Server(folder, binary("wheel")) as server:
        yield server


@contextmanager
def refusal(code: str) -> Iterator[pytest.ExceptionInfo[MemoryRefused]]:
    """Expect a refusal of this code."""
    with pytest.raises(MemoryRefused) as refused:
        yield refused
    assert refused.value.code == code


class People:
    """Sessions of one store, and what they say to it."""

    def __init__(self, store: DocumentStore, space: str = SPACE) -> None:
        self.store, self.space = store, space
        self.registry = SessionRegistry(store)
        self.admission = Admission(store)

    def open(self, principal: str | None, session_id: str | None = None) -> Session:
        return self.registry.open(self.space, Credential(principal, "test"), session_id)

    def service(self, principal: str | None = None) -> Session:
        """Open the session that serves the space; it holds the lease."""
        lease = Lease(self.store, self.space, "scheduler")
        assert lease.acquire()
        return self.registry.open(self.space, Credential(principal, "test"), "run", lease=lease)

    def commit(self, session: Session, *asked: dict[str, object], **more: object) -> Change | None:
        proposal = parse_proposal({"writes": list(asked), **more})
        return self.admission.commit_authored(proposal, session, AT)

    def save(self, session: Session, id: str, scope: str, value: object) -> int:
        change = self.commit(session, {"id": id, "scope": scope, "op": "set", "value": value})
        return change.seq if change else 0

    def value(self, session: Session, id: str, scope: str) -> object:
        """Return what the store has for a session's own instance; None for nothing."""
        key = resolve_scope_key(scope, session.identity)
        document = self.store.read(self.space, key, id)
        return document.value if document else None


def snapshot(store: DocumentStore) -> tuple[object, ...]:
    """Return everything that a refused commit must leave as it is."""
    keys = [resolve_scope_key(scope, Identity(who, "a1")) for who in (A, B) for scope in SCOPES]
    feed, rows = store.changes(SPACE, 0), store.select(SPACE, keys)
    return store.seq(SPACE), feed, rows, store.basis(SPACE)


def wrote(people: People) -> int:
    """Commit something valid; return its number."""
    return people.save(people.open(C, "c9"), "next", "space", {"n": 1})
