"""Where a result goes, what it was made from, and what is remembered of plans (sites 2 and 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.derivations import (
    CompositionCache,
    Derivation,
    Output,
    ResultSlots,
    outcome,
    residue,
    seen_by,
)
from scripts.swarm_v2.memory.document import make_link
from scripts.swarm_v2.memory.seed_memo import ON_NOTE, SeedMemo
from scripts.swarm_v2.memory.store import Seen, Write
from scripts.swarm_v2.memory.transactions import Transaction
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from tests.support.memory_stores import AT, SPACE, A, People, refusal
from tests.support.scheduling import A1, A2, B1, key

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.store import DocumentStore

NOTE = Derivation("note", Output("note"), lambda tx, roots: tx.read(Address(roots.space, "board")))


def made(
    store: DocumentStore, who: Identity, value: object, *scopes: Any, floor: Any = "space"
) -> Any:
    tx = Transaction(store, SPACE)
    tx.act_as(who)
    for scope in scopes:
        tx.read(Address(SPACE, "board", scope))
    return outcome(store, SPACE, NOTE, who, value, tx.log, floor)


def test_a_result_goes_as_deep_as_what_was_found_and_links_lead_there(
    each_store: DocumentStore,
) -> None:
    people = People(each_store)
    people.save(people.open(A, "a1"), "board", "session", {"goals": []})
    found = made(each_store, A1, {"x": 1}, "space", "user", "session")
    assert found.key == key("session", A1)
    assert found.writes == (
        Write("note", "space", "set", make_link("note", "user"), 0),
        Write("note", key("user", A1), "set", make_link("note", "session"), 0),
        Write("note", key("session", A1), "set", {"x": 1}, 0),
    )
    assert found.basis[0].drop == ("space", key("user", A1))


def test_what_was_absent_narrows_nothing_and_is_recorded(each_store: DocumentStore) -> None:
    found = made(each_store, A1, {"x": 1}, "space", "user", "session")
    assert found.key == "space"
    assert [(one.scope_key, one.seq) for one in found.seen] == [
        ("space", 0),
        (key("user", A1), 0),
        (key("session", A1), 0),
    ]


def test_a_stored_redirect_is_followed_by_the_next_run_and_never_taken_back(
    each_store: DocumentStore,
) -> None:
    people = People(each_store)
    people.save(people.open(A), "note", "space", make_link("note", "user"))
    found = made(each_store, A1, {"x": 1}, "space")
    assert found.key == key("user", A1)
    assert [one.scope_key for one in found.writes] == [key("user", A1)]


def test_an_equal_value_is_not_written_and_with_unmoved_inputs_nothing_is(
    each_store: DocumentStore,
) -> None:
    people = People(each_store)
    service = people.service()
    first = made(each_store, A1, {"x": 1}, "space")
    commit = people.admission.derived(SPACE, first.writes, first.seen, first.basis, service, AT)
    each_store.commit(SPACE, commit)
    again = made(each_store, A1, {"x": 1}, "space")
    assert (again.writes, again.basis) == ((), ())
    assert made(each_store, A1, {"x": True}, "space").writes[0].value == {"x": True}
    people.save(people.open(A), "board", "space", {"goals": ["moved"]})
    moved = made(each_store, A1, {"x": 1}, "space")
    assert (moved.writes, len(moved.basis)) == ((), 1)


def test_each_instance_has_a_slot_of_its_own() -> None:
    slots = ResultSlots(SPACE, Output("context"))
    slots.put("space", "user", A1)
    slots.put("session", "user", B1)
    assert slots.get("user", A2) == Address(SPACE, "context", "user", scope_key=key("user", A1))
    assert slots.get("session", A1) is None
    found = slots.get("session", B1)
    assert found is not None
    assert found.scope_key == key("session", B1)


def test_an_equal_plan_keeps_the_parts_of_its_own_instance_alone() -> None:
    cache = CompositionCache()
    assert not cache.keeps(SPACE, "context", "user:a", ["project"])
    assert not cache.keeps(SPACE, "context", "user:b", ["project"])
    assert cache.keeps(SPACE, "context", "user:a", ["project"])
    assert not cache.keeps(SPACE, "context", "user:a", ["person"])


def test_a_change_drops_every_plan_of_the_document_and_a_failed_commit_its_own() -> None:
    cache = CompositionCache()
    for scope_key in ("user:a", "user:b"):
        cache.keeps(SPACE, "context", scope_key, ["project"])
    cache.failed(SPACE, "context", "user:a", ["project"])
    assert cache.keeps(SPACE, "context", "user:b", ["project"])
    assert not cache.keeps(SPACE, "context", "user:a", ["project"])
    cache.failed(SPACE, "context", "user:a", ["another one's by now"])
    assert cache.keeps(SPACE, "context", "user:a", ["project"])
    cache.changed(SPACE, "context")
    assert not cache.keeps(SPACE, "context", "user:b", ["project"])
    cache.reset(SPACE)
    assert not cache.keeps(SPACE, "context", "user:b", ["project"])


def test_residue_is_what_is_narrower_than_the_instance_for_who_asks() -> None:
    seen = [
        Seen(SPACE, "space", "index", 4),
        Seen(SPACE, key("user", A1), "preferences", 2),
        Seen(SPACE, key("session", A1), "notes", 0),
    ]
    assert residue(seen, key("user", A1), A2) == [InstanceKey(SPACE, key("session", A2), "notes")]
    assert residue(seen, "space", Identity("did:key:zB")) == [
        InstanceKey(SPACE, key("user", B1), "preferences")
    ]
    assert residue(seen, key("session", A1), A1) == []


def test_the_log_of_a_run_names_each_instance_once(each_store: DocumentStore) -> None:
    tx = Transaction(each_store, SPACE)
    tx.act_as(A1)
    for _ in range(2):
        tx.read(Address(SPACE, "notes", "session"))
        tx.read(Address(SPACE, "index"))
    assert seen_by(tx.log) == (
        Seen(SPACE, key("session", A1), "notes", 0),
        Seen(SPACE, "space", "index", 0),
    )


def test_defaults_are_written_for_each_at_the_first_open(each_store: DocumentStore) -> None:
    people, memo = People(each_store), SeedMemo(each_store)
    mine, theirs = people.open(A, "a1"), people.open("did:key:zB", "b1")
    people.save(mine, "preferences", "user", {"style": "mine"})
    assert memo.seed(mine, AT) is None
    assert memo.seed(theirs, AT) is not None
    assert people.value(mine, "preferences", "user") == {"style": "mine"}
    stored: Any = people.value(theirs, "preferences", "user")
    assert stored["verbosity"] == "normal"
    assert InstanceKey(SPACE, key("user", A1), "preferences") in memo


def test_a_seed_that_came_to_nothing_is_written_by_the_next_open(each_store: DocumentStore) -> None:
    people, memo = People(each_store), SeedMemo(each_store)
    mine = people.open(A, "a1")
    mine.closed = "session-missing"
    with refusal("session-missing"):
        memo.seed(mine, AT)
    mine.closed = ""
    assert InstanceKey(SPACE, key("user", A1), "preferences") not in memo
    assert memo.seed(mine, AT) is not None


def test_a_deleted_document_is_not_seeded_again_and_notes_only_when_asked_for(
    each_store: DocumentStore,
) -> None:
    people, memo = People(each_store), SeedMemo(each_store)
    mine = people.open(A, "a1")
    memo.seed(mine, AT)
    people.commit(mine, {"id": "preferences", "scope": "user", "op": "delete"})
    assert SeedMemo(each_store).seed(mine, AT) is None
    assert each_store.read(SPACE, resolve_scope_key("session", A1), "notes") is None
    memo.seed(mine, AT, ON_NOTE)
    assert people.value(mine, "notes", "session") == {"goals": [], "files": [], "questions": []}
