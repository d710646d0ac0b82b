"""Scenarios 20 to 22: loads under way, and frames that carry several people's instances."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.changes import ChangeSet
from scripts.swarm_v2.memory.document import MISSING
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.pending_loads import PendingLoads
from scripts.swarm_v2.memory.queries import Query
from scripts.swarm_v2.memory.replica import Replica
from scripts.swarm_v2.scope_key import Identity
from tests.support.memory_scenes import SPACE, A, B, C, spoil, style, user

PREFERENCES = Address(SPACE, "preferences", "user")
OF_A, OF_B = (InstanceKey(SPACE, user(who), "preferences") for who in (A, B))
IS_A, IS_B = Identity(A, "a1"), Identity(B, "b1")
WAIT_S = 30


@pytest.fixture
def half_spoiled(scene):
    """A's preferences are damaged where they are stored, B's are not."""
    a2, b2 = scene.apart(A, "a2"), scene.apart(B, "b2")
    a2.save("preferences", "user", style("of a"))
    b2.save("preferences", "user", style("of b"))
    spoil(scene.world, user(A), "preferences")
    return a2


def codes(told):
    return [error and error.code for error in told]


def test_scenario_20_two_loads_and_one_failure(scene, half_spoiled):
    loads, slow, reads = PendingLoads(), threading.Event(), []
    told = {"a": [], "a too": [], "b": []}

    def read(key):
        reads.append(key)
        assert slow.wait(WAIT_S)
        scene.store.read(*key)
        return ()

    with ThreadPoolExecutor(3) as pool:
        load = lambda who, name: loads.load(  # noqa: E731
            PREFERENCES, who, read, pool.submit, told[name].append
        )
        first = load(IS_A, "a")
        assert load(IS_A, "a too") == first
        of_b = load(IS_B, "b")
        assert told == {"a": [], "a too": [], "b": []}
        slow.set()
    assert sorted(reads) == [OF_A, OF_B]
    assert codes(told["a"]) == codes(told["a too"]) == ["store-damaged"]
    assert told["b"] == [None]
    half_spoiled.save("preferences", "user", style("of a, again"))
    again = loads.load(PREFERENCES, IS_A, read, lambda job: job(), told["a"].append)
    assert again > max(first, of_b)
    assert codes(told["a"]) == ["store-damaged", None]


class Loads:
    """What a replica's loads ask a serving session's watches; each is answered when it is said."""

    def __init__(self, scene):
        self._scene, self.service = scene, scene.service("did:key:zS").session
        self.replica = Replica(SPACE, self.service.identity, self._load)
        self.asked, self._waiting = [], []

    def _load(self, address, settled):
        self.asked.append(address)
        self._waiting.append((address, settled))

    def answer(self):
        """Answer the load that waits longest."""
        address, settled = self._waiting.pop(0)
        try:
            frame = self.watch(address)
        except MemoryRefused as err:
            settled(err)
        else:
            self.replica.apply(frame)
            settled(None)

    def watch(self, address):
        subscriptions = self._scene.runtime.subscriptions
        frame = subscriptions.watch(self.service, str(address.scope_key), Query(address))
        subscriptions.delivered(self.service, frame)
        return frame


def test_scenario_21_a_failed_load_can_be_tried_again(scene, half_spoiled):
    loads = Loads(scene)
    replica, told = loads.replica, {OF_A: [], OF_B: []}
    for who, key in ((IS_A, OF_A), (IS_B, OF_B)):
        assert replica.read(PREFERENCES, who) is MISSING
        replica.loads.when_settled([key], told[key].append)
    assert [one.scope_key for one in loads.asked] == [user(A), user(B)]
    loads.answer()
    assert codes(told[OF_A]) == ["store-damaged"]
    assert told[OF_B] == []
    assert (OF_A in replica.pulls, OF_B in replica.pulls) == (False, True)
    half_spoiled.save("preferences", "user", style("of a, again"))
    assert replica.read(PREFERENCES, IS_B) is MISSING  # still under way: nothing is asked again
    assert replica.read(PREFERENCES, IS_A) is MISSING
    assert [one.scope_key for one in loads.asked] == [user(A), user(B), user(A)]
    loads.answer()
    loads.answer()
    assert told[OF_B] == [None]
    assert replica.read(PREFERENCES, IS_A) == style("of a, again")
    assert replica.read(PREFERENCES, IS_B) == style("of b")
    assert len(loads.asked) == 3


def test_scenario_22_one_batch_with_two_instances(scene):
    people = [scene.here(who, "1") for who in (A, B, C)]
    beside = {who: scene.apart(who, "2") for who in (A, B)}
    for one in beside.values():
        one.save("preferences", "user", style("as it was"))
    for one in people:
        one.watch("context", "space")
    scheduler = scene.scheduler
    service = scheduler.service
    replica = Replica(SPACE, service.identity)
    for who in (A, B, C):
        address = PREFERENCES._replace(scope_key=user(who))
        frame = scene.runtime.subscriptions.watch(service, who, Query(address))
        scene.runtime.delivered(service, frame)
        replica.apply(frame)
    for who, one in beside.items():
        one.save("preferences", "user", style(f"news of {who}"))
    for change in scene.store.changes(SPACE, scene.runtime.positions()[SPACE]):
        scene.runtime.subscriptions.mark_dirty(SPACE, change)
    frames = dict(scene.runtime.subscriptions.flush(SPACE))
    batch = frames[service]
    assert {entry.scope_key for entry in batch.upserts} == {user(A), user(B)}
    changes = ChangeSet()
    changes.capture(SPACE, replica.keys_of(batch), replica.confirmed)
    assert set(replica.apply(batch)) == {OF_A, OF_B}
    found = changes.compare(replica.confirmed)
    assert sorted(one.address for one in found) == [
        f'/{user(who)}/preferences/["style"]' for who in (A, B)
    ]
    woken = [reader for one in found for reader in scheduler.index.readers(one.key, one.path)]
    assert sorted(woken) == [("context", user(A)), ("context", user(B))]
    runs = scene.runs()
    assert scheduler.dirty(found) == 2
    scheduler.run_dirty()
    assert scene.runs() == {key: n + (key != user(C)) for key, n in runs.items()}
