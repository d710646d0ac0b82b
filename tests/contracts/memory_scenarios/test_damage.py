"""A stored document that is damaged: whom it concerns, and how it is put right."""

from __future__ import annotations

import json

import pytest

from tests.support.broken import break_preferences
from tests.support.memory_scenes import SPACE, A, B, run, spoil, style, user

DAMAGED = {
    "preferences": (user(A), "preferences"),
    "notes of another session": (run(A, "a3"), "notes"),
    "index": (user(A), "index"),
    "context": (user(A), "context"),
    "where the context is": ("space", "context"),
    "digest": ("space", "digest"),
    "faults": (user(A), "faults"),
}


def people(scene):
    return scene.here(A, "a1"), scene.here(A, "a3"), scene.here(B, "b1")


def watch_all(everybody):
    for one in everybody:
        for id, scope in (("context", "space"), ("status", "user"), ("digest", "space")):
            one.watch(id, scope)


def put_right(scene, what):
    """Write what a person has by hand; what is derived, its next run writes."""
    if what == "preferences":
        scene.apart(A, "a2").save("preferences", "user", style("mended"))
    elif what == "notes of another session":
        scene.apart(A, "a3").save("notes", "session", {"goals": ["mended"]})
    elif what == "index":
        scene.apart(A, "a2").save("index", "user", {"links": {}})


def errors(person):
    found = person.value("status", "user")["errors"]
    return [(error["node"], error["scope"], error["code"]) for error in found]


@pytest.mark.parametrize("when", ["found at the start", "found on the way"])
@pytest.mark.parametrize("what", DAMAGED)
def test_what_is_damaged_concerns_its_owner_alone_and_is_replaced_by_what_is_written(
    scene, what, when
):
    everybody = people(scene)
    mine, theirs = scene.apart(A, "a2"), scene.apart(B, "b2")
    mine.save("preferences", "user", style("dry"))
    mine.remember("own", "a note of one's own", "user")
    theirs.remember("first", "there from the first")
    if what.startswith("notes"):
        scene.apart(A, "a3").save("notes", "session", {"goals": ["ship"]})
    if not what.startswith("notes") or when == "found on the way":
        watch_all(everybody)
    if what == "faults":
        break_preferences(scene.store, SPACE, user(A))
        scene.pump()
        mine.save("preferences", "user", style("dry"))
    if when == "found at the start":
        scene.restart()
    spoil(scene.world, *DAMAGED[what])
    if when == "found at the start":
        everybody = people(scene)
        watch_all(everybody)
    a1, a3, b1 = everybody
    theirs.remember("second", "the news")
    assert b1 in scene.pump()
    assert "the news" in b1.value("context", "space")["text"]
    assert b1.value("status", "user")["shared"]["memories"] == 2
    wrong = [("context", "user", "store-damaged")] if what == "preferences" else []
    assert wrong == [one for one in errors(a1) if one in wrong]
    put_right(scene, what)
    scene.pump()
    assert errors(a1) == errors(b1) == []
    for one in (a1, a3):
        assert "the news" in one.value("context", "space")["text"]
    if what in ("preferences", "notes of another session"):
        assert "mended" in a3.value("context", "space")["text"]


@pytest.mark.parametrize("what", ["preferences", "notes of another session", "index"])
def test_a_damaged_head_keeps_nobody_else_waiting(scene, what):
    everybody = people(scene)
    scene.apart(A, "a2").remember("own", "a note of one's own", "user")
    scene.apart(A, "a3").save("notes", "session", {"goals": ["ship"]})
    watch_all(everybody[1:])
    spoil(scene.world, *DAMAGED[what], head=True)
    watch_all(everybody[:1])
    theirs = scene.apart(B, "b2")
    for text in ("the news", "more news"):
        theirs.remember(text[:4], text)
        assert everybody[2] in scene.pump()
        assert text in everybody[2].value("context", "space")["text"]


@pytest.mark.parametrize("how", ["number", "key"])
def test_a_damaged_record_of_what_was_read_is_as_good_as_none(scene, how):
    a1, _, b1 = everybody = people(scene)
    watch_all(everybody)
    scene.apart(B, "b2").remember("first", "there from the first")
    scene.pump()
    scene.restart()
    if scene.world.kind == "sqlite":
        wrong = "seq = 'x'" if how == "number" else "entity_scope_key = 'user:%'"
        scene.world.sql(f"UPDATE OR REPLACE basis SET {wrong} WHERE entity <> ''")
    else:
        wrong = (
            '[["proj","user:%","index",1]]' if how == "key" else '[["proj","space","index","x"]]'
        )
        for action, key in (("context", user(A)), ("digest", "space"), ("status", user(A))):
            field = json.dumps(["", action, key], separators=(",", ":"))
            assert scene.world.ask("HSET", scene.world.key("basis"), field, wrong) == 0
    a1, _, b1 = everybody = people(scene)
    watch_all(everybody)
    scene.pump()
    for one in (a1, b1):
        assert "there from the first" in one.value("context", "space")["text"]
        assert errors(one) == []
    scene.apart(A, "a2").save("memory/first", "space", {"text": "another one"})
    scene.pump()
    assert "another one" in a1.value("context", "space")["text"]
