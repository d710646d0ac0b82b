"""Scenarios 1 to 5: whose row a commit becomes, and what never becomes one."""

from __future__ import annotations

import pytest

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.admission import Admission
from scripts.swarm_v2.memory.queries import Query
from scripts.swarm_v2.memory.store import Basis, Seen, Write
from scripts.swarm_v2.memory.transactions import Annotated
from tests.support.memory_scenes import SPACE, A, B, C, run, style, user
from tests.support.memory_stores import AT, refusal

S = "did:key:zS"


def derive(scene, service, writes, seen=()):
    """Do here what ``memory_writer`` does beside."""
    rows = [Annotated(id, scope, "set", {"n": 1}, None, key) for id, scope, key in writes]
    basis = [Basis("context", key, (Seen(SPACE, of, id, 0),)) for key, of, id in seen]
    admission = Admission(scene.store)
    commit = admission.derived(SPACE, rows, (), basis, service.session, AT)
    return scene.store.commit(SPACE, commit)


def test_scenario_01_two_people_one_id_three_rows(scene):
    a, b = scene.here(A, "a1"), scene.apart(B, "b1")
    a.save("preferences", "user", style("of a"))
    b.save("preferences", "user", style("of b"))
    b.save("preferences", "space", style("of all"))
    assert scene.rows("preferences") == [
        (key, "preferences") for key in ("space", user(A), user(B))
    ]
    assert [one.value("preferences", "user") for one in (a, b)] == [style("of a"), style("of b")]
    # The other process shows each of them the same.
    a_there, b_here = scene.apart(A, "a2"), scene.here(B)
    assert a_there.value("preferences", "user") == style("of a")
    assert b_here.value("preferences", "user") == style("of b")
    for third in (scene.here(None), scene.apart(None)):
        assert third.value("preferences", "space") == style("of all")
        with refusal("identity-missing"):
            third.value("preferences", "user")
    for person in (a, b):
        person.save("memory/x", "user", {"text": f"of {person.principal}"})
    a.save("memory/x", "space", {"text": "of all"})
    for third in (scene.here(C, "c1"), scene.apart(C, "c2")):
        assert third.value("memory/x", "user") is None
        assert third.value("memory/x", "space") == {"text": "of all"}
    assert len(scene.rows("memory/x")) == 3


@pytest.mark.parametrize("more", [{"scope_key": user(B)}, {"principal": B}, {"session": "b1"}])
def test_scenario_02_a_commit_cannot_name_whose_it_is(scene, more):
    people = (scene.here(A, "a1"), scene.apart(A, "a2"))
    before = scene.state()
    for person in people:
        write = {"id": "preferences", "scope": "user", "value": style("forged")}
        for proposal in ({"writes": [{**write, **more}]}, {"writes": [write], **more}):
            with refusal("identity-in-commit"):
                person.commit(proposal)
    assert scene.state() == before
    assert (user(B), "preferences") not in scene.rows()
    assert people[1].save("memory/x", "space", {"text": "next"}) == before[0] + 1


CORRUPT = ("user:did%3akey%3azA", "user:a/b", "user:%")


@pytest.mark.parametrize("key", CORRUPT)
def test_scenario_03_a_corrupt_key_never_reaches_a_row(scene, key):
    b = scene.apart(B, "b1")
    written, read = ([("context", "user", key)], []), ([], [(user(A), key, "preferences")])
    made = ([("context", "user", user(A))], [(key, "space", "index")])
    before = scene.state()
    service = scene.service(S)
    for writes, seen in (written, read, made):
        with refusal("scope-key-malformed"):
            derive(scene, service, writes, seen)
    assert service.session.lease.release()
    assert scene.beside.ask("serve", principal=S)
    for writes, seen in (written, read, made):
        with refusal("scope-key-malformed"):
            scene.beside.ask("derive", writes=writes, seen=seen)
    assert scene.state() == before
    good = [("context", "user", user(A))]
    assert scene.beside.ask("derive", writes=good) == before[0] + 1
    assert b.save("memory/x", "space", {"text": "next"}) == before[0] + 2


def test_scenario_04_no_silent_empty_instance(scene):
    a, b = scene.here(A, "a1"), scene.apart(B, "b1")
    service = scene.service(S)
    before = scene.state()
    with refusal("instance-unnamed"):
        derive(scene, service, [("context", "user", None)])
    with refusal("instance-unnamed"):
        query = Query(Address(SPACE, "preferences", "user"))
        scene.runtime.subscriptions.watch(service.session, "w", query)
    with refusal("instance-unnamed"):
        service.save("preferences", "user", style("of nobody"))
    assert service.session.lease.release()
    assert scene.beside.ask("serve", principal=S)
    with refusal("instance-unnamed"):
        scene.beside.ask("derive", writes=[("context", "user", None)])
    assert scene.state() == before
    assert scene.beside.ask("release")
    # Nor does the product's own scheduler make one, whatever it makes for whom.
    for id, scope in (("context", "space"), ("status", "user"), ("digest", "space")):
        a.watch(id, scope)
    b.save("preferences", "user", style("of b"))
    assert b.value("context", "space")
    scene.pump()
    assert {key for key, _ in scene.rows()} == {"space", user(A), user(B)}


@pytest.mark.parametrize("where", ["here", "beside"])
def test_scenario_05_no_session_no_session_row(scene, where):
    job = getattr(scene, "here" if where == "here" else "apart")(A, "job-7")
    before = scene.state()
    for key in (run(A, "a1"), run(A, "job-7")):
        with refusal("identity-missing"):
            if where == "here":
                Admission(scene.store).system(SPACE, [Write("notes", key, "set", {})], AT)
            else:
                scene.beside.ask("carry", id="notes", scope_key=key, value={})
    nobodys = getattr(scene, "here" if where == "here" else "apart")(A)
    with refusal("identity-missing"):
        nobodys.save("notes", "session", {"goals": ["ship"]})
    assert scene.state() == before
    assert scene.rows("notes") == []
    assert job.save("notes", "session", {"goals": ["ship"]}) == before[0] + 1
    assert scene.rows("notes") == [(run(A, "job-7"), "notes")]
