"""Scenarios 6 to 8: who is told of a commit, wherever it was made."""

from __future__ import annotations

import pytest

from tests.support.memory_scenes import A, B, style


@pytest.fixture
def three(scene):
    people = scene.here(A, "a1"), scene.here(A, "a2"), scene.here(B, "b1")
    scene.pump()  # the defaults that the first sessions wrote
    return people


def test_scenario_06_only_the_written_instance_wakes(scene, three):
    a1, a2, b1 = three
    beside = scene.apart(A, "a2")
    for one in three:
        one.watch("preferences", "user")
    looked_at = b1.looked_at
    a2.save("preferences", "user", style("written here"))
    assert scene.pump() == [a1]
    assert a1.rows == [("user", "preferences", style("written here"))]
    beside.save("preferences", "user", style("written beside"))
    # To this process's own a2 it is news: another client of that session wrote it.
    assert scene.pump() == [a1, a2]
    for one in (a1, a2):
        assert len(one.frames) == 1
        assert one.rows == [("user", "preferences", style("written beside"))]
    assert b1.frames == []
    assert b1.looked_at == looked_at
    assert scene.pump() == []


def test_scenario_07_sessions_of_one_person_stay_apart(scene, three):
    a1, a2, b1 = three
    beside = scene.apart(A, "a1")
    for one in three:
        assert one.watch("notes", "session").upserts == ()
    looked_at = [one.looked_at for one in (a2, b1)]
    for number, writer in enumerate((a1, beside)):
        writer.save("notes", "session", {"goals": [str(number)]})
        assert a2 not in scene.pump()
    assert a1.rows == [("session", "notes", {"goals": ["1"]})]  # its own was not echoed
    for one in (a2, b1):
        assert one.rows == []
        assert one.value("notes", "session") is None
    assert [one.looked_at for one in (a2, b1)] == looked_at


@pytest.mark.parametrize("where", ["here", "beside"])
def test_scenario_08_a_space_change_reaches_all(scene, three, where):
    a1, a2, b1 = three
    writer = b1 if where == "here" else scene.apart(B, "b1")
    scene.apart(A, "a1").remember("x", "as it was")
    for one in three:
        one.watch("index", "space")
        one.watch("memory/x", "space")
    writer.save("memory/x", "space", {"text": "edited"})
    news = [("space", "memory/x", {"text": "edited"})]
    others = [a1, a2] if where == "here" else [a1, a2, b1]
    assert scene.pump() == others
    for one in others:
        assert len(one.frames) == 1
        assert one.rows == news
    assert b1.frames == []
    assert scene.pump() == []
