"""Scenarios 13 to 17, 23, 32 and 34: runs, one instance at a time."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager

import pytest

from scripts.swarm_v2.errors import ScopeKeyError
from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.preferences import DEFAULT_PREFERENCES
from scripts.swarm_v2.scope_key import Identity
from tests.support.broken import break_preferences
from tests.support.memory_scenes import SPACE, A, B, C, Scene, run, style, user


def context_of(person):
    return str(person.value("context", "space"))


class Interrupted:
    """A store; once ``then`` is set, it is done right after somebody read ``of``."""

    def __init__(self, store, of):
        self._store, self._of, self.then = store, of, None

    def __getattr__(self, name):
        return getattr(self._store, name)

    def read_many(self, space, keys, *, branch=""):
        keys = list(keys)
        found = self._store.read_many(space, keys, branch=branch)
        if self.then is not None and self._of in keys:
            then, self.then = self.then, None
            then()
        return found


def test_scenario_13_a_change_during_a_run(world, beside):
    scene = Scene(world, beside, lambda store: Interrupted(store, (user(A), "preferences")))
    a1, a2 = scene.here(A, "a1"), scene.apart(A, "a2")
    a1.save("preferences", "user", style("the earlier one"))
    scene.pump()
    scene.runtime.store.then = lambda: a2.save("preferences", "user", style("the later one"))
    (shown,) = [one for one in a1.watch("context", "space").upserts if one.scope == "user"]
    assert scene.runtime.store.then is None
    assert "the later one" in str(shown.value)
    assert "the earlier one" not in str(shown.value)
    assert scene.runs() == {user(A): 2}
    assert scene.revisions(user(A)) == 1
    # And of a context that is there already.
    a1.save("preferences", "user", style("the last but one"))
    scene.runtime.store.then = lambda: a2.save("preferences", "user", style("the last one"))
    assert scene.pump() == [a1]
    assert "the last one" in str(a1.rows)
    assert scene.runs() == {user(A): 4}
    scene.close()


def test_scenario_14_a_failing_person_does_not_block_another(scene):
    a1, b1 = scene.here(A, "a1"), scene.here(B, "b1")
    a2, beside = scene.apart(A, "a2"), scene.apart(B, "b2")
    a2.save("preferences", "user", style("the last good one"))
    for one in (a1, b1):
        one.watch("context", "space")
        one.watch("status", "user")
    break_preferences(scene.store, SPACE, user(A))
    beside.save("preferences", "user", style("news of b"))
    assert b1 in scene.pump()
    assert "news of b" in str([one.value for one in b1.told if one.id == "context"])
    assert "the last good one" in context_of(a1)
    ((error,), none) = [one.value("status", "user")["errors"] for one in (a1, b1)]
    assert (error["node"], error["scope"], error["code"]) == (
        "context",
        "user",
        "link-circle",
    )
    assert "come back to it" in error["sentence"]
    assert none == []
    # It runs again as soon as what failed it moves, and no earlier.
    runs = scene.runs()
    beside.save("preferences", "user", style("more news of b"))
    scene.pump()
    assert scene.runs() == {**runs, user(B): runs[user(B)] + 1}
    a2.save("preferences", "user", style("mended"))
    scene.pump()
    assert "mended" in context_of(a1)
    assert a1.value("status", "user")["errors"] == []


def test_scenario_15_the_same_plan_for_different_people(scene):
    a1, b1 = scene.here(A, "a1"), scene.here(B, "b1")
    scene.apart(A, "a2").remember("x", "the build needs java")
    for one in (a1, b1):
        one.save("preferences", "user", style(f"of {one.principal}"))
    for one in (a1, b1):
        one.watch("context", "space")
    plans = [one.value("context", "space")["plan"] for one in (a1, b1)]
    assert plans == [["project", "person"]] * 2
    for part in plans[0]:
        assert [row.scope_key for row in scene.graph.of(f"context/{part}")] == [user(A), user(B)]
    assert scene.graph.counts["context"] == {"built": 2, "kept": 0}
    scene.apart(B, "b2").save("preferences", "user", style("the same plan again"))
    scene.pump()
    assert scene.graph.counts["context"] == {"built": 2, "kept": 1}
    assert "the same plan again" in context_of(b1)


def test_scenario_16_a_result_slot_per_instance(scene):
    a1, b1 = scene.here(A, "a1"), scene.here(B, "b1")
    scene.apart(B, "b1").save("notes", "session", {"goals": ["ship"]})
    for one in (a1, b1):
        one.watch("context", "space")
    slots = scene.scheduler.nodes["context"].slots
    of_a, of_b = Identity(A, "a1"), Identity(B, "b1")
    assert slots.get("user", of_a).scope_key == user(A)
    assert slots.get("session", of_b).scope_key == run(B, "b1")
    assert slots.get("session", of_a) is None
    assert slots.get("user", of_b) is None
    assert [(one.space, one.id) for one in (slots.get("user", of_a),)] == [(SPACE, "context")]
    with pytest.raises(TypeError):
        slots.get("session")
    with pytest.raises(ScopeKeyError):
        slots.get("session", Identity())
    # What stands in the slot is what that person reads.
    for one, scope in ((a1, "user"), (b1, "session")):
        where = slots.get(scope, one.session.identity)
        stored = scene.store.read(SPACE, where.scope_key, where.id)
        assert scene.runtime.read(one.session, "context", "space") == stored


@contextmanager
def no_commit(world):
    """Let the store refuse every commit, and answer every question."""
    if world.kind == "redis":
        world.ask("CONFIG", "SET", "min-replicas-to-write", "1")
        try:
            yield
        finally:
            world.ask("CONFIG", "SET", "min-replicas-to-write", "0")
    else:
        with closing(sqlite3.connect(world.path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            yield
            db.execute("ROLLBACK")


def test_scenario_17_defaults_for_each(scene, world):
    scene.apart(A, "a1").save("preferences", "user", style("of a"))
    a1 = scene.here(A, "a1")
    with no_commit(world):
        early = scene.here(B, "b1")  # it may read all the same; the defaults come with the next
    assert early.value("preferences", "user") is None
    assert scene.rows("preferences") == [(user(A), "preferences")]
    b1 = scene.here(B, "b1")
    assert b1.value("preferences", "user") == DEFAULT_PREFERENCES
    assert scene.rows("preferences") == [(user(A), "preferences"), (user(B), "preferences")]
    assert a1.value("preferences", "user") == style("of a")
    # They are written once, whoever opens what and where.
    scene.here(B, "b2"), scene.apart(B, "b3"), scene.here(A, "a2")
    assert [scene.revisions(user(who), "preferences") for who in (A, B)] == [2, 1]


def test_scenario_23_the_status_graph_tells_instances_apart(scene):
    a1, b1 = scene.here(A, "a1"), scene.here(B, "b1")
    scene.apart(B, "b1").save("notes", "session", {"goals": ["ship"]})
    for one in (a1, b1):
        one.watch("context", "space")
    graph = scene.graph
    rows = {row.scope_key: row.label for row in graph.of("context")}
    assert rows == {key: f"{SPACE}/context/{key}" for key in (user(A), run(B, "b1"))}
    own = {user(A): A, run(B, "b1"): B}
    for key, label in rows.items():
        edges = {edge.read: edge for edge in graph.edges if edge.reader == label}
        mine = user(own[key])
        assert InstanceKey(SPACE, mine, "preferences").label() in edges
        assert InstanceKey(SPACE, "space", "index").label() in edges
        other = user(B if own[key] == A else A).removeprefix("user:")
        assert not [read for read in edges if other in read]
        # Every edge names an instance by the very number at which that one was read.
        for one in scene.scheduler.nodes["context"].instance(key).seen:
            if one.space == SPACE:
                head = scene.store.heads([one])[one]
                assert edges[one.label()].seq == head


def test_scenario_32_budgets_are_separate(scene):
    a1, b1 = scene.here(A, "a1"), scene.here(B, "b1")
    beside = scene.apart(B, "b1")
    a1.save("notes", "session", {"goals": ["begin"]})
    for one in (a1, b1):
        one.watch("context", "space")
    scene.later(minutes=1)
    scene.pump()
    before = scene.runs()
    built = lambda key: scene.runs()[key] - before[key]  # noqa: E731
    for number in range(50):
        a1.save("notes", "session", {"goals": [f"goal {number}"]})
        scene.pump()
    assert built(run(A, "a1")) == 10
    beside.save("preferences", "user", style("of b, in that same second"))
    assert b1 in scene.pump()
    assert "of b, in that same second" in str(b1.rows)
    assert (built(user(B)), built(run(A, "a1"))) == (1, 10)
    assert 0 < scene.runtime.due_s() <= 1
    for second in range(3):
        scene.later(seconds=1)
        a1.frames.clear()
        scene.pump()
        assert built(run(A, "a1")) == 11 + second
        assert f"goal {49 + second}" in str(a1.rows)
        for number in range(2):
            a1.save("notes", "session", {"goals": [f"goal {49 + second + number}"]})
            assert scene.pump() == []
    assert built(user(B)) == 1


def test_scenario_34_a_restart_runs_only_what_moved(scene):
    def start():
        people = [scene.here(who, "1") for who in (A, B, C)]
        for one in people:
            one.watch("context", "space")
        return people

    start()
    texts = [context_of(one) for one in scene.people.values()]
    scene.restart()
    people = start()
    assert scene.runs() == {user(A): 0, user(B): 0, user(C): 0}
    assert [context_of(one) for one in people] == texts
    seq = scene.store.seq(SPACE)
    scene.runtime.close()
    scene.apart(B, "2").save("preferences", "user", style("moved meanwhile"))
    scene.restart()
    people = start()
    assert scene.runs() == {user(A): 0, user(B): 1, user(C): 0}
    assert "moved meanwhile" in context_of(people[1])
    assert [context_of(people[n]) for n in (0, 2)] == [texts[n] for n in (0, 2)]
    assert scene.store.seq(SPACE) == seq + 2
