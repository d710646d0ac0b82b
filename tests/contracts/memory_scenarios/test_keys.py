"""Scenarios 24 to 26: who may name an instance, and what becomes of it without the lease."""

from __future__ import annotations

import json

import pytest

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import Remove
from scripts.swarm_v2.memory.queries import Query
from scripts.swarm_v2.memory.replica import Replica
from tests.support.memory_scenes import SPACE, A, B, style, user
from tests.support.memory_server import PROJ, MemoryServer, short_folder, written
from tests.support.memory_stores import refusal

S = "did:key:zS"
PREFERENCES = Address(SPACE, "preferences", "user")


def watch(scene, person, key, name=""):
    query = Query(PREFERENCES._replace(scope_key=key))
    frame = scene.runtime.subscriptions.watch(person.session, name or str(key), query)
    scene.runtime.delivered(person.session, frame)
    return frame


def test_scenario_24_keyed_in_keyed_out(scene):
    a1 = scene.here(A, "a1")
    scene.apart(S, "run").save("preferences", "user", style("of the service"))
    a1.save("preferences", "user", style("of a"))
    service = scene.service(S)
    replica = Replica(SPACE, service.session.identity)
    for key in (user(S), user(A)):
        replica.apply(watch(scene, service, key))
    mine, theirs = PREFERENCES, PREFERENCES._replace(scope_key=user(A))
    read = lambda: (replica.read(mine, None), replica.read(theirs, None))  # noqa: E731
    assert read() == (style("of the service"), style("of a"))

    def pump():
        told = scene.pump()
        for frame in service.frames:
            replica.apply(frame)
        return told

    pump()
    service.frames.clear()
    scene.world.end_lease()
    assert scene.beside.ask("serve", principal=S)  # another process has it now
    assert pump() == [service]
    (frame,) = service.frames
    assert (frame.removes, frame.upserts) == ((Remove("preferences", "user", user(A)),), ())
    assert read()[0] == style("of the service")
    assert read()[1] is not style("of a")
    assert str(read()[1]) == str(replica.read(PREFERENCES._replace(scope_key=user(B)), None))
    service.frames.clear()
    scene.apart(A, "a2").save("preferences", "user", style("meanwhile"))
    assert pump() == []
    assert scene.beside.ask("release")
    assert service.session.lease.acquire()
    assert pump() == [service]
    assert read() == (style("of the service"), style("meanwhile"))


def refused(call):
    with pytest.raises(MemoryRefused) as told:
        call()
    return told.value.code, str(told.value), told.value.facts


def test_scenario_25_who_does_not_hold_the_lease_cannot_name_an_instance(scene):
    b1 = scene.here(B, "b1")
    said = [refused(lambda: watch(scene, b1, user(A)))]
    scene.apart(A, "a2").save("preferences", "user", style("of a"))
    scene.pump()
    said.append(refused(lambda: watch(scene, b1, user(A))))
    assert said[0] == said[1]
    assert said[0][0] == "instance-refused"
    with refusal("scope-key-malformed"):
        watch(scene, b1, "user:did%3akey%3azA")
    assert not b1.session.watches
    assert watch(scene, b1, user(B)).upserts[0].scope_key is None  # one's own is no secret


@pytest.fixture
def folder():
    yield from short_folder()


def test_scenario_25_at_a_server_no_question_has_a_place_for_a_key(folder):
    (folder / "person").mkdir()
    with MemoryServer(folder / "person" / "agentihooks", folder) as server:
        document = {"id": "memory/x", "scope": "user"}
        asks = {"read": document, "watch": {**document, "watch": "w"}, "list": {"scope": "user"}}
        named = {"scope_key": user(A)}, {"principal": A}
        with server.raw() as sock, sock.makefile("rb") as lines:

            def say(**message):
                sock.sendall(json.dumps(message).encode() + b"\n")
                return json.loads(lines.readline())

            def ask_all():
                return [
                    say(kind="ask", n=1, ask=ask, fields={**fields, **name})
                    for ask, fields in asks.items()
                    for name in named
                ]

            said = say(kind="hello", token=server.people[B], space=PROJ, session="b1")
            assert said["principal"] == B
            before = ask_all()
            assert {answer["code"] for answer in before} == {"identity-in-commit"}
            with server.client(A, "a1") as a:
                a.commit(written("memory/x", {"text": "of a"}, "user"))
            assert ask_all() == before
            answer = say(kind="ask", n=2, ask="read", fields=document)
            assert answer["body"] == {"document": None}


def test_scenario_26_two_instances_need_keys(scene):
    b1, a2 = scene.here(B, "b1"), scene.apart(A, "a2")
    a2.save("preferences", "user", style("of a"))
    watch(scene, b1, None, "own")
    with refusal("instances-ambiguous"):
        watch(scene, b1, user(A))
    watch(scene, b1, user(B))  # a key equal to its own is fine
    # Of a session whose lease lapsed, too.
    service = scene.service(S)
    for key in (user(A), user(B)):
        watch(scene, service, key)
    scene.world.end_lease()
    with refusal("instances-ambiguous"):
        watch(scene, service, user("did:key:zC"))
    assert scene.beside.ask("serve", principal=S)
    with refusal("instances-ambiguous"):
        watch(scene, service, user("did:key:zC"))
    assert set(service.session.watches) == {user(A), user(B)}
    assert scene.beside.ask("release")
    assert service.session.lease.acquire()
    watch(scene, service, user("did:key:zC"))
