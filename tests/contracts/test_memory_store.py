"""What every document store promises, asked of both: real files, a real Redis."""

from __future__ import annotations

import random
import threading

import pytest

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.document import MAX_BYTES, merge
from scripts.swarm_v2.memory.store import ABSENT, Basis, Change, Commit, Document, Write
from scripts.swarm_v2.scope_key import DirtyKey
from tests.support.store_worlds import (
    ANN,
    ANN_1,
    ANN_2,
    AT,
    BEN,
    SPACE,
    authored,
    delete,
    erase,
    patch,
    put,
    refused,
    seen,
)


def values(store, id, key="space"):
    return [(one.seq, one.op, one.value) for one in store.history(SPACE, key, id)]


def test_what_was_written_is_read_with_its_number(store):
    assert store.commit(SPACE, authored(put("a", {"x": [1, 1.5, True, None]}))) == 1
    wanted = Document(SPACE, "space", "a", 1, {"x": [1, 1.5, True, None]})
    assert store.read(SPACE, "space", "a") == wanted
    assert store.read(SPACE, "space", "b") is None
    assert store.read("other", "space", "a") is None


@pytest.mark.parametrize(
    "value", [None, False, 0, "", [], {}, {"a": {}}, {"b": []}, 2**63 - 1, 1e-9]
)
def test_empty_and_odd_values_come_back_as_they_are(store, value):
    store.commit(SPACE, authored(put("a", value), patch("b", {"v": value or 7})))
    found = store.read(SPACE, "space", "a")
    assert (found.value, type(found.value), found.deleted) == (value, type(value), False)
    assert store.read(SPACE, "space", "b").value == {"v": value or 7}


def test_one_id_has_an_instance_for_each_key_and_a_third_person_none(store):
    for number, key in enumerate((ANN, BEN, "space"), 1):
        assert store.commit(SPACE, authored(put("preferences", key, 0, key))) == number
    keys = [DirtyKey(key, "preferences") for key in (ANN, BEN, "space", "user:cyd")]
    found = store.read_many(SPACE, keys)
    assert {key: one.value for key, one in found.items()} == {
        key: key.scope_key for key in keys[:3]
    }
    heads = store.heads([InstanceKey(SPACE, key.scope_key, key.id) for key in keys])
    assert list(heads.values()) == [1, 2, 3, ABSENT]


def test_each_space_counts_for_itself_without_a_gap(store):
    assert store.spaces() == []
    for number in (1, 2):
        for space in ("p2", SPACE, "odd {}%:*/ space"):
            assert store.commit(space, authored(put("a", space))) == number
    assert store.seq(SPACE) == 2
    assert store.seq("none") == 0
    assert store.spaces() == sorted(["p2", SPACE, "odd {}%:*/ space"])
    assert store.read("odd {}%:*/ space", "space", "a").value == "odd {}%:*/ space"


def test_a_moved_head_refuses_the_whole_commit_and_uses_no_number(store):
    store.commit(SPACE, authored(put("a", 1), put("b", 1)))
    store.commit(SPACE, authored(put("b", 2)))
    for base in (0, 1, 3):
        facts = refused(
            "stale-base", store.commit, SPACE, authored(put("a", 9), put("b", 9, base), put("c", 9))
        )
        assert facts == {"key": InstanceKey(SPACE, "space", "b"), "current": 2}
    refused("stale-base", store.commit, SPACE, authored(put("new", 9, 2)))
    assert store.read(SPACE, "space", "a").value == 1
    assert store.read(SPACE, "space", "c") is None
    assert [one.seq for one in store.changes(SPACE, 0)] == [1, 2]
    assert store.commit(SPACE, authored(put("b", 3, 2), put("new", 1, ABSENT))) == 3


def test_a_commit_that_relies_on_what_has_moved_is_refused(store):
    store.commit(SPACE, authored(put("a", 1)))
    store.commit("person", authored(put("a", 1, None, ANN)))
    fits = (seen("a", 1), seen("none", 0), seen("a", 1, ANN, "person"), seen("none", 0, ANN))
    assert store.commit(SPACE, authored(put("b", 1), reads=fits)) == 2
    for read in (seen("a", 0), seen("none", 1), seen("a", 2, ANN, "person"), seen("b", 1)):
        facts = refused("stale-read", store.commit, SPACE, authored(put("b", 2), reads=(read,)))
        assert facts["key"] == InstanceKey(read.space, read.scope_key, read.id)
    assert store.seq(SPACE) == 2


def test_a_tombstone_has_its_own_number_and_its_past_stays(store):
    store.commit(SPACE, authored(put("a", "v1")))
    store.commit(SPACE, authored(patch("a", {"x": 1}), session_key=ANN_1))
    assert store.commit(SPACE, authored(delete("a", 2))) == 3
    assert store.read(SPACE, "space", "a") == Document(SPACE, "space", "a", 3, None, True, "delete")
    assert values(store, "a") == [(3, "delete", None), (2, "patch", {"x": 1}), (1, "set", "v1")]
    newest = store.history(SPACE, "space", "a", limit=2)
    assert [(one.seq, one.kind, one.at, one.session_key) for one in newest] == [
        (3, "authored", AT, ""),
        (2, "authored", AT, ANN_1),
    ]
    refused("stale-base", store.commit, SPACE, authored(put("a", 1, ABSENT)))
    assert store.commit(SPACE, authored(patch("a", {"y": 1}, 3))) == 4
    assert store.read(SPACE, "space", "a").value == {"y": 1}


def test_deleting_what_is_not_there_writes_nothing(store):
    assert store.commit(SPACE, authored(delete("a"), erase("b"))) == 0
    assert store.commit(SPACE, authored()) == 0
    store.commit(SPACE, authored(put("a", 1)))
    store.commit(SPACE, authored(delete("a")))
    assert store.commit(SPACE, authored(delete("a"))) == 0
    assert store.commit(SPACE, authored(delete("a"), put("b", 1))) == 3
    assert store.changes(SPACE, 2)[0].touched == (DirtyKey("space", "b"),)


def test_many_patches_give_the_value_that_merging_gives_and_are_told_as_patches(store):
    rng, value = random.Random(5), {str(n): {"t": "x" * 50, "n": n} for n in range(300)}
    store.commit(SPACE, authored(put("a", value)))
    for number in range(60):
        change = {str(rng.randrange(320)): rng.choice([None, {"n": number}, [number], {"m": {}}])}
        value = merge(value, change)
        store.commit(SPACE, authored(patch("a", change), patch("a", {"last": number})))
        value = merge(value, {"last": number})
        if number % 10 == 0:
            assert store.read(SPACE, "space", "a").value == value
    found = store.read(SPACE, "space", "a")
    assert (found.value, found.op, found.seq) == (value, "patch", 61)
    told = store.history(SPACE, "space", "a", limit=1000)
    assert len(told) == 121
    assert told[0].value == {"last": 59}


def test_a_document_that_grows_too_large_by_patches_is_refused_and_can_still_shrink(store):
    half = "x" * (MAX_BYTES // 2 - 100)
    store.commit(SPACE, authored(put("a", {"1": half})))
    store.commit(SPACE, authored(patch("a", {"2": half[:-200]})))
    refused(
        "document-too-large",
        store.commit,
        SPACE,
        authored(put("b", 1), patch("a", {"3": "y" * 900})),
    )
    assert store.read(SPACE, "space", "b") is None
    assert store.commit(SPACE, authored(patch("a", {"2": None, "3": "y" * 900}))) == 3
    assert store.read(SPACE, "space", "a").value == {"1": half, "3": "y" * 900}


def test_writes_of_one_commit_to_one_instance_follow_one_another(store):
    writes = (put("a", {"x": 1}), patch("a", {"y": 2}), delete("a"), patch("a", {"z": 3}))
    assert store.commit(SPACE, authored(*writes)) == 1
    assert store.read(SPACE, "space", "a").value == {"z": 3}
    assert [op for _, op, _ in values(store, "a")] == ["patch", "delete", "patch", "set"]
    assert store.changes(SPACE, 0) == [Change(1, "authored", (DirtyKey("space", "a"),))]


def test_what_is_erased_is_nowhere_any_more_and_leaves_a_tombstone(world, store):
    note = {"reason": "SECRET"}
    store.commit(
        SPACE, authored(put("a", {"t": "SECRET"}), put("b", "SECRET too"), annotations=note)
    )
    store.commit(SPACE, authored(patch("a", {"u": "SECRET"})))
    store.commit(SPACE, authored(patch("a", {"v": ["SECRET"] * 500})))
    assert b"SECRET" in world.everything()
    assert store.commit(SPACE, authored(erase("a", base=3), erase("b"))) == 4
    assert b"SECRET" not in world.everything()
    assert store.read(SPACE, "space", "a") == Document(SPACE, "space", "a", 4, None, True, "erase")
    assert values(store, "a") == [(4, "erase", None)]
    assert [len(one.touched) for one in store.changes(SPACE, 0)] == [2, 1, 1, 2]
    assert store.commit(SPACE, authored(erase("a"))) == 0
    store.commit(SPACE, authored(put("a", "new")))
    assert values(store, "a") == [(5, "set", "new"), (4, "erase", None)]


def test_what_was_deleted_can_be_erased_later(world, store):
    store.commit(SPACE, authored(put("a", "SECRET")))
    store.commit(SPACE, authored(delete("a")))
    assert b"SECRET" in world.everything()
    assert store.commit(SPACE, authored(erase("a", {"x": None}))) == 3
    assert b"SECRET" not in world.everything()
    assert store.read(SPACE, "space", "a").op == "erase"


def test_members_are_erased_out_of_every_revision_and_the_rest_stays(world, store):
    links = {str(n): {"title": f"title {n}", "deep": {"t": "SECRET"}} for n in range(200)}
    store.commit(
        SPACE, authored(put("a", {"links": links, "7": "keep"}), annotations={"t": "SECRET"})
    )
    store.commit(SPACE, authored(patch("a", {"links": {"7": {"title": "SECRET"}}, "n": 1})))
    store.commit(SPACE, authored(patch("a", {"links": {"8": {"title": "other"}}})))
    gone = {"links": {name: None for name in links if name != "8"} | {"8": {"deep": None}}}
    mixed = authored(patch("a", {"links": {"7": "SECRET"}}), erase("a", gone), patch("a", {"m": 2}))
    assert store.commit(SPACE, mixed) == 4
    assert b"SECRET" not in world.everything()
    left = {"links": {"8": {"title": "other"}}, "7": "keep", "n": 1, "m": 2}
    assert store.read(SPACE, "space", "a").value == left
    said = [value for _, _, value in values(store, "a")]
    first = {"links": {"8": {"title": "title 8"}}, "7": "keep"}
    assert said[::-1][:3] == [first, {"links": {}, "n": 1}, {"links": {"8": {"title": "other"}}}]
    assert [one.op for one in store.history(SPACE, "space", "a")] == ["patch"] * 5 + ["set"]


BAD_KEYS = (
    "user:did%3akey%3azA",
    "user:a/b",
    "user:%",
    "user:",
    "",
    "session:a",
    "SPACE",
    "user:%41",
)


@pytest.mark.parametrize("key", BAD_KEYS)
def test_a_key_that_is_not_canonical_reaches_no_row(store, key):
    store.acquire(SPACE, "h", 60_000)
    holder = {"kind": "derived", "holder": "h"}
    for commit in (
        authored(put("a", 1), put("b", 1, None, key)),
        authored(put("a", 1), reads=(seen("a", 0, key),)),
        authored(put("a", 1), basis=(Basis("context", key, ()),), **holder),
        authored(put("a", 1), basis=(Basis("context", ANN, (seen("a", 0, key),)),), **holder),
        authored(put("a", 1), basis=(Basis("context", ANN, (), (key,)),), **holder),
        *([authored(put("a", 1), session_key=key)] if key else []),
    ):
        refused("scope-key-malformed", store.commit, SPACE, commit)
    refused("scope-key-malformed", store.retire, SPACE, key, AT)
    refused("scope-key-malformed", store.drop_session, SPACE, key, AT)
    assert (store.seq(SPACE), store.basis(SPACE), store.changes(SPACE, 0)) == (0, [], [])
    assert store.commit(SPACE, authored(put("a", 1))) == 1


@pytest.mark.parametrize(
    ("code", "commit"),
    [
        ("request-invalid", Commit("service", (put("a", 1),))),  # type: ignore[arg-type]
        ("request-invalid", authored(Write("a", "space", "move", 1))),  # type: ignore[arg-type]
        ("request-invalid", authored(Write("a", "space", "delete", 1))),
        ("request-invalid", authored(erase("a", "all"))),
        ("id-invalid", authored(put("", 1))),
        ("id-invalid", authored(put("\ud800", 1))),
        ("document-invalid", authored(put("a", {"x": float("nan")}))),
        ("document-invalid", authored(put("a", 2**63))),
        ("link-cross-space", authored(put("a", {"$link": {"id": "b", "space": "q"}}))),
    ],
)
def test_a_commit_that_cannot_be_kept_is_refused_before_anything_is_written(store, code, commit):
    refused(code, store.commit, SPACE, commit)
    assert (store.seq(SPACE), store.spaces()) == (0, [])


def test_ids_may_hold_anything_that_is_text(store):
    ids = ["a/b", "a\0b", "a\0c", "ä", "\U0010ffff", "\U0010ffffx", "a%00b", '"[]\n', "{x}", "*"]
    store.commit(SPACE, authored(*(put(one, one) for one in ids)))
    assert [one.value for one in store.select(SPACE, ["space"])] == sorted(ids)
    for one in ids:
        assert store.read(SPACE, "space", one).value == one
        assert one in [found.id for found in store.select(SPACE, ["space"], prefix=one)]
    touched = {key.id for key in store.changes(SPACE, 0)[0].touched}
    assert touched == set(ids)


def test_select_returns_pages_of_live_documents_and_never_cuts_an_id_in_two(store):
    keys, wanted = ["space", ANN, ANN_1], []
    for n in range(10):
        for key in keys[: n % 3 + 1]:
            store.commit(SPACE, authored(put(f"m/{n}", n, None, key)))
            wanted.append((f"m/{n}", key))
    store.commit(SPACE, authored(put("m/0", 1, None, BEN), put("n", 1), put("m", 1)))
    store.commit(SPACE, authored(delete("m/4"), erase("m/5", None, None, ANN)))
    wanted = sorted(set(wanted) - {("m/4", "space"), ("m/5", ANN)})
    for limit in (1, 2, 3, 100):
        found, after = [], ""
        while page := store.select(SPACE, keys, prefix="m/", after=after, limit=limit):
            found += [(one.id, one.scope_key) for one in page]
            after = page[-1].id
        assert found == wanted
    assert store.select(SPACE, [], prefix="m/") == []
    assert store.select(SPACE, [ANN_2]) == []


def test_a_branch_is_apart_and_the_feed_of_the_main_one_tells_nothing_of_it(store):
    store.commit(SPACE, authored(put("a", "main")))
    assert store.commit(SPACE, authored(put("a", "trial", 0)), branch="trial") == 2
    assert store.read(SPACE, "space", "a").value == "main"
    assert store.read(SPACE, "space", "a", branch="trial").value == "trial"
    assert [one.touched for one in store.changes(SPACE, 0)] == [(DirtyKey("space", "a"),), ()]
    assert [one.id for one in store.select(SPACE, ["space"], branch="trial")] == ["a"]


def test_the_feed_tells_instances_in_order_and_waiting_ends_when_it_moves(world, store):
    other = world.open()
    other.commit(SPACE, authored(put("a", 1, None, ANN_1), session_key=ANN_1))
    other.commit(SPACE, authored(put("b", 1), put("b", 2), put("a", 2, None, BEN)))
    assert store.changes(SPACE, 0) == [
        Change(1, "authored", (DirtyKey(ANN_1, "a"),), ANN_1),
        Change(2, "authored", (DirtyKey("space", "b"), DirtyKey(BEN, "a"))),
    ]
    assert [one.seq for one in store.changes(SPACE, 0, limit=1)] == [1]
    assert store.changes(SPACE, 2) == []
    assert store.wait({SPACE: 1, "q": 0}, 30) is True
    assert store.wait({SPACE: 2, "q": 0}, 0) is False
    for writer in (other, store):  # another connection, and the one that waits
        before = store.seq("q")
        thread = threading.Thread(target=writer.commit, args=("q", authored(put("a", 1))))
        thread.start()
        assert store.wait({SPACE: 2, "q": before}, 30) is True
        thread.join()
