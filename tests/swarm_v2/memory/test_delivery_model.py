"""Random commits, watches, lost frames and flushes; an oracle that reads the rows alone."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.document import MISSING, make_link, same
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.scope_key import DirtyKey, Identity, applies_to, resolve_scope_key
from tests.support.graphs import Naive
from tests.support.memory_stores import A, B
from tests.support.watchers import Client, Watchers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scripts.swarm_v2.memory.frames import SyncFrame
    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import DocumentStore

PEOPLE = [Identity(A, "a1"), Identity(A, "a2"), Identity(B, "b1")]
IDS, SCOPES = ["board", "x"], ["space", "user", "session"]
EVERYWHERE = [
    DirtyKey(key, one)
    for one in IDS
    for key in sorted({resolve_scope_key(scope, who) for scope in SCOPES for who in PEOPLE})
]
numbers = count(1)

links = st.builds(make_link, st.sampled_from(IDS), st.sampled_from([None, *SCOPES]))
values = st.dictionaries(st.sampled_from("ab"), st.integers(0, 2) | links, max_size=2)
who = st.integers(0, 2)
ops = st.sampled_from(["set", "set", "set", "patch", "delete", "erase"])
places = st.sampled_from([(id, scope) for id in IDS for scope in SCOPES])
commits = st.tuples(st.sampled_from(["write", "elsewhere"]), who, ops, places, values)
watches = st.tuples(st.sampled_from(["watch", "watch", "unwatch"]), who, places)
flushes = st.tuples(st.just("flush"), st.lists(st.booleans(), min_size=3, max_size=3))
steps = st.lists(commits | flushes | commits | flushes | watches, min_size=8, max_size=24)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DocumentStore]:
    opened = SqliteStore(str(tmp_path / "memory.db"), wal=True)
    yield opened
    opened.close()


class Model:
    def __init__(self, store: DocumentStore) -> None:
        self.world = Watchers(store, f"proj-{next(numbers)}")
        self.clients = [self.world.client(*one) for one in PEOPLE]
        self.watched: list[set[tuple[str, str]]] = [set(), set(), set()]
        self.written: list[set[DirtyKey]] = [set(), set(), set()]
        self.late: list[tuple[Session, SyncFrame]] = []
        for number in range(3):
            for place in (("board", "space"), ("x", "user")):
                self.watch(number, place)

    def write(self, number: int, op: Any, place: Any, value: object) -> None:
        id, scope = place
        key = resolve_scope_key(scope, self.clients[number].session.identity)
        self.written[number].add(DirtyKey(key, id))
        self.world.write(self.clients[number], op, id, scope, value)

    def elsewhere(self, number: int, op: Any, place: Any, value: object) -> None:
        """Commit as another process of that person's session: the feed tells it."""
        id, scope = place
        ask = {"id": id, "scope": scope, "op": op}
        if op in ("set", "patch"):
            ask["value"] = value
        self.world.commit(self.clients[number].session, ask)
        self.world.feed()

    def watch(self, number: int, place: Any) -> None:
        self.world.watch(self.clients[number], *place)
        self.watched[number].add(place)

    def unwatch(self, number: int, place: Any) -> None:
        client = self.clients[number]
        name = "{} {} None".format(*place)
        client.take(self.world.server.unwatch(client.session, name))
        self.watched[number].discard(place)

    def flush(self, lost: list[bool]) -> None:
        """Tell everybody; some frames vanish, and that is found out one flush later."""
        late, self.late = self.late, []
        for session, frame in late:
            self.world.server.failed(session, frame)
        for session, frame in self.world.server.flush(self.world.space):
            client = self.world.clients[session]
            if lost[self.clients.index(client)]:
                self.late.append((session, frame))
            else:
                client.take(frame)
                self.world.server.delivered(session, frame)

    def settle(self) -> None:
        self.flush([False] * 3)
        self.flush([False] * 3)

    def settle_whole(self) -> None:
        """Have everything evaluated anew: only such a pass takes documents away."""
        for client in self.clients:
            frame = self.world.server.unwatch(client.session, "none of these")
            self.world.server.failed(client.session, frame)
        self.settle()

    def rows(self) -> dict[DirtyKey, Any]:
        found = self.world.store.read_many(self.world.space, EVERYWHERE)
        return {key: one.value for key, one in found.items() if not one.deleted}

    def reached(self, number: int) -> set[DirtyKey]:
        identity = self.clients[number].session.identity
        naive = Naive(self.rows(), identity)
        for id, scope in self.watched[number]:
            naive.walk(DirtyKey(resolve_scope_key(scope, identity), id), (), True)
        return naive.tracked

    def held(self, client: Client, key: DirtyKey) -> Any:
        instance = InstanceKey(self.world.space, key.scope_key, key.id)
        found = client.replica.entry(instance, client.session.identity)
        return found.value if found else MISSING


def play(store: DocumentStore, todo: Any) -> Model:
    model = Model(store)
    for what, *more in todo:
        getattr(model, what)(*more)
    model.settle()
    return model


few = settings(
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a failure takes minutes
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@few
@given(todo=steps)
def test_whatever_frames_are_lost_each_client_ends_with_the_rows_it_watches(
    store: DocumentStore, todo: Any
) -> None:
    model = play(store, todo)
    rows = model.rows()
    for number, client in enumerate(model.clients):
        for key in model.reached(number):
            assert same(model.held(client, key), rows.get(key, MISSING)), (number, key)
        for key in EVERYWHERE:
            if not applies_to(key.scope_key, client.session.identity):
                assert model.held(client, key) is MISSING
    assert model.world.flush() == []


@few
@given(todo=steps)
def test_after_a_whole_pass_a_client_has_no_document_that_it_does_not_watch(
    store: DocumentStore, todo: Any
) -> None:
    model = play(store, todo)
    model.settle_whole()
    rows = model.rows()
    for number, client in enumerate(model.clients):
        wanted = model.reached(number)
        # What a client wrote itself it knows, watched or not.
        for key in set(EVERYWHERE) - model.written[number]:
            value = rows.get(key, MISSING) if key in wanted else MISSING
            assert same(model.held(client, key), value), (number, key)
