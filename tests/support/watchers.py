"""People with clients: what each has committed and was told, through the wire's own text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.evaluation_cache import EvaluationCache
from scripts.swarm_v2.memory.frames import SyncFrame, encode, parse
from scripts.swarm_v2.memory.queries import Query
from scripts.swarm_v2.memory.replica import Replica
from scripts.swarm_v2.memory.subscriptions import SubscriptionServer
from scripts.swarm_v2.memory.watch_view import WatchView
from scripts.swarm_v2.scope_key import resolve_scope_key
from scripts.swarm_v2.wire_json import dumps, loads
from tests.support.memory_stores import SPACE, People

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import DocumentStore


class Client:
    """One connection: its session, what its replica and its view hold, every frame it got."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.replica = Replica(session.space, session.identity)
        self.view = WatchView()
        self.frames: list[SyncFrame] = []

    def take(self, frame: SyncFrame) -> None:
        arrived = parse(loads(dumps(encode(frame))))
        self.frames.append(arrived)
        self.replica.apply(arrived)
        self.view.apply(arrived)

    @property
    def rows(self) -> list[tuple[str, object]]:
        """Every row that came, in order."""
        return [(one.id, one.value) for frame in self.frames for one in frame.upserts]

    def has(self, id: str, scope: Any, key: str | None = None) -> object:
        address = Address(self.session.space, id, scope, (), key)
        return self.replica.read(address, None)


class Watchers(People):
    """One server with its clients; what is committed is marked, and told at ``flush``."""

    def __init__(self, store: DocumentStore, space: str = SPACE) -> None:
        super().__init__(store, space)
        self.cache = EvaluationCache(10_000)
        self.server = SubscriptionServer(store, self.registry, self.cache)
        self.clients: dict[Session, Client] = {}
        self._told = store.seq(space)

    def connect(self, session: Session) -> Client:
        self.clients[session] = Client(session)
        return self.clients[session]

    def client(self, principal: str | None, session_id: str | None = None) -> Client:
        return self.connect(self.open(principal, session_id))

    def watch(
        self, client: Client, id: str, scope: Any, key: str | None = None, name: str = ""
    ) -> SyncFrame:
        query = Query(Address(self.space, id, scope, (), key))
        frame = self.server.watch(client.session, name or f"{id} {scope} {key}", query)
        client.take(frame)
        return frame

    def write(self, client: Client, op: Any, id: str, scope: Any, value: object = None) -> int:
        """Commit as a client does: over its replica, confirmed by the verdict."""
        address = Address(self.space, id, scope)
        sealed = client.replica.seal(client.session.identity, [(address, op, value)])
        change = self.commit(
            client.session, {"id": id, "scope": scope, "op": op, "value": value}
            if op in ("set", "patch")
            else {"id": id, "scope": scope, "op": op},
        )  # fmt: skip
        if change is None:
            client.replica.roll_back(sealed)
            return 0
        client.replica.confirm(sealed, change.seq)
        self.server.mark_dirty(self.space, change, client.session)
        self._told = change.seq
        return change.seq

    def feed(self) -> None:
        """Mark what others committed to the store."""
        for change in self.store.changes(self.space, self._told):
            self.server.mark_dirty(self.space, change)
            self._told = change.seq

    def flush(self) -> list[Client]:
        """Tell everybody; return who got a frame."""
        return [self._take(*found) for found in self.server.flush(self.space)]

    def _take(self, session: Session, frame: SyncFrame) -> Client:
        self.clients[session].take(frame)
        self.server.delivered(session, frame)
        return self.clients[session]

    def key(self, client: Client, id: str, scope: Any) -> InstanceKey:
        return InstanceKey(self.space, resolve_scope_key(scope, client.session.identity), id)
