from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scripts.swarm_v2.memory.document import MISSING
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import Remove
from scripts.swarm_v2.memory.sessions import Lease
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from tests.support.memory_stores import SPACE, A, B
from tests.support.watchers import Client, Watchers

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.store import DocumentStore

OF_A = resolve_scope_key("user", Identity(A))
OF_B = resolve_scope_key("user", Identity(B))


@pytest.fixture
def world(each_store: DocumentStore) -> Watchers:
    return Watchers(each_store)


@pytest.fixture
def one(sqlite_store: DocumentStore) -> Watchers:
    """For what no store plays a part in."""
    return Watchers(sqlite_store)


def three(world: Watchers) -> tuple[Client, Client, Client]:
    return world.client(A, "a1"), world.client(A, "a2"), world.client(B, "b1")


def settings(text: str) -> Any:
    return {"style": text}


def put(world: Watchers, scope_key: str, id: str, value: object) -> None:
    """Write an instance that no author could."""
    world.store.commit(SPACE, Commit("system", (Write(id, scope_key, "set", value),)))


def test_keyed_in_and_keyed_out(world: Watchers) -> None:
    """Scenario 24."""
    a1 = world.client(A, "a1")
    world.write(a1, "set", "preferences", "user", settings("of a"))
    service = world.connect(world.service("did:key:zS"))
    own = resolve_scope_key("user", service.session.identity)
    put(world, own, "preferences", settings("of the service"))
    for key in (own, OF_A):
        world.watch(service, "preferences", "user", key)
    assert service.has("preferences", "user", OF_A) == settings("of a")

    lease = service.session.lease
    assert lease is not None
    lease.release()
    other = Lease(world.store, SPACE, "scheduler")
    assert other.acquire()
    assert world.flush() == [service]
    assert service.frames[-1].removes == (Remove("preferences", "user", OF_A),)
    assert service.has("preferences", "user", OF_A) is MISSING
    assert service.has("preferences", "user") == settings("of the service")
    world.write(a1, "set", "preferences", "user", settings("meanwhile"))
    before = world.server.withheld
    assert world.flush() == []
    assert world.server.withheld > before

    other.release()
    assert lease.acquire()
    assert world.flush() == [service]
    assert service.has("preferences", "user", OF_A) == settings("meanwhile")
    assert service.has("preferences", "user") == settings("of the service")
    assert {key.instance for key, _ in service.view} == {own, OF_A}
    assert world.flush() == []


def test_a_lapse_that_a_watch_finds_first_loses_nothing(one: Watchers) -> None:
    a1 = one.client(A, "a1")
    one.write(a1, "set", "preferences", "user", settings("of a"))
    service = one.connect(one.service("did:key:zS"))
    one.watch(service, "preferences", "user", OF_A)
    lease = service.session.lease
    assert lease is not None
    lease.release()
    one.write(a1, "set", "preferences", "user", settings("meanwhile"))
    one.watch(service, "board", "space")
    assert service.has("preferences", "user", OF_A) is MISSING
    assert lease.acquire()
    one.flush()
    assert service.has("preferences", "user", OF_A) == settings("meanwhile")


def test_what_was_sent_by_name_is_sent_by_key_once_a_key_was_admitted(one: Watchers) -> None:
    service = one.connect(one.service("did:key:zS"))
    one.save(service.session, "board", "space", {"links": {}})
    one.watch(service, "board", "space")
    assert service.frames[-1].upserts[0].scope_key is None
    one.watch(service, "preferences", "user", OF_A)
    assert service.session.keyed
    assert [entry.scope_key for entry in service.frames[-1].upserts] == ["space"]
    assert [key.instance for key, _ in service.view] == ["space"]
    lease = service.session.lease
    assert lease is not None
    lease.release()
    one.save(service.session, "board", "space", {"links": {"x": {}}})
    one.feed()
    one.flush()
    assert service.frames[-1].upserts[0].scope_key == "space"  # for the session's whole life


def test_who_may_not_name_an_instance_is_refused_whether_or_not_it_exists(one: Watchers) -> None:
    b1, a1 = one.client(B, "b1"), one.client(A, "a1")
    one.watch(b1, "board", "space")
    said = []
    for there in (False, True):
        if there:
            one.write(a1, "set", "preferences", "user", settings("of a"))
        with pytest.raises(MemoryRefused) as refused:
            one.watch(b1, "preferences", "user", OF_A)
        said.append((refused.value.code, str(refused.value)))
    assert said[0] == said[1]
    assert said[0][0] == "instance-refused"
    assert list(b1.session.watches) == ["board space None"]
    with pytest.raises(MemoryRefused, match="canonical"):
        one.watch(b1, "preferences", "user", "user:did%3akey")


def test_the_same_watch_again_is_nothing_and_with_another_key_a_changed_one(one: Watchers) -> None:
    a1, _, b1 = three(one)
    one.write(a1, "set", "preferences", "user", settings("of a"))
    one.write(b1, "set", "preferences", "user", settings("of b"))
    service = one.connect(one.service("did:key:zS"))
    one.watch(service, "preferences", "user", OF_A, name="w")
    walks = one.server.evaluations
    assert one.watch(service, "preferences", "user", OF_A, name="w").empty
    assert one.server.evaluations == walks
    frame = one.watch(service, "preferences", "user", OF_B, name="w")
    assert [entry.scope_key for entry in frame.upserts] == [OF_B]
    assert frame.removes == (Remove("preferences", "user", OF_A),)
