"""Running what moved, once for each instance that somebody wants (part 1 section 7: 9-17, 34)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.changes import ChangeSet
from scripts.swarm_v2.memory.derivations import Derivation, Output
from scripts.swarm_v2.memory.document import MISSING, make_link
from scripts.swarm_v2.memory.store import Write
from scripts.swarm_v2.scope_key import DirtyKey, Identity
from tests.support.memory_stores import SPACE, A, B
from tests.support.scheduling import A1, A2, ALL, B1, World, key

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.store import DocumentStore

CONTEXT_ONLY = ("context",)


@pytest.fixture
def world(each_store: DocumentStore) -> World:
    return World(each_store)


def prefer(world: World, who: Identity, style: str) -> None:
    world.save(who, "preferences", "user", {"style": style})


def test_a_persons_change_runs_that_persons_instances_and_nobody_elses(world: World) -> None:
    world.remember(B1, "x", "the port is 8080")
    prefer(world, A1, "short")
    prefer(world, B1, "long")
    world.save(A1, "notes", "session", {"goals": ["ship"]})
    world.want(A1, A2, B1, nodes=CONTEXT_ONLY)
    before = world.runs("context")
    assert set(before) == {key("session", A1), key("session", A2), key("user", B1)}
    stored = world.row("context", "user", B1).seq
    prefer(world, A2, "shorter")
    assert world.go().runs == 2
    after = world.runs("context")
    assert after[key("user", B1)] == before[key("user", B1)]
    assert world.row("context", "user", B1).seq == stored
    assert "shorter" in world.result("context", A1)["text"]
    assert "shorter" in world.result("context", A2)["text"]


def test_at_user_depth_one_run_serves_every_session_of_the_person(world: World) -> None:
    prefer(world, A1, "short")
    world.want(A1, A2, nodes=CONTEXT_ONLY)
    prefer(world, A2, "shorter")
    assert world.go().runs == 1
    assert set(world.runs("context")) == {key("user", A1)}


def test_a_shared_derivation_runs_once_for_ten_sessions(world: World) -> None:
    world.remember(A1, "x", "one")
    ten = [Identity(f"did:key:z{number}", f"s{number}") for number in range(10)]
    report = world.want(*ten, nodes=("digest",))
    assert report.runs == 1
    assert world.runs("digest") == {"space": 1}
    heads = world.store.select(
        SPACE, ["space", *[key("user", one) for one in ten]], prefix="digest"
    )
    assert [one.scope_key for one in heads] == ["space"]


def test_depth_is_ragged_where_only_one_person_has_notes(world: World) -> None:
    prefer(world, A1, "short")
    prefer(world, B1, "long")
    world.save(B1, "notes", "session", {"goals": ["mend it"]})
    world.want(A1, A2, B1, nodes=CONTEXT_ONLY)
    assert set(world.runs("context")) == {key("user", A1), key("session", B1)}
    assert world.row("context", "space", A1).value == make_link("context", "user")
    assert world.row("context", "user", B1).value == make_link("context", "session")
    assert isinstance(world.row("context", "user", A1).value, dict)
    assert world.row("context", "session", A1) is None
    assert world.row("context", "session", A2) is None
    assert "mend it" in world.result("context", B1)["text"]
    assert world.result("context", A1) == world.result("context", A2)


def test_one_batch_with_two_instances_wakes_exactly_their_two_readers(world: World) -> None:
    for who in (A1, B1, Identity("did:key:zC", "c1")):
        prefer(world, who, "short")
        world.want(who, nodes=CONTEXT_ONLY)
    changes = ChangeSet()

    def read(at: InstanceKey) -> object:
        found = world.store.read(*at)
        return found.value if found else MISSING

    batch = [DirtyKey(key("user", who), "preferences") for who in (A1, B1)]
    changes.capture(SPACE, batch, read)
    prefer(world, A1, "other")
    prefer(world, B1, "other")
    changed = changes.compare(read)
    assert len(changed) == 2
    world.fed = world.store.seq(SPACE)
    assert world.scheduler.dirty(changed) == 2
    assert world.scheduler.dirty([one._replace(path=("else",)) for one in changed]) == 2
    assert world.go().runs == 2


def test_a_late_arrival_runs_for_itself_alone(world: World) -> None:
    prefer(world, A1, "short")
    world.want(A1, nodes=CONTEXT_ONLY)
    before = world.runs("context")[key("user", A1)]
    prefer(world, B1, "long")
    assert world.want(B1, nodes=CONTEXT_ONLY).runs == 1
    assert world.runs("context") == {key("user", A1): before, key("user", B1): 1}


def test_a_second_session_of_a_person_whose_context_is_there_runs_nothing(world: World) -> None:
    prefer(world, A1, "short")
    world.want(A1, nodes=CONTEXT_ONLY)
    assert world.want(A2, nodes=CONTEXT_ONLY).runs == 0
    assert "short" in world.result("context", A2)["text"]


def test_a_second_session_that_has_notes_makes_its_person_session_deep(world: World) -> None:
    prefer(world, A1, "short")
    world.want(A1, nodes=CONTEXT_ONLY)
    world.save(A2, "notes", "session", {"goals": ["mine alone"]})
    world.want(A2, nodes=CONTEXT_ONLY)
    assert set(world.runs("context")) == {key("session", A1), key("session", A2)}
    assert "mine alone" in world.result("context", A2)["text"]
    assert "mine alone" not in world.result("context", A1)["text"]


def test_notes_of_a_session_that_is_served_wake_it_though_another_ran(world: World) -> None:
    prefer(world, A1, "short")
    world.want(A1, A2, nodes=CONTEXT_ONLY)
    world.save(A2, "notes", "session", {"goals": ["written later"]})
    world.go()
    assert "written later" in world.result("context", A2)["text"]
    assert "written later" not in world.result("context", A1)["text"]


def test_what_only_another_asker_has_makes_the_spaces_instance_a_persons(world: World) -> None:
    world.remember(A1, "x", "shared")
    world.want(A1, nodes=CONTEXT_ONLY)
    assert set(world.runs("context")) == {"space"}
    prefer(world, B1, "only mine")
    world.want(B1, nodes=CONTEXT_ONLY)
    assert set(world.runs("context")) == {key("user", A1), key("user", B1)}
    assert "only mine" in world.result("context", B1)["text"]
    assert "only mine" not in world.result("context", A1)["text"]


def test_a_change_in_the_middle_of_a_run_is_not_absorbed(each_store: DocumentStore) -> None:
    world: World
    meanwhile: list[str] = ["later"]

    def run(tx: Any, roots: Any) -> object:
        found = ALL[1].run(tx, roots)
        if meanwhile:
            prefer(world, A1, meanwhile.pop())
            world.feed()
        return found

    world = World(each_store, [Derivation("context", Output("context"), run)])
    prefer(world, A1, "sooner")
    report = world.want(A1)
    assert report.runs == 2
    assert "later" in world.result("context", A1)["text"]
    assert "sooner" not in world.result("context", A1)["text"]


def test_a_change_behind_the_last_read_of_a_run_that_commits_nothing_counts(
    each_store: DocumentStore,
) -> None:
    world: World
    meanwhile: list[int] = []

    def run(tx: Any, roots: Any) -> object:
        seen = tx.read(Address(SPACE, "preferences", "user"))
        if meanwhile:
            meanwhile.pop()
            prefer(world, A1, "third")
            world.feed()
        return {"long": seen is not MISSING and len(seen["style"]) > 2}

    world = World(each_store, [Derivation("context", Output("context"), run)])
    prefer(world, A1, "first")
    world.want(A1)
    prefer(world, A1, "second")
    meanwhile.append(1)
    assert world.go().runs == 2


def test_equal_plans_of_two_people_are_built_for_each(world: World) -> None:
    world.remember(A1, "x", "shared")
    prefer(world, A1, "short")
    prefer(world, B1, "long")
    world.want(A1, B1, nodes=CONTEXT_ONLY)
    node = world.scheduler.nodes["context"]
    assert node.parts[key("user", A1)] == node.parts[key("user", B1)] == ("project", "person")
    assert (node.built, node.kept) == (2, 0)
    prefer(world, A1, "shorter")
    world.go()
    assert (node.built, node.kept) == (2, 1)


def test_slots_are_one_for_each_instance(world: World) -> None:
    prefer(world, A1, "short")
    world.save(B1, "notes", "session", {"goals": ["mend"]})
    world.want(A1, B1, nodes=CONTEXT_ONLY)
    slots = world.scheduler.nodes["context"].slots
    found = slots.get("user", A1)
    assert found is not None
    assert found.scope_key == key("user", A1)
    deep = slots.get("session", B1)
    assert deep is not None
    assert deep.scope_key == key("session", B1)
    assert slots.get("session", Identity(A, "a1")) is None
    with pytest.raises(TypeError):
        slots.get("session")  # type: ignore[call-arg]


def test_equal_output_writes_nothing_and_wakes_nobody_behind_it(world: World) -> None:
    world.remember(A1, "x", "text one", title="a title")
    world.want(A1, nodes=("digest", "status"))
    status, digest = world.runs("status"), world.row("digest", "space", A1).seq
    world.remember(A1, "x", "text two", title="a title")
    world.put(Write("index", "space", "patch", {"links": {"x": {"summary": "other words"}}}))
    assert world.go().runs == 1
    assert world.row("digest", "space", A1).seq == digest
    assert world.runs("status") == status


def test_an_own_commit_that_the_feed_repeats_wakes_nobody(world: World) -> None:
    prefer(world, A1, "short")
    world.want(A1)
    assert world.feed() == 0
    assert world.go().runs == 0


def test_writers_run_before_their_readers(world: World) -> None:
    world.remember(A1, "x", "one")
    world.want(A1)
    world.remember(A1, "y", "two")
    report = world.go()
    assert report.runs == 3  # digest, context, status: status once, after the digest
    assert world.result("status", A1)["shared"]["memories"] == 2


def test_a_space_change_reaches_each_instance_once(world: World) -> None:
    prefer(world, A1, "short")
    prefer(world, B1, "long")
    world.want(A1, A2, B1, nodes=CONTEXT_ONLY)
    world.remember(B1, "x", "for everybody")
    assert world.go().runs == 2
    assert all("for everybody" in world.result("context", who)["text"] for who in (A1, A2, B1))
    assert B in key("user", B1).replace("%3A", ":")


def test_who_wants_a_result_wants_what_it_is_made_from_and_lets_it_go_again(world: World) -> None:
    world.remember(A1, "x", "one")
    world.want(A1, nodes=("status",))
    assert world.result("status", A1)["shared"]["memories"] == 1
    assert world.runs("digest") == {"space": 1}
    world.scheduler.undemand(A1, ("status",))
    assert world.runs("digest") == world.runs("status") == {}
