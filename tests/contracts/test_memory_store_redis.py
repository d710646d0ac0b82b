"""Scoped memory in a Redis that restarts, loses answers, gives few rights, or is a cluster."""

from __future__ import annotations

import json
import subprocess

import pytest

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.redis_link import Script
from scripts.swarm_v2.memory.store import Basis
from scripts.swarm_v2.memory.store_redis import RIGHTS, RedisStore
from tests.support.forgetful_redis import Forgetful
from tests.support.processes import ROOT, command
from tests.support.redis_servers import Cluster, Server, ask, binary, until
from tests.support.store_worlds import (
    ANN,
    ANN_1,
    AT,
    SPACE,
    authored,
    delete,
    derived,
    erase,
    patch,
    put,
    refused,
    seen,
)

SCRIPT = b"EVAL"  # EVALSHA and EVAL
BIG = {str(number): "x" * 40 for number in range(100)}


@pytest.fixture
def lossy(server):
    with Forgetful(server.port, SCRIPT) as way:
        yield way


def of(url, prefix, **how):
    store = RedisStore(url, prefix=prefix, **how)
    assert store.spaces() == []
    return store


class Ticking:
    """A clock that goes on only when somebody sleeps."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def test_a_commit_whose_answer_is_lost_is_written_once_and_answered(server, lossy):
    store = of(lossy.url, "lost")
    store.commit(SPACE, authored(put("a", 1)))
    lossy.lose = 3
    assert store.commit(SPACE, authored(put("a", 2, 1), put("b", 1, 0))) == 2
    assert lossy.lost == 3
    assert len(store.history(SPACE, "space", "a")) == 2
    assert [one.seq for one in store.changes(SPACE, 0)] == [1, 2]
    assert store.commit(SPACE, authored(put("a", 3, 2))) == 3
    store.close()


def test_who_was_never_answered_asks_again_with_the_request_and_is_told_the_same(server, lossy):
    clock = Ticking()
    store = of(lossy.url, "never", clock=clock, sleep=clock.sleep, timeout_s=2.0)
    commit = authored(put("a", 1, 0))
    lossy.lose = 10_000
    facts = refused("store-busy", store.commit, SPACE, commit)
    lossy.lose = 0
    assert store.seq(SPACE) == 1
    assert store.commit(SPACE, commit, request=facts["request"]) == 1
    refused("stale-base", store.commit, SPACE, commit)
    assert store.seq(SPACE) == 1
    assert server.ask("PTTL", f"never:memory:{{{SPACE}}}:request:{facts['request']}") > 0
    store.close()


def test_a_refusal_whose_answer_is_lost_is_a_refusal(server, lossy):
    store = of(lossy.url, "refusal")
    store.commit(SPACE, authored(put("a", 1)))
    lossy.lose = 2
    refused("stale-base", store.commit, SPACE, authored(put("a", 2, 0)))
    assert (lossy.lost, store.seq(SPACE)) == (2, 1)
    store.close()


def test_a_snapshot_that_cannot_be_kept_costs_nothing_but_time(server, lossy):
    clock = Ticking()
    store = of(lossy.url, "snap", clock=clock, sleep=clock.sleep, timeout_s=0.2)
    store.commit(SPACE, authored(put("a", {"n": 0})))
    lossy.word, lossy.lose = Script("snapshot").digest.encode(), 10_000
    for number, base in ((2, [b"r", b"1"]), (3, [b"r", b"2"])):
        assert store.commit(SPACE, authored(patch("a", {str(number): BIG}))) == number
        assert _head(server).split()[2:4] == base
    assert lossy.lost >= 2
    lossy.lose = 0
    assert store.commit(SPACE, authored(patch("a", {"n": 1}))) == 4
    assert _head(server).split()[2:4] == [b"s", b"0"]
    assert store.read(SPACE, "space", "a").value == {"n": 1, "2": BIG, "3": BIG}
    store.close()


def _head(server):
    return server.ask("HGET", f"snap:memory:{{{SPACE}}}:head", '["","space","a"]')


def before(store, script, do):
    """Let something else happen once, just before the store runs ``script``."""
    run = store._link.run

    def late(asked, *args, **named):
        if asked is store._scripts[script]:
            store._link.run = run
            do()
        return run(asked, *args, **named)

    store._link.run = late


def test_erasing_members_and_keeping_snapshots_lose_nothing_that_another_writes_meanwhile(server):
    store, other = (RedisStore(server.url, prefix="race") for _ in range(2))
    store.commit(SPACE, authored(put("a", {"n": 0, "x": "gone"})))
    before(store, "commit", lambda: other.commit(SPACE, authored(patch("a", {"n": 1, "x": "too"}))))
    assert store.commit(SPACE, authored(erase("a", {"x": None}))) == 3
    assert store.read(SPACE, "space", "a").value == {"n": 1}
    assert [one.value for one in store.history(SPACE, "space", "a")] == [
        {"x": None},
        {"n": 1},
        {"n": 0},
    ]
    before(store, "snapshot", lambda: other.commit(SPACE, authored(patch("a", {"n": 2}))))
    assert store.commit(SPACE, authored(patch("a", {"big": BIG}))) == 4
    assert store.read(SPACE, "space", "a").value == {"n": 2, "big": BIG}
    store.close()
    other.close()


WRITER = f"""
import json, sys
numbers = []
sys.stdin.readline()
while len(numbers) < 150:
    old = store.read("{SPACE}", "space", "sum")
    write = Write("sum", "space", "set", old.value + 1 if old else 1, old.seq if old else 0)
    numbers.append(store.commit("{SPACE}", Commit("authored", (write,))))
print(json.dumps(numbers))
"""


@pytest.mark.parametrize("build", ["wheel", "system"])
def test_a_server_that_is_killed_and_restarted_loses_no_commit_and_doubles_none(tmp_path, build):
    door = tmp_path / "s"
    options = (f"unixsocket {door}", "appendonly yes", "appendfsync always")
    with Server(tmp_path / "redis", binary(build), *options) as server:
        url = f"unix://{door}"
        store = RedisStore(url, timeout_s=30.0)
        code = (
            "from scripts.swarm_v2.memory.store_redis import RedisStore\n"
            "from scripts.swarm_v2.memory.store import Commit, Write\n"
            f"store = RedisStore({url!r}, timeout_s=30.0)\n"
        )
        pipe = subprocess.PIPE
        writer = subprocess.Popen(command(code + WRITER), stdin=pipe, stdout=pipe)
        writer.stdin.write(b"\n")
        writer.stdin.flush()
        until(lambda: store.seq(SPACE) > 20)
        server.stop()
        server.start()
        told = json.loads(writer.communicate()[0])
        assert told == list(range(1, 151))
        assert store.read(SPACE, "space", "sum").value == 150
        assert [one.seq for one in store.changes(SPACE, 0)] == told
        store.close()


def use_everything(store):
    """Call every method, each way of it that sends another command."""
    store.commit(SPACE, authored(put("a", 1), put("n", 1, None, ANN_1), annotations={"x": 1}))
    store.commit(SPACE, authored(patch("a", {"b": BIG}), delete("n", None, ANN_1)))
    store.commit(SPACE, authored(erase("a", {"b": None})))
    store.acquire(SPACE, "one:1", 60_000)
    basis = Basis("context", ANN, (seen("a", 3),), ("space",))
    store.commit(SPACE, derived(put("context", 1, None, ANN), holder="one:1", basis=(basis,)))
    assert store.moved(SPACE, "context", ANN) == []
    assert [one.scope_key for one in store.basis(SPACE)] == [ANN]
    assert store.held(SPACE).holder == "one:1"
    assert store.release(SPACE, "one:1")
    assert [one.id for one in store.select(SPACE, ["space", ANN])] == ["a", "context"]
    assert len(store.history(SPACE, "space", "a")) == 3
    assert len(store.changes(SPACE, 0)) == store.seq(SPACE) == 4
    assert store.wait({SPACE: 3, "q": 0}, 10) is True
    assert store.wait({SPACE: 4, "q": 0}, 0) is False
    store.retire(SPACE, ANN_1, AT)
    assert store.retired(SPACE, "9") == [ANN_1]
    assert store.drop_session(SPACE, ANN_1, AT) == 5
    assert store.commit(SPACE, authored(erase("a"))) == 6
    assert store.spaces() == [SPACE]


def test_a_user_with_the_rights_that_are_stated_can_do_everything_and_needs_each(tmp_path):
    rights = " ".join(("resetkeys", "~mine:memory:*", "-@all", *RIGHTS))
    with Server(tmp_path, binary("system"), f"user ann on >pw {rights}") as server:
        url = server.url.replace("redis://", "redis://ann:pw@")
        server.ask("CONFIG", "RESETSTAT")
        store = RedisStore(url, prefix="mine")
        assert store.user() == "ann"
        use_everything(store)
        stats = server.ask("INFO", "commandstats").decode()
        asked = {line.partition(":")[0].removeprefix("cmdstat_") for line in stats.splitlines()}
        assert {right.removeprefix("+") for right in RIGHTS} <= asked
        refused("store-busy", RedisStore, url, prefix="other")
        store.close()
        unnamed = RedisStore(server.url, prefix="mine")
        assert unnamed.user() is None
        unnamed.close()


def test_the_rights_that_are_stated_are_those_of_the_documentation():
    page = (ROOT / "docs" / "scoped-memory.md").read_text(encoding="utf-8")
    assert " ".join(RIGHTS) in " ".join(page.split())


def test_a_user_who_may_not_even_ask_who_it_is_is_refused(tmp_path):
    rights = " ".join(("resetkeys", "~mine:memory:*", "-@all", "+get", "+set"))
    with Server(tmp_path, binary("system"), f"user ann on >pw {rights}") as server:
        store = RedisStore(server.url.replace("redis://", "redis://ann:pw@"), prefix="mine")
        refused("store-busy", store.user)
        refused("store-busy", store.commit, SPACE, authored(put("a", 1)))
        assert server.ask("KEYS", "*proj*") == []
        store.close()


def test_a_space_lies_on_one_slot_of_a_cluster_and_waiting_takes_many(tmp_path):
    with Cluster(tmp_path, binary("system")) as cluster:
        store = RedisStore(cluster.url, prefix="mine")
        use_everything(store)
        for space in ("q", "odd {}} space"):
            assert store.commit(space, authored(put("a", 1), reads=(seen("context", 4, ANN),))) == 1
        refused("stale-read", store.commit, "q", authored(put("a", 2), reads=(seen("a", 4),)))
        assert store.wait({SPACE: 6, "q": 0}, 10) is True
        assert store.wait({SPACE: 6, "q": 1}, 0) is False
        assert store.spaces() == sorted([SPACE, "q", "odd {}} space"])
        store.close()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("seq", ("SET", "x")),
        ("head", ("SET", "x")),
        ("commits", ("SET", "1")),
        ('revisions:["","space","a"]', ("SET", "1")),
        ('live:["","space"]', ("SET", "1")),
        ("basis", ("RPUSH", "1")),
    ],
)
def test_a_key_that_something_else_wrote_is_told_and_nothing_is_written(
    server, name, words, request
):
    prefix = f"foreign{abs(hash(request.node.name))}"
    store = RedisStore(server.url, prefix=prefix)
    store.commit(SPACE, authored(put("a", 1), put("b", 1)))
    key = f"{prefix}:memory:{{{SPACE}}}:{name}"
    ask(server.url, "DEL", key)
    ask(server.url, words[0], key, words[1])
    before = {one: server.ask("DUMP", one) for one in server.keys() if one.startswith(prefix)}  # noqa: SIM118
    refused("store-damaged", store.commit, SPACE, authored(put("b", 2), put("a", 2)))
    after = {one: server.ask("DUMP", one) for one in server.keys() if one.startswith(prefix)}  # noqa: SIM118
    assert after == before
    store.close()


@pytest.mark.parametrize(
    "url", ["redis://127.0.0.1:1", "redis://", "http://x", "redis://u:hunter2@["]
)
def test_an_address_where_no_redis_is_is_told_without_its_password(url):
    clock = Ticking()
    with pytest.raises(MemoryRefused) as told:
        RedisStore(url, timeout_s=0.5, clock=clock, sleep=clock.sleep)
    assert told.value.code == "store-busy"
    assert "hunter2" not in str(told.value) + told.value.hint
