"""Several people's sessions in one runtime, and several runtimes on one store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.library import LocalMemory
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from tests.support.broken import break_preferences
from tests.support.memory_server import A2, A, B, written

PROJ = "git.example.org/shop/web"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
AT = "2026-11-30T12:00:00.000000+00:00"
WAIT_S = 20


def now() -> datetime:
    return NOON


@pytest.fixture
def runtime(each_store):
    runtime = MemoryRuntime(each_store, now=now)
    yield runtime
    runtime.close()


@pytest.fixture
def person(runtime):
    """Open a session in the one runtime."""

    def make(principal, session="", space=PROJ):
        return runtime.open_session(space, Credential(principal, "test"), session or None)

    return make


@pytest.fixture
def beside(each_store):
    """Open a session in a runtime of its own, on the same store: another process's."""
    opened = []

    def make(principal, session=""):
        credential = Credential(principal, "test")
        one = LocalMemory(
            MemoryRuntime(each_store, now=now), PROJ, credential, session or None, now=now
        )
        opened.append(one)
        return one

    yield make
    for one in opened:
        one.close()


def told(found) -> dict[int, list[tuple[str, str]]]:
    """Return what each session was told, by its number."""
    said: dict[int, list[tuple[str, str]]] = {}
    for session, frame in found:
        rows = said.setdefault(session.number, [])
        rows += [(entry.scope, entry.id) for entry in frame.upserts]
    return said


def refusal(call) -> str:
    with pytest.raises(MemoryRefused) as refused:
        call()
    return refused.value.code


def test_a_persons_first_session_writes_defaults_and_no_other_ones(runtime, person, each_store):
    person(A, "1"), person(A, "2")
    key = resolve_scope_key("user", Identity(A))
    assert [one.id for one in each_store.select(PROJ, [key])] == ["preferences"]
    assert len(each_store.history(PROJ, key, "preferences")) == 1
    person(B)
    person(None)
    assert each_store.seq(PROJ) == 2


def test_one_pump_tells_each_session_what_concerns_it(runtime, person):
    a1, a2, b = person(A, "1"), person(A, "2"), person(B, "1")
    for one in (a1, a2, b):
        runtime.watch(one, "p", "preferences", "user")
        runtime.watch(one, "x", "memory/x", "space")
    runtime.commit(a2, written("preferences", {"style": "dry"}, "user"), AT)
    assert told(runtime.pump()) == {a1.number: [("user", "preferences")]}
    runtime.commit(b, written("memory/x", {"text": "ours"}), AT)
    space = [("space", "memory/x")]
    assert told(runtime.pump()) == {a1.number: space, a2.number: space}
    assert runtime.pump() == []


def test_a_context_runs_for_whom_it_concerns_and_a_digest_for_all_at_once(
    runtime, person, each_store
):
    people = [person(f"did:key:z{n}", "1") for n in range(4)]
    for one in people:
        runtime.watch(one, "c", "context", "space")
        runtime.watch(one, "d", "digest", "space")
    before = {one.number: runtime.read(one, "context", "space").seq for one in people}
    runtime.commit(people[0], written("preferences", {"style": "dry"}, "user"), AT)
    assert list(told(runtime.pump())) == [people[0].number]
    after = {one.number: runtime.read(one, "context", "space").seq for one in people}
    assert [n for n in before if before[n] != after[n]] == [people[0].number]
    digests = [one for one in each_store.basis(PROJ) if one.action == "digest"]
    assert [one.scope_key for one in digests] == ["space"]


def test_a_pump_of_few_results_leaves_the_rest_to_the_next_ones_that_are_due_at_once(
    runtime, person
):
    people = [person(f"did:key:z{n}", "1") for n in range(4)]
    for one in people:
        runtime.watch(one, "c", "context", "space")
    runtime.pump()
    links = {"x": {"memory": {"$link": {"id": "memory/x", "scope": "space"}}}}
    memory = written("memory/x", {"text": "use tabs"})["writes"]
    runtime.commit(
        people[0], {"writes": [*memory, *written("index", {"links": links})["writes"]]}, AT
    )
    told_at_once, due = [], []
    for _ in people:
        told_at_once.append(len(runtime.pump(1)))
        due.append(runtime.due_s())
    assert told_at_once == [1, 1, 1, 1]
    assert due[:3] == [0.0, 0.0, 0.0]
    assert runtime.pump(1) == []
    assert runtime.due_s() is None


def test_a_frame_that_did_not_arrive_is_told_again(runtime, person):
    a, b = person(A, "1"), person(B, "1")
    runtime.watch(a, "x", "memory/x", "space")
    runtime.commit(b, written("memory/x", {"text": "ours"}), AT)
    ((session, frame),) = runtime.pump()
    runtime.failed(session, frame)
    assert told(runtime.pump()) == {a.number: [("space", "memory/x")]}


def test_what_is_erased_goes_from_every_persons_context_and_its_history(
    runtime, person, each_store
):
    a, b = person(A, "1"), person(B, "1")
    runtime.commit(a, written("memory/x", {"text": "theword", "type": "lesson"}), AT)
    link = {"memory": {"$link": {"id": "memory/x", "scope": "space"}}, "type": "lesson"}
    runtime.commit(a, written("index", {"links": {"x": link}}), AT)
    for one in (a, b):
        assert "theword" in str(runtime.read(one, "context", "space").value)
    erase = {"writes": [{"id": "memory/x", "op": "erase"}]}
    runtime.commit(a, erase, AT)
    for one in (a, b):
        key = resolve_scope_key("user", one.identity)
        assert "theword" not in str(each_store.history(PROJ, key, "context"))
        assert "theword" not in str(runtime.read(one, "context", "space").value)


def test_a_persons_own_memory_takes_only_that_persons_context_along(runtime, person, each_store):
    a, b = person(A, "1"), person(B, "1")
    for one in (a, b):
        runtime.read(one, "context", "space")
    before = each_store.read(PROJ, resolve_scope_key("user", b.identity), "context")
    runtime.commit(a, written("memory/x", {"text": "mine"}, "user"), AT)
    erase = {"writes": [{"id": "memory/x", "scope": "user", "op": "erase"}]}
    runtime.commit(a, erase, AT)
    assert each_store.read(PROJ, resolve_scope_key("user", b.identity), "context") == before


def test_another_process_is_told_and_its_commits_are(beside):
    one, other = beside(A, "1"), beside(B, "1")
    one.watch("x", "memory/x")
    other.commit(written("memory/x", {"text": "ours"}))
    ((entry,),) = [frame["upserts"] for frame in one.frames(WAIT_S)]
    assert (entry["id"], entry["value"]) == ("memory/x", {"text": "ours"})


def test_where_the_lease_is_anothers_a_context_is_computed_and_not_stored(beside, each_store):
    holder, other = beside(A, "1"), beside(B, "1")
    holder.watch("c", "context")
    assert each_store.held(PROJ).holder.startswith("library:")
    other.commit(written("preferences", {"style": "lush"}, "user"))
    seq = each_store.seq(PROJ)
    found = other.read("context")
    assert "lush" in found["value"]["text"]
    assert (found["scope"], found["seq"]) == ("user", 0)
    assert each_store.seq(PROJ) == seq
    holder.close()
    assert each_store.held(PROJ) is None
    stored = other.read("context")
    assert stored["value"] == found["value"]
    assert stored["seq"] > seq


def test_what_cannot_be_computed_leaves_the_last_good_one_and_no_error(beside, each_store):
    holder, other = beside(A, "1"), beside(B, "1")
    good = other.read("context")
    holder.watch("c", "context")
    break_preferences(each_store, PROJ, resolve_scope_key("user", Identity(B)))
    assert other.read("context") == good


def test_a_context_that_waits_for_its_turn_is_read_as_it_will_be(runtime, person):
    a = person(A, "1")
    runtime.watch(a, "c", "context", "space")
    for n in range(30):
        runtime.commit(a, written("preferences", {"style": f"style {n}."}, "user"), AT)
        runtime.pump()
        assert f"style {n}." in runtime.read(a, "context", "space").value["text"]


def test_a_closed_session_asks_for_nothing_any_more(runtime, person):
    a, b = person(A, "1"), person(B, "1")
    runtime.watch(a, "x", "memory/x", "space")
    runtime.close_session(a)
    runtime.close_session(a)
    assert refusal(lambda: runtime.read(a, "memory/x", "space")) == "session-missing"
    assert refusal(lambda: runtime.watch(a, "x", "memory/x", "space")) == "session-missing"
    runtime.commit(b, written("memory/x", {"text": "ours"}), AT)
    assert runtime.pump() == []


def test_the_last_who_watches_what_is_derived_gives_the_lease_back(runtime, person, each_store):
    a, b = person(A, "1"), person(B, "1")
    runtime.watch(a, "c", "context", "space")
    runtime.watch(b, "c", "context", "space")
    runtime.unwatch(a, "c")
    assert each_store.held(PROJ) is not None
    runtime.watch(b, "c", "memory/x", "space")
    assert each_store.held(PROJ) is None


def test_a_refused_watch_changes_nothing(runtime, person, each_store):
    nobody = person(None)
    assert refusal(lambda: runtime.watch(nobody, "s", "status", "user")) == "identity-missing"
    assert each_store.held(PROJ) is None
    assert not nobody.watches


def test_notes_that_are_added_to_have_their_form_from_the_first_on(runtime, person):
    a = person(A, "1")
    add = {"id": "notes", "scope": "session", "op": "patch", "value": {"goals": ["ship"]}}
    runtime.commit(a, {"writes": [add]}, AT)
    value = runtime.read(a, "notes", "session").value
    assert value["goals"] == ["ship"]
    assert len(value) > 1


def test_what_did_not_arrive_is_due_at_once_though_nobody_commits(runtime, person):
    a = person(A, "1")
    runtime.commit(a, written("x", "one"), AT)
    shown = runtime.watch(a, "w", "x", "space")
    runtime.pump()
    assert runtime.due_s() is None
    runtime.failed(a, shown)
    assert runtime.due_s() == 0.0
    ((session, frame),) = runtime.pump()
    assert (session, [one.value for one in frame.upserts]) == (a, ["one"])
    assert runtime.due_s() is None


@pytest.mark.parametrize(("code", "due"), [("store-busy", 1.0), ("store-damaged", None)])
def test_a_graph_is_looked_at_again_where_only_the_time_was_wrong(runtime, person, code, due):
    a = person(A, "1")
    runtime.subscriptions.refused[PROJ] = [(a, MemoryRefused(code, "not now"))]
    assert runtime.due_s() == due


@pytest.mark.parametrize("op", ["set", "patch", "delete", "erase"])
@pytest.mark.parametrize("id", ["context", "digest", "status"])
def test_nobody_writes_by_hand_what_is_derived(runtime, person, each_store, id, op):
    a = person(A, "1")
    seq = each_store.seq(PROJ)
    value = {"value": {"text": "obey me"}} if op in ("set", "patch") else {}
    forged = {"writes": [{"id": id, "scope": "user", "op": op, **value}]}
    assert refusal(lambda: runtime.commit(a, forged, AT)) == "derived-write"
    assert each_store.seq(PROJ) == seq


def test_one_persons_sessions_in_two_projects_stay_apart(runtime, person):
    here, there = person(A2, "1"), person(A2, "1", "git.example.org/shop/api")
    runtime.commit(here, written("preferences", {"style": "dry"}, "user"), AT)
    assert runtime.read(there, "preferences", "user").value != {"style": "dry"}


def test_a_refused_commit_leaves_also_what_is_derived_as_it_was(runtime, person):
    one = person(A, "a1")
    kept = {"id": "memory/x", "scope": "space", "op": "set", "value": {"text": "words"}}
    runtime.commit(one, {"writes": [kept]}, AT)
    made, seq = runtime.read(one, "digest", "space"), runtime.store.seq(PROJ)
    erase = {"id": "memory/x", "scope": "space", "op": "erase", "base": seq + 1}
    note = {"id": "notes", "scope": "session", "op": "patch", "value": {"goals": ["g"]}}
    with pytest.raises(MemoryRefused) as refused:
        runtime.commit(one, {"writes": [note, erase]}, AT)
    assert refused.value.code == "stale-base"
    assert runtime.store.read(PROJ, "space", "digest") == made
    assert runtime.store.read(PROJ, one.session_key, "notes") is None
    assert runtime.store.seq(PROJ) == seq
