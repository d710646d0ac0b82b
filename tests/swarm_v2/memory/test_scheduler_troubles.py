"""Faults, restarts, lost leases and bursts of a scheduler (part 1 section 7: 14, 32, 34)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.document import MISSING, make_link
from scripts.swarm_v2.memory.running import KEPT
from scripts.swarm_v2.scope_key import Identity
from tests.support.broken import break_preferences
from tests.support.memory_stores import SPACE
from tests.support.scheduling import A1, A2, B1, World, key

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.store import DocumentStore

CONTEXT_ONLY = ("context",)


@pytest.fixture
def world(each_store: DocumentStore) -> World:
    return World(each_store)


def prefer(world: World, who: Identity, style: str) -> None:
    world.save(who, "preferences", "user", {"style": style})


def spoil(world: World, who: Identity) -> None:
    break_preferences(world.store, world.space, key("user", who))


def test_a_failing_person_keeps_the_last_good_result_and_blocks_nobody(world: World) -> None:
    prefer(world, A1, "good")
    world.want(A1, nodes=("context", "status"))
    spoil(world, A1)
    prefer(world, B1, "fine")
    report = world.want(B1, nodes=("context", "status"))
    assert [(one.node, one.scope_key, one.code) for one in report.errors] == [
        ("context", key("user", A1), "link-circle")
    ]
    assert "fine" in world.result("context", B1)["text"]
    assert "good" in world.result("context", A1)["text"]
    (error,) = world.result("status", A1)["errors"]
    assert (error["node"], error["scope"], error["code"]) == (
        "context",
        "user",
        "link-circle",
    )
    assert world.result("status", B1)["errors"] == []
    assert world.go().runs == 0  # nothing moved: it is not tried over and over


def test_who_fails_at_the_first_open_does_not_hold_up_the_next(world: World) -> None:
    spoil(world, A1)
    prefer(world, B1, "fine")
    world.want(A1, B1, nodes=CONTEXT_ONLY)
    assert "fine" in world.result("context", B1)["text"]
    assert world.result("context", A1) is MISSING


def test_an_error_is_taken_back_too_where_its_person_is_told_for_each_session_now(
    world: World,
) -> None:
    spoil(world, A1)
    world.want(A1, nodes=("context", "status"))
    assert len(world.result("status", A1)["errors"]) == 1
    prefer(world, A1, "mended")
    world.save(A1, "notes", "session", {"goals": ["at once"]})
    world.go()
    assert world.row("context", "session", A1).value["plan"]
    assert world.result("status", A1)["errors"] == []


def test_a_mended_input_takes_the_error_back(world: World) -> None:
    spoil(world, A1)
    world.want(A1, nodes=("context", "status"))
    assert len(world.result("status", A1)["errors"]) == 1
    prefer(world, A1, "mended")
    assert world.go().errors == ()
    assert world.result("status", A1)["errors"] == []
    assert "mended" in world.result("context", A1)["text"]


def test_a_fault_of_an_earlier_process_is_taken_back_by_the_next(world: World) -> None:
    spoil(world, A1)
    world.want(A1, nodes=("context", "status"))
    world.restart()
    prefer(world, A1, "mended")
    world.want(A1, nodes=("context", "status"))
    assert world.result("status", A1)["errors"] == []


def test_a_restart_runs_only_what_moved_while_nothing_ran(world: World) -> None:
    for who in (A1, B1, Identity("did:key:zC", "c1")):
        prefer(world, who, "short")
        world.want(who, nodes=CONTEXT_ONLY)
    world.restart()
    prefer(world, B1, "other")
    report = world.want(A1, B1, Identity("did:key:zC", "c1"), nodes=CONTEXT_ONLY)
    assert report.runs == 1
    assert world.runs("context")[key("user", B1)] == 1
    assert "other" in world.result("context", B1)["text"]


def test_a_restart_where_nothing_moved_runs_and_commits_nothing(world: World) -> None:
    world.save(B1, "notes", "session", {"goals": ["mend"]})
    prefer(world, A1, "short")
    world.want(A1, A2, B1)
    seq = world.store.seq(SPACE)
    world.restart()
    report = world.want(A1, A2, B1)
    assert (report.runs, report.commits, world.store.seq(SPACE)) == (0, (), seq)
    assert world.go().runs == 0


def test_what_a_restart_found_clean_wakes_as_before(world: World) -> None:
    prefer(world, A1, "short")
    world.want(A1, A2, nodes=CONTEXT_ONLY)
    world.restart()
    world.want(A1, A2, nodes=CONTEXT_ONLY)
    world.save(A2, "notes", "session", {"goals": ["after the restart"]})
    world.go()
    assert "after the restart" in world.result("context", A2)["text"]


def test_without_the_lease_nothing_runs_and_afterwards_all_is_looked_at(world: World) -> None:
    prefer(world, A1, "short")
    world.want(A1, nodes=CONTEXT_ONLY)
    assert world.service is not None
    assert world.service.lease is not None
    world.service.lease.release()
    other = world.people.service()
    prefer(world, A1, "while another served")
    assert world.go().runs == 0
    assert other.lease is not None
    other.lease.release()
    assert world.go().runs == 1
    assert "while another served" in world.result("context", A1)["text"]


def test_a_lease_that_lapsed_while_idle_costs_a_look_at_what_moved_alone(world: World) -> None:
    people = [Identity(f"did:key:z{number}", "s") for number in range(5)]
    for who in people:
        prefer(world, who, "short")
    world.want(*people, nodes=CONTEXT_ONLY)
    assert world.service is not None
    assert world.service.lease is not None
    world.service.lease.release()
    looked: list[str] = []
    moved = world.store.moved
    world.store.moved = lambda space, action, at: looked.append(at) or moved(space, action, at)  # type: ignore[method-assign,func-returns-value]
    prefer(world, people[0], "longer")
    assert world.go().runs == 1
    assert set(looked) == {key("user", people[0])}
    world.want(Identity(people[1].principal, "late"), nodes=CONTEXT_ONLY)
    assert set(looked) == {key("user", people[0]), key("user", people[1])}


def test_what_another_holder_made_meanwhile_is_not_made_again(world: World) -> None:
    prefer(world, A1, "short")
    world.want(A1, nodes=CONTEXT_ONLY)
    first, fed, service = world.scheduler, world.fed, world.service
    prefer(world, A1, "while another served")
    world.restart()
    assert world.want(A1, nodes=CONTEXT_ONLY).runs == 1
    assert world.service is not None
    assert world.service.lease is not None
    world.service.lease.release()
    world.scheduler, world.fed, world.service = first, fed, service
    assert world.go().runs == 0
    prefer(world, A1, "ours again")
    assert world.go().runs == 1
    assert "ours again" in world.result("context", A1)["text"]


def test_the_budget_ends_a_pass_and_the_rest_stays(world: World) -> None:
    people = [Identity(f"did:key:z{number}", "s") for number in range(5)]
    for who in people:
        prefer(world, who, "short")
        world.scheduler.demand(who, CONTEXT_ONLY)
    first = world.go(2)
    assert (first.runs, first.left) == (2, 3)
    assert world.go().left == 0
    assert all("short" in world.result("context", who)["text"] for who in people)


def test_nobody_and_who_has_no_name_runs_nothing(world: World) -> None:
    assert world.want().runs == 0
    assert world.want(Identity(None, "s"), Identity("", "s")).runs == 0


def test_who_went_away_wakes_nothing(world: World) -> None:
    prefer(world, A1, "short")
    prefer(world, B1, "long")
    world.want(A1, B1, nodes=CONTEXT_ONLY)
    world.scheduler.undemand(B1, CONTEXT_ONLY)
    prefer(world, B1, "longer")
    assert world.go().runs == 0
    assert len(world.scheduler.nodes["context"].slots) == 1


def test_a_chatty_session_spends_its_own_tokens_alone(world: World) -> None:
    world.save(A1, "notes", "session", {"goals": ["0"]})
    prefer(world, B1, "long")
    world.want(A1, B1, nodes=CONTEXT_ONLY)
    before = world.runs("context")[key("session", A1)]
    for number in range(1, 51):
        world.save(A1, "notes", "session", {"goals": [f"number {number}."]})
        world.go()
    assert world.runs("context")[key("session", A1)] - before == 10
    prefer(world, B1, "at once")
    assert world.go().runs == 1
    assert "at once" in world.result("context", B1)["text"]
    due = world.scheduler.due_ms()
    assert due is not None
    world.at_ms = due
    assert world.go().runs == 1
    assert "number 50." in world.result("context", A1)["text"]
    assert world.scheduler.due_ms() is None


def test_the_values_of_before_do_not_pile_up(world: World) -> None:
    world.want(A1, nodes=("context",))
    instance = world.scheduler.nodes["context"].instance("space")
    assert instance is not None
    instance.runs = KEPT - 3
    for number in range(4):
        world.remember(A1, "x", f"number {number}")
        world.go()
    history = world.store.history(SPACE, "space", "context", limit=1_000)
    assert ["number 0" in str(one.value) for one in history].count(True) == 0
    assert "number 3" in str(history[0].value)


def test_a_value_that_a_redirect_replaces_leaves_no_word_in_the_history(world: World) -> None:
    world.remember(A1, "x", "a word of before")
    world.want(A1, nodes=("context",))
    prefer(world, A1, "short")
    world.go()
    assert world.row("context", "space", A1).value == make_link("context", "user")
    history = world.store.history(SPACE, "space", "context")
    assert not any("a word of before" in str(one.value) for one in history)
