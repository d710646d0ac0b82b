"""Scenarios 18, 19 and 27 to 31: what a walk reaches for whom, and whose evaluation serves whom."""

from __future__ import annotations

import pytest

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.loader import DocumentLoader
from scripts.swarm_v2.memory.misses import MissLedger
from scripts.swarm_v2.memory.queries import Query
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.memory.traversal import SchemaTracker, Traverser
from scripts.swarm_v2.scope_key import Identity
from tests.support.memory_scenes import NOON, SPACE, A, B, linked, user
from tests.support.memory_server import MemoryServer, short_folder, written
from tests.support.memory_stores import refusal
from tests.support.store_worlds import World

WAIT_S = 20


def link_to(scope, *slugs):
    return linked(*((slug, f"memory/{slug}", scope) for slug in slugs))


def tracked(person):
    (watch,) = person.session.watches.values()
    return watch.tracked


def shown(frame):
    return sorted((entry.scope, entry.id) for entry in frame.upserts)


def test_scenario_18_coverage_is_not_contagious(scene):
    a1, b1, beside = scene.here(A, "a1"), scene.here(B, "b1"), scene.apart(B, "b2")
    a1.save("index", "space", link_to("user", "x"))
    for one in (a1, beside):
        one.save("memory/x", "user", {"text": f"of {one.principal}"})
    scene.pump()
    for one in (a1, b1):
        frame = one.watch("index", "space")
        assert shown(frame) == [("space", "index"), ("user", "memory/x")]
        own = [entry.value for entry in frame.upserts if entry.id == "memory/x"]
        assert own == [{"text": f"of {one.principal}"}]
        keys = {key.scope_key for key in tracked(one).tracker if key.id == "memory/x"}
        assert keys == {user(one.principal)}
    beside.save("memory/x", "user", {"text": "later of b"})
    assert scene.pump() == [b1]
    assert b1.rows == [("user", "memory/x", {"text": "later of b"})]


def test_scenario_19_a_repeated_unscoped_link_keeps_its_value(scene):
    a1, beside = scene.here(A, "a1"), scene.apart(B, "b1")
    link = {"$link": {"id": "memory/x"}}
    a1.save("plan", "space", {"first": link, "again": {"deeper": [link, link]}})
    beside.save("memory/x", "space", {"text": "uv"})
    frame = a1.watch("plan", "space")
    assert shown(frame) == [("space", "memory/x"), ("space", "plan")]
    twice = lambda text: {"first": text, "again": {"deeper": [text, text]}}  # noqa: E731
    assert tracked(a1).result == twice({"text": "uv"})
    beside.save("memory/x", "space", {"text": "pip"})
    assert scene.pump() == [a1]
    assert tracked(a1).result == twice({"text": "pip"})


EIGHT = [(f"did:key:z{number}", f"s{number}") for number in range(8)]


def test_scenario_27_one_evaluation_for_many(scene):
    beside = scene.apart(B, "b1")
    beside.remember("x", "uv")
    for who in EIGHT:
        scene.apart(*who)  # their defaults are written
    scene.restart()
    eight = [scene.here(*who) for who in EIGHT]
    frames = [one.watch("index", "space") for one in eight]
    cache = scene.runtime.cache
    assert (cache.evaluations, cache.hits) == (1, 7)
    assert all(frame.upserts == frames[0].upserts for frame in frames)
    assert shown(frames[0]) == [("space", "index"), ("space", "memory/x")]
    for text, writer in (("pip", beside), ("conda", eight[3])):
        writer.save("memory/x", "space", {"text": text})
        others = [one for one in eight if one is not writer]
        assert scene.pump() == others
        for one in others:
            assert one.rows == [("space", "memory/x", {"text": text})]


@pytest.fixture
def folder():
    yield from short_folder()


def test_scenario_27_at_a_server_that_was_killed_and_started_again(folder):
    (folder / "person").mkdir()
    tokens = {f"did:key:z{letter}": letter * 64 for letter in "23456789"}
    home = folder / "person" / "agentihooks"
    with MemoryServer(home, folder, people=tokens) as server:
        link = link_to("space", "x")
        with server.client("did:key:z2") as first:
            first.commit(written("memory/x", {"text": "uv"}))
            first.commit(written("index", link))
        server.process.kill()
        server.ended()
        server.start()
        eight = [server.client(who, "run") for who in tokens]
        for one in eight:
            frame = one.watch("all", "index")
            assert sorted(entry["id"] for entry in frame["upserts"]) == ["index", "memory/x"]
        for text, writer in (("pip", eight[0]), ("conda", eight[7])):
            writer.commit(written("memory/x", {"text": text}))
            for one in eight:
                if one is not writer:
                    ((entry,),) = [frame["upserts"] for frame in one.frames(WAIT_S)]
                    assert (entry["id"], entry["value"]) == ("memory/x", {"text": text})
            assert writer.frames(0) == []


def test_scenario_28_absent_now_and_mine_later(scene):
    a1, a2, b1 = scene.here(A, "a1"), scene.here(A, "a2"), scene.here(B, "b1")
    beside = scene.apart(B, "b2")
    a1.save("index", "space", link_to("user", "x"))
    scene.pump()
    for one in (a1, a2, b1):
        assert shown(one.watch("index", "space")) == [("space", "index")]
    cache = scene.runtime.cache
    assert (cache.evaluations, cache.hits) == (1, 2)
    looked_at = [one.looked_at for one in (a1, a2)]
    beside.save("memory/x", "user", {"text": "mine"})
    assert scene.pump() == [b1]
    assert b1.rows == [("user", "memory/x", {"text": "mine"})]
    assert [one.looked_at for one in (a1, a2)] == looked_at


def test_scenario_29_present_means_not_shared(scene):
    a1, b1, beside = scene.here(A, "a1"), scene.here(B, "b1"), scene.apart(B, "b2")
    a1.save("index", "space", link_to("user", "x"))
    beside.save("memory/x", "user", {"text": "mine"})
    scene.pump()
    cache = scene.runtime.cache
    assert shown(a1.watch("index", "space")) == [("space", "index")]
    assert (cache.evaluations, cache.hits, cache.refusals) == (1, 0, 0)
    assert shown(b1.watch("index", "space")) == [("space", "index"), ("user", "memory/x")]
    assert (cache.evaluations, cache.hits, cache.refusals) == (2, 0, 1)
    # The same question again, of the same identity: by another connection, say.
    again = scene.here(B, "b1")
    assert shown(again.watch("index", "space")) == [("space", "index"), ("user", "memory/x")]
    assert (cache.evaluations, cache.hits) == (2, 1)


def commits(scene):
    """Return what commits something, each by another door; all of them beside."""
    ask = scene.beside.ask
    return {
        "authored": lambda: scene.apart(B, "b1").save("memory/y", "space", {"text": "y"}),
        "of a person": lambda: scene.apart(B, "b1").save("notes", "session", {"goals": ["y"]}),
        "derived": lambda: ask("derive", writes=[("context", "user", user(B))]),
        "system": lambda: ask("carry", id="faults", scope_key=user(B), value={"n": 1}),
        # The nearest thing to a permission: who is let in to write what is derived.
        "after the lease went": lambda: (
            ask("release"),
            ask("serve", principal="did:key:zS"),
            ask("derive", writes=[("digest", "space", None)]),
        ),
    }


def test_scenario_30_any_commit_rotates(scene, tmp_path):
    scene.apart(B, "b1").remember("x", "uv")
    assert scene.beside.ask("serve", principal="did:key:zS")
    query, cache = Query(Address(SPACE, "index")), scene.runtime.cache
    asker = scene.here(A, "a1").session
    ask = lambda store: cache.ask(store, query, asker)  # noqa: E731
    ask(scene.store)
    ask(scene.store)
    assert (cache.evaluations, cache.hits) == (1, 1)
    for number, (door, commit) in enumerate(commits(scene).items(), 2):
        commit()
        ask(scene.store)
        assert cache.evaluations == number, door
        ask(scene.store)
        assert cache.evaluations == number, door
    # A second store at the same number, with another text.
    (tmp_path / "second").mkdir()
    second = World(scene.world.kind, tmp_path / "second", scene.world.server)
    runtime = MemoryRuntime(second.open(), now=lambda: NOON)
    while runtime.store.seq(SPACE) < scene.store.seq(SPACE):
        value = {"n": runtime.store.seq(SPACE)}
        write = Write("index", "space", "set", value)
        runtime.store.commit(SPACE, Commit("system", (write,)))
    assert runtime.store.seq(SPACE) == scene.store.seq(SPACE)
    before = cache.evaluations
    assert ask(runtime.store).result == value
    assert cache.evaluations == before + 1
    second.close()


def test_scenario_31_the_memo_guard_is_loud(scene):
    a1, beside = scene.here(A, "a1"), scene.apart(B, "b1")
    a1.save("index", "space", link_to("user", "x"))
    a1.save("memory/x", "user", {"text": "of a"})
    beside.save("memory/x", "user", {"text": "of b"})
    scene.pump()
    a1.watch("index", "space")
    memo = tracked(a1).memo

    def traverser(identity):
        loader = DocumentLoader(scene.store, SPACE, identity)
        return Traverser(loader, SchemaTracker(), MissLedger(), memo)

    own = a1.session.identity
    for other in (Identity(B, "b1"), Identity(A, "a2"), Identity(A), Identity(None, "a1")):
        with refusal("identity-changed"):
            traverser(other)
    assert traverser(own).memo is memo
    assert tracked(a1).result["links"]["x"]["memory"] == {"text": "of a"}
    beside.save("index", "space", link_to("user", "x", "y"))
    assert scene.pump() == [a1]
    assert tracked(a1).result["links"]["x"]["memory"] == {"text": "of a"}
