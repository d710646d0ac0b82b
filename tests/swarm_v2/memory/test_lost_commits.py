"""A Redis that comes back with what it had saved last: numbers are given a second time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.frames import SyncFrame, Upsert
from scripts.swarm_v2.memory.library import LocalMemory
from scripts.swarm_v2.memory.replica import Replica
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.memory.store_redis import RedisStore
from scripts.swarm_v2.memory.watch_view import WatchView
from scripts.swarm_v2.scope_key import Identity
from tests.support.memory_server import A, B, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.redis_servers import Server

PROJ = "git.example.org/shop/web"
_number = count()


def now() -> datetime:
    return datetime(2026, 11, 30, 12, tzinfo=UTC)


class Forgetting:
    """Two people's processes at one Redis, which can be brought back to what it was."""

    def __init__(self, server: Server) -> None:
        self._server, self.prefix = server, f"lost{next(_number)}"
        self.stores: list[RedisStore] = []
        self.ann, self.bob = self._open(A), self._open(B)

    def _open(self, person: str) -> LocalMemory:
        self.stores.append(RedisStore(self._server.url, prefix=self.prefix, timeout_s=0.5))
        runtime = MemoryRuntime(self.stores[-1], now=now)
        return LocalMemory(runtime, PROJ, Credential(person, "test"), "1", now=now, owns_store=True)

    def _keys(self, where: str = "") -> list[str]:
        mine = f"{where}{self.prefix}:"
        return [key for key in self._server.keys() if key.startswith(mine)]  # noqa: SIM118

    def save(self) -> None:
        for key in self._keys():
            self._server.ask("COPY", key, f"saved-{key}")

    def come_back(self) -> None:
        for key in self._keys():
            self._server.ask("DEL", key)
        for key in self._keys("saved-"):
            self._server.ask("COPY", key, key.removeprefix("saved-"))

    def close(self) -> None:
        self.ann.close()
        self.bob.close()


@pytest.fixture
def redis(memory_redis: Server) -> Iterator[Forgetting]:
    made = Forgetting(memory_redis)
    yield made
    made.close()


def values(frames: list[dict[str, object]]) -> dict[str, object]:
    (frame,) = frames
    assert frame["reset"] is True
    return {one["id"]: one.get("value") for one in frame.get("upserts", [])}


@pytest.mark.parametrize("more", [0, 1, 2, 5], ids=["fewer", "one", "as many", "more"])
def test_whoever_watches_is_told_what_there_is_now_however_far_the_numbers_are(redis, more):
    redis.ann.watch("x", "x")
    redis.ann.watch("y", "y")
    redis.bob.commit(written("y", "kept"))
    redis.save()
    for number in (1, 2):
        redis.bob.commit(written("y", f"lost {number}"))
    assert redis.ann.frames(5)
    redis.come_back()
    for number in range(more):
        redis.bob.commit(written("x", f"new {number}"))
    new = {"x": f"new {more - 1}"} if more else {}
    assert values(redis.ann.frames(0)) == {**new, "y": "kept"}
    assert redis.ann.frames(0) == []
    redis.bob.commit(written("x", "after"))
    ((entry,),) = [frame["upserts"] for frame in redis.ann.frames(5)]
    assert (entry["id"], entry["value"]) == ("x", "after")


def test_an_emptied_server_is_told_too_and_its_spaces_are_listed_again(redis):
    redis.bob.commit(written("x", "gone"))
    redis.ann.watch("x", "x")
    redis.ann.frames(0)
    redis.come_back()
    assert values(redis.ann.frames(0)) == {}
    assert redis.bob.commit(written("x", "new")) == 1
    assert redis.stores[0].spaces() == [PROJ]


@pytest.mark.parametrize("more", [0, 1, 2])
def test_who_waits_is_woken_by_the_loss_itself(redis, more):
    store = redis.stores[0]
    redis.save()
    redis.bob.commit(written("y", "lost"))
    since = {PROJ: store.seq(PROJ)}
    assert store.wait(since, 0.01) is False
    redis.come_back()
    for number in range(more):
        redis.bob.commit(written("x", number))
    assert store.wait(since, 5) is True


def test_what_is_derived_is_made_of_what_there_is_now(redis):
    redis.ann.watch("c", "context")
    redis.save()
    redis.ann.commit(written("preferences", {"style": "old."}, "user"))
    assert "old." in json.dumps(redis.ann.frames(5))
    redis.come_back()
    redis.ann.commit(written("preferences", {"style": "new."}, "user"))
    told = json.dumps(redis.ann.frames(5))
    assert "new." in told
    assert "old." not in told
    assert "new." in str(redis.ann.read("context"))


def frame(seq: int, value: object, *, reset: bool, at: int = 0) -> SyncFrame:
    return SyncFrame(PROJ, 1, 0, seq, (Upsert("x", "space", at or seq, value),), (), reset)


@pytest.mark.parametrize(("seq", "at"), [(4, 4), (9, 4), (12, 4)])
def test_a_client_takes_the_lower_numbers_of_a_server_that_lost_some(seq, at):
    replica, view = Replica(PROJ, Identity(A, "1")), WatchView()
    for one in (frame(9, "lost", reset=False), frame(seq, "kept", reset=True, at=at)):
        replica.apply(one)
        view.apply(one)
    ((_, shown),) = list(view)
    assert (shown.seq, shown.value) == (at, "kept")
    assert replica.confirmed(InstanceKey(PROJ, "space", "x")) == "kept"
