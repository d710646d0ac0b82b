"""Scenarios 9 to 12: how often something derived runs, and for whom."""

from __future__ import annotations

from tests.support.memory_scenes import SPACE, A, B, C, run, style, user


def more(before, after):
    """Return how many runs were added, by instance; what did not run is left out."""
    added = {key: runs - before.get(key, 0) for key, runs in after.items()}
    return {key: runs for key, runs in added.items() if runs}


def test_scenario_09_a_context_is_rebuilt_for_exactly_one(scene):
    a1, a2, b1 = scene.here(A, "a1"), scene.here(A, "a2"), scene.here(B, "b1")
    beside = scene.apart(A, "a2")
    for one in (a1, a2, b1):
        one.watch("context", "space")
    assert set(scene.runs()) == {user(A), user(B)}
    of_b = scene.store.read(SPACE, user(B), "context")

    def run_by(change):
        before = scene.runs()
        change()
        told = scene.pump()
        assert b1 not in told
        assert scene.store.read(SPACE, user(B), "context") == of_b
        return more(before, scene.runs()), told

    for writer in (a1, beside):
        told_of = writer.principal + writer.session_id
        added, told = run_by(lambda w=writer, t=told_of: w.save("preferences", "user", style(t)))
        assert added == {user(A): 1}
        assert told == [a1, a2]
        assert all(told_of in str(one.rows) for one in told)

    # One level deeper, each of that person's sessions has an instance of its own.
    def note():
        a1.save("notes", "session", {"goals": ["of a1"]})
        beside.save("notes", "session", {"goals": ["of a2"]})

    run_by(note)
    assert set(scene.runs()) == {run(A, "a1"), run(A, "a2"), user(B)}
    for writer in (a1, beside):
        told_of = "deep " + writer.session_id
        added, told = run_by(lambda w=writer, t=told_of: w.save("preferences", "user", style(t)))
        assert added == {run(A, "a1"): 1, run(A, "a2"): 1}
        assert told == [a1, a2]
    assert scene.revisions(user(B)) == 1


def test_scenario_10_a_shared_derivation_runs_once(scene):
    people = [(f"did:key:z{number}", f"s{number}") for number in range(10)]
    asking = [scene.here(*who) for who in people]
    for one in asking:
        one.watch("digest", "space")
    assert scene.runs("digest") == {"space": 1}
    beside = [scene.apart(*who) for who in people]
    values = [one.value("digest", "space") for one in (*asking, *beside)]
    assert all(value == values[0] for value in values)
    assert values[0] is not None
    scene.pump()
    assert scene.runs("digest") == {"space": 1}
    assert scene.rows("digest") == [("space", "digest")]
    assert scene.revisions("space", "digest") == 1
    assert [one.scope_key for one in scene.store.basis(SPACE, "digest")] == ["space"]
    for writer in (asking[0], beside[1]):
        writer.remember(f"of-{writer.session_id}", "the build needs java")
    assert scene.pump() == asking
    assert scene.runs("digest") == {"space": 2}
    assert scene.rows("digest") == [("space", "digest")]


def test_scenario_11_depth_is_ragged(scene):
    a1, a2, b1 = scene.here(A, "a1"), scene.here(A, "a2"), scene.here(B, "b1")
    scene.apart(B, "b1").save("notes", "session", {"goals": ["ship"]})
    a1.save("preferences", "user", style("dry"))
    for one in (a1, b1, a2):
        one.watch("context", "space")
    assert scene.runs() == {user(A): 1, run(B, "b1"): 1}
    scene.apart(A, "a2").save("preferences", "user", style("wet"))
    assert scene.pump() == [a1, a2]
    assert scene.runs() == {user(A): 2, run(B, "b1"): 1}
    read = [scene.runtime.read(one.session, "context", "space") for one in (a1, a2, b1)]
    assert [found.scope_key for found in read] == [user(A), user(A), run(B, "b1")]
    assert read[0] == read[1]
    assert "ship" in str(read[2].value)
    assert "ship" not in str(read[0].value)
    # The other process finds the same instances stored.
    there = [
        scene.beside.ask("read", principal=who, session=id, id="context", scope="space")
        for who, id in ((A, "a1"), (A, "a2"), (B, "b1"))
    ]
    assert there == [[found.value, found.scope_key] for found in read]
    assert {key for key, _ in scene.rows()} == {"space", user(A), user(B), run(B, "b1")}
    assert scene.rows("notes") == [(run(B, "b1"), "notes")]


def test_scenario_12_a_late_arrival_runs_for_itself_alone(scene):
    a1 = scene.here(A, "a1")
    a1.watch("context", "space")
    before = scene.runs()
    assert before == {user(A): 1}
    kept = scene.store.read(SPACE, user(A), "context")
    scene.apart(B, "b1").save("preferences", "user", style("of b"))
    scene.pump()
    assert scene.runs() == before
    b1 = scene.here(B, "b1")
    assert "of b" in str(b1.watch("context", "space").upserts)
    assert more(before, scene.runs()) == {user(B): 1}
    assert scene.store.read(SPACE, user(A), "context") == kept
    # Nor does somebody who arrives in another process make anything run here.
    before = scene.runs()
    assert scene.apart(C, "c1").value("context", "space")
    scene.pump()
    assert scene.runs() == before
    assert a1.frames == []
