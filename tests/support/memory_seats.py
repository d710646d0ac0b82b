"""Sessions of people at a process that serves them, with a client each: who plays in a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.document import MISSING, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import encode
from scripts.swarm_v2.memory.queries import Query
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential, Lease
from scripts.swarm_v2.scope_key import (
    DirtyKey,
    Identity,
    can_resolve,
    parse_scope_key,
    resolve_scope_key,
    scope_of,
)
from scripts.swarm_v2.wire_json import dumps
from tests.support.graphs import Naive
from tests.support.memory_model import foreign_marks
from tests.support.watchers import Client

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.frames import SyncFrame
    from scripts.swarm_v2.memory.instances import Instance
    from scripts.swarm_v2.memory.store import DocumentStore
    from tests.support.memory_model import Oracle
    from tests.support.memory_play import Play

DERIVED = ("context", "digest", "status")
SCOPES = ("space", "user", "session")


class Seat:
    """One session of one person at one runtime: its client, its watches, what it was never told."""

    def __init__(self, host: Host, person: int | None, session: int | None, who: Identity) -> None:
        self.host, self.person, self.place, self.who = host, person, session, who
        credential = Credential(who.principal, "test")
        self.session = host.runtime.open_session(host.play.space, credential, who.session_id)
        self.client = Client(self.session)
        self.watches: dict[str, tuple[str, str, tuple[str, ...], Any]] = {}
        self.late: list[SyncFrame] = []
        self.written: set[DirtyKey] = set()
        self.ever: set[DirtyKey] = set()  # all that it reached or missed
        self.looked_at = 0
        self.own = {resolve_scope_key(one, who) for one in SCOPES if can_resolve(one, who)}

    def take(self, frame: SyncFrame) -> None:
        self.check_words(encode(frame))
        assert all(one.scope_key is None for one in (*frame.upserts, *frame.removes))
        self.client.take(frame)
        self.host.runtime.delivered(self.session, frame)

    def check_words(self, value: Any) -> None:
        foreign = foreign_marks(dumps(value), self.person, self.place)
        assert not foreign, f"{self.who} is shown {foreign}"

    def wants(self, name: str) -> bool:
        return any(id == name for id, _, _, _ in self.watches.values())

    def held(self, key: DirtyKey) -> Any:
        found = self.client.replica.entry(InstanceKey(self.session.space, *key), self.who)
        return found.value if found else MISSING

    def walk(self, oracle: Oracle) -> Naive:
        naive = Naive(oracle.values, self.who)
        for id, scope, path, schema in self.watches.values():
            naive.walk(DirtyKey(resolve_scope_key(scope, self.who), id), path, schema)
        return naive


class Keeper:
    """A session of a service at a process, which may name instances while it holds the lease."""

    def __init__(self, host: Host) -> None:
        self.host, self.store = host, host.store
        self.lease = Lease(host.store, host.play.space, "keeper")
        registry = host.runtime.registry
        credential = Credential(None, "test")
        self.session = registry.open(host.play.space, credential, lease=self.lease)
        self.client = Client(self.session)
        self.watches: set[DirtyKey] = set()

    def watch(self, key: DirtyKey) -> str:
        """Return the code that it was refused with, "" where it was not."""
        root = Address(self.session.space, key.id, scope_of(key.scope_key), (), key.scope_key)
        subscriptions = self.host.runtime.subscriptions
        try:
            frame = subscriptions.watch(self.session, repr(key), Query(root))
        except MemoryRefused as refused:
            return refused.code
        self.watches.add(key)
        self.take(frame)
        return ""

    def take(self, frame: SyncFrame) -> None:
        self.client.take(frame)
        self.host.runtime.delivered(self.session, frame)

    def check(self, oracle: Oracle) -> None:
        """While the lease is live it has what it named; not a row of anybody's without it."""
        wanted: set[DirtyKey] = set()
        live = self.lease.live()
        for key in self.watches:
            if not live and key.scope_key != "space":
                continue
            owner = parse_scope_key(key.scope_key)
            assert owner is not None
            naive = Naive(oracle.values, Identity(owner.principal, owner.session_id))
            naive.walk(key, (), True)
            wanted |= naive.tracked
        for key in oracle.rows.keys() | wanted:
            found = self.client.replica.entry(InstanceKey(self.session.space, *key), None)
            held = found.value if found else MISSING
            if key in wanted:
                assert same(held, oracle.values.get(key, MISSING)), f"the keeper has {held}"
            elif key.scope_key != "space" and not live:
                assert held is MISSING, f"the keeper still has {key}"


class Host:
    """One process: a runtime with a handle of its own onto the store."""

    def __init__(self, play: Play) -> None:
        self.play = play
        how = {"wal": True} if play.world.kind == "sqlite" else {}
        self.store: DocumentStore = play.world.open(**how)
        self.runtime = MemoryRuntime(
            self.store, now=lambda: play.now, service="server", roots=lambda *_: play.roots
        )
        self.seats: dict[Any, Seat] = {}
        self.keeper: Keeper | None = None
        self.runs: dict[Instance, int] = {}
        self.told = self.store.seq(play.space)

    def seat(self, person: int | None, session: int | None) -> Seat:
        place = (person, session)
        if place not in self.seats:
            number = None if session is None else session % 2
            who = Identity() if person is None else self.play.people[person][number]
            self.seats[place] = Seat(self, person, number, who)
        return self.seats[place]

    def schedulers(self) -> list[Any]:
        return [one.scheduler for one in self.runtime._standing._serving.values()]
