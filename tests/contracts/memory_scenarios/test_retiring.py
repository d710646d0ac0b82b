"""Scenario 35: what an ended session leaves, and whose rows stay."""

from __future__ import annotations

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.queries import Query
from tests.support.memory_scenes import A2, SPACE, A, B, run, user
from tests.support.memory_stores import refusal


def noted(*sessions):
    for one in sessions:
        one.save("notes", "session", {"goals": [f"of {one.session_id}"]})


def test_scenario_35_retiring_a_session(scene):
    """``did:key:zA2`` begins as ``did:key:zA`` does, and ``a10`` as ``a1``."""
    a1, a10, b1 = scene.here(A, "a1"), scene.here(A, "a10"), scene.here(B, "b1")
    near = scene.apart(A2, "a1")
    noted(a1, a10, b1, near)
    beside = scene.here(A2, "a1")
    for one in (a1, a10, b1, beside):
        one.watch("context", "space")
    ended = run(A, "a1")
    held = scene.runtime._standing._serving[SPACE].service
    # Who serves the space watches it by its key, beside one that stays.
    subscriptions = scene.runtime.subscriptions
    for key in (ended, run(A2, "a1")):
        query = Query(Address(SPACE, "notes", "session", (), key))
        scene.runtime.delivered(held, subscriptions.watch(held, key, query))
    scene.runtime.pump()
    others = [key for key in scene.rows() if key[0] != ended]
    before = {key: scene.store.read(SPACE, *key) for key in others}
    basis = {(one.action, one.scope_key): one for one in scene.store.basis(SPACE)}
    assert ("context", ended) in basis

    scene.runtime.close_session(a1.session)
    scene.runtime.retention.end(ended, scene.at)
    scene.later(days=29)
    assert scene.runtime.sweep() == 0
    assert scene.store.read(SPACE, ended, "notes").value == {"goals": ["of a1"]}
    scene.later(days=2)
    assert scene.runtime.sweep() == 1
    frames = dict(scene.runtime.pump())
    gone = [entry for entry in frames[held].upserts if entry.scope_key == ended]
    gone += [entry for entry in frames[held].removes if entry.scope_key == ended]
    assert [entry.id for entry in gone] == ["notes"]
    assert getattr(gone[0], "deleted", True)
    assert run(A2, "a1") not in str(frames[held])

    for id in ("notes", "context"):
        found = scene.store.read(SPACE, ended, id)
        assert found is None or (found.deleted and found.value is None)
        assert not [one for one in scene.store.history(SPACE, ended, id) if one.value is not None]
    left = {(one.action, one.scope_key): one for one in scene.store.basis(SPACE)}
    assert left == {key: one for key, one in basis.items() if key[1] != ended}
    assert {key: scene.store.read(SPACE, *key) for key in others} == before
    assert near.value("notes", "session") == {"goals": ["of a1"]}
    assert a10.value("notes", "session") == {"goals": ["of a10"]}
    # The other process finds none of it either, and can begin that session anew.
    again = scene.apart(A, "a1")
    assert again.value("notes", "session") is None
    noted(again)
    assert again.value("notes", "session") == {"goals": ["of a1"]}
    assert (user(A), "preferences") in scene.rows()
    with refusal("session-missing"):
        a1.value("notes", "session")
