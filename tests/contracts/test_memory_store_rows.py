"""What a store keeps beside documents; what it does when spoiled; any history at all."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.admission import Admission
from scripts.swarm_v2.memory.document import MISSING, merge, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.store import ABSENT, Basis, Commit, Write
from scripts.swarm_v2.scope_key import DirtyKey
from tests.support.store_worlds import (
    ANN,
    ANN_1,
    ANN_2,
    AT,
    BEN,
    KINDS,
    SPACE,
    World,
    authored,
    delete,
    derived,
    put,
    refused,
    seen,
)


def test_one_holder_has_the_lease_until_its_time_is_over(world, store):
    other = world.open()
    assert store.held(SPACE) is None
    assert store.acquire(SPACE, "one:1", 60_000)
    held = store.held(SPACE)
    assert other.held(SPACE).holder == held.holder == "one:1"
    assert not other.acquire(SPACE, "one:2", 60_000)
    assert not other.release(SPACE, "one:2")
    assert other.acquire("elsewhere", "one:2", 60_000)
    assert store.acquire(SPACE, "one:1", 600_000)
    assert store.held(SPACE).expires_at_ms > held.expires_at_ms + 500_000
    world.end_lease()
    assert store.held(SPACE) is None
    assert not store.release(SPACE, "one:1")
    assert other.acquire(SPACE, "one:2", 60_000)
    assert other.release(SPACE, "one:2")
    assert store.held(SPACE) is None


def test_only_the_live_holder_writes_derived_documents(world, store):
    commit = derived(put("context", "x", None, ANN), holder="one:1")
    nobody = derived(put("context", "x", None, ANN), holder="")
    refused("lease-lost", store.commit, SPACE, commit)
    store.acquire(SPACE, "one:2", 60_000)
    refused("lease-lost", store.commit, SPACE, commit)
    refused("lease-lost", store.commit, SPACE, nobody)
    store.release(SPACE, "one:2")
    refused("lease-lost", store.commit, SPACE, nobody)
    store.acquire(SPACE, "one:1", 60_000)
    assert store.commit(SPACE, commit) == 1
    assert store.changes(SPACE, 0)[0][1:] == ("derived", (DirtyKey(ANN, "context"),), "", "one:1")
    world.end_lease()
    refused("lease-lost", store.commit, SPACE, commit)
    refused("lease-lost", store.commit, SPACE, commit._replace(kind="system"))
    assert store.commit(SPACE, authored(put("a", 1))) == 2


def test_inputs_are_recorded_and_said_to_have_moved_when_they_have(store):
    store.commit(SPACE, authored(put("index", 1), put("preferences", 1, None, ANN)))
    store.commit("person", authored(put("m", 1, None, ANN)))
    inputs = (
        seen("index", 1),
        seen("notes", ABSENT, ANN_1),
        seen("preferences", 1, ANN),
        seen("m", 1, ANN, "person"),
    )
    commit = authored(put("context", "x", None, ANN), basis=(Basis("context", ANN, inputs),))
    assert store.moved(SPACE, "context", ANN) is None
    assert store.commit(SPACE, commit) == 2
    assert store.moved(SPACE, "context", ANN) == []
    [told] = store.basis(SPACE)
    assert (told.action, told.scope_key, set(told.seen)) == ("context", ANN, set(inputs))
    store.commit("person", authored(delete("m", None, ANN)))
    store.commit(SPACE, authored(put("notes", 1, None, ANN_1), put("other", 1)))
    assert set(store.moved(SPACE, "context", ANN)) == {inputs[1], inputs[3]}
    assert store.moved(SPACE, "context", BEN) is None
    assert store.moved(SPACE, "digest", ANN) is None


def test_basis_rows_alone_are_replaced_without_a_number(store):
    store.commit(SPACE, authored(put("a", 1)))
    for inputs in ((seen("a", 1),), (), (seen("a", 1), seen("b", 0))):
        assert store.commit(SPACE, authored(basis=(Basis("digest", "space", inputs),))) == 0
        assert store.basis(SPACE, "digest") == [Basis("digest", "space", inputs)]
        assert store.moved(SPACE, "digest", "space") == []
    assert store.seq(SPACE) == 1


def test_recording_a_narrower_instance_drops_the_broader_ones_of_its_chain(store):
    rows = [Basis("context", key, (seen("a", 0),)) for key in ("space", ANN, BEN)]
    store.commit(SPACE, authored(basis=(*rows, Basis("status", ANN, ()))))
    narrower = Basis("context", ANN_1, (seen("a", 0),), ("space", ANN))
    store.commit(SPACE, authored(basis=(narrower,)))
    left = [(one.action, one.scope_key) for one in store.basis(SPACE)]
    assert left == [("context", ANN_1), ("context", BEN), ("status", ANN)]
    assert [one.scope_key for one in store.basis(SPACE, "context")] == [ANN_1, BEN]
    assert [one.drop for one in store.basis(SPACE)] == [(), (), ()]


def test_a_session_that_ends_takes_its_own_rows_and_nobody_elses(store):
    near = ("session:ann:10", "session:ann2:1", "session:ann:2", ANN, "user:ann2", "space")
    basis = [Basis("context", key, ()) for key in (ANN_1, *near)]
    store.commit(SPACE, authored(*(put("notes", key, None, key) for key in (ANN_1, *near))))
    store.commit(SPACE, authored(put("old", 1, None, ANN_1), basis=tuple(basis)))
    store.commit(SPACE, authored(delete("old", None, ANN_1)))
    store.commit(SPACE, authored(put("draft", 1, None, ANN_1)), branch="trial")
    store.commit("elsewhere", authored(put("notes", 1, None, ANN_1)))
    assert store.drop_session(SPACE, ANN_1, AT) == 5
    assert set(store.changes(SPACE, 4)[0].touched) == {
        DirtyKey(ANN_1, "notes"),
        DirtyKey(ANN_1, "old"),
    }
    assert store.changes(SPACE, 4)[0].kind == "system"
    assert store.read(SPACE, ANN_1, "notes").deleted
    assert store.read(SPACE, ANN_1, "draft", branch="trial").deleted
    assert [one.op for one in store.history(SPACE, ANN_1, "notes")] == ["erase"]
    assert [store.read(SPACE, key, "notes").value for key in near] == list(near)
    assert {one.scope_key for one in store.basis(SPACE)} == set(near)
    assert not store.read("elsewhere", ANN_1, "notes").deleted
    assert store.drop_session(SPACE, ANN_1, AT) == 0
    assert store.drop_session("nowhere", ANN_1, AT) == 0
    refused("scope-key-malformed", store.drop_session, SPACE, ANN, AT)


def test_the_first_mark_of_an_ended_session_stays_until_its_rows_are_dropped(store):
    store.retire(SPACE, ANN_1, "2026-11-02T00:00:00+00:00")
    store.retire(SPACE, ANN_1, "2026-11-20T00:00:00+00:00")
    store.retire(SPACE, ANN_2, "2026-11-01T00:00:00+00:00")
    assert store.retired(SPACE, "2026-11-02T00:00:00+00:00") == [ANN_2]
    store.drop_session(SPACE, ANN_2, AT)
    assert store.retired(SPACE, "2026-11-03T00:00:00+00:00") == [ANN_1]  # marks do not pile up
    assert store.retired("elsewhere", "9") == []


def test_a_store_has_a_name_of_its_own_that_stays(world, tmp_path):
    other = World(world.kind, tmp_path / "other", world.server)
    assert world.open().name == world.open().name != other.open().name
    assert world.open().user() is None
    other.close()


DAMAGE = ("value", "value gone", "value of another type", "head", "head's number")


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_row_is_told_and_its_neighbours_are_read(world, store, what):
    store.commit(SPACE, authored(put("a", 1), put("b", 2)))
    world.damage(what)
    refused("store-damaged", store.read, SPACE, "space", "a")
    refused("store-damaged", store.select, SPACE, ["space"])
    assert store.read(SPACE, "space", "b").value == 2
    assert store.commit(SPACE, authored(put("b", 3, 1))) == 2
    if what.startswith("head"):
        refused("store-damaged", store.commit, SPACE, authored(put("c", 1), put("a", 2)))
        assert store.read(SPACE, "space", "c") is None
        assert store.commit(SPACE, authored(put("c", 1))) == 3


@pytest.mark.parametrize("op", ["set", "erase"])
@pytest.mark.parametrize("what", [one for one in DAMAGE if one.startswith("value")])
def test_a_value_that_is_damaged_is_named_and_can_be_replaced_whole(world, store, what, op):
    store.commit(SPACE, authored(put("a", 1)))
    world.damage(what)
    with pytest.raises(MemoryRefused) as refusal:
        store.read(SPACE, "space", "a")
    assert refusal.value.facts["key"] == (SPACE, "space", "a")
    door = Admission(store)
    write = Write("a", "space", op, 2 if op == "set" else None)
    assert store.commit(SPACE, door.system(SPACE, [write], AT)) == 2
    found = store.read(SPACE, "space", "a")
    assert (found.value, found.deleted) == ((2, False) if op == "set" else (None, True))


IDS, KEYS = ("a", "b"), ("space", ANN, ANN_1)
SCALAR = st.sampled_from([None, True, 1, 1.0, "", "é\0", [], [None, {}], {}])
MEMBERS = st.dictionaries(st.sampled_from("xyz"), SCALAR, max_size=3)
VALUES = st.one_of(SCALAR, MEMBERS, st.dictionaries(st.sampled_from("xy"), MEMBERS, max_size=2))
OPS = st.one_of(
    st.tuples(st.just("set"), VALUES),
    st.tuples(st.just("patch"), VALUES),
    st.tuples(st.just("delete"), st.none()),
    st.tuples(st.just("erase"), st.one_of(st.none(), st.just({"x": None}))),
)
WRITES = st.lists(
    st.tuples(st.sampled_from(IDS), st.sampled_from(KEYS), OPS, st.booleans()),
    min_size=1,
    max_size=3,
)


@pytest.fixture(scope="module", params=KINDS)
def kept(request, tmp_path_factory):
    here = request.getfixturevalue("server") if request.param == "redis" else None
    one = World(request.param, tmp_path_factory.mktemp("kept"), here)
    yield one.open(**({"wal": True} if request.param == "sqlite" else {}))
    one.close()


_number = count()


class Model:
    """What a store must say after each commit: a value and a number for each instance."""

    def __init__(self):
        self.state, self.feed = {}, []

    def commit(self, writes):
        """Return the number that it gets, or the instance that it is refused for."""
        for id, key, _, base in writes:
            current = self.state.get((key, id), (MISSING, 0, ""))[1]
            if base is not None and base != current:
                return (key, id)  # the place of a stale base
        seq, touched = len(self.feed) + 1, []
        for id, key, (op, value), _ in writes:
            old, _, was = self.state.get((key, id), (MISSING, 0, ""))
            if op in ("delete", "erase"):
                if was in ("", "erase") or (op == "delete" and old is MISSING):
                    continue
                members = op == "erase" and value and old is not MISSING
                new, op = (merge(old, value), "patch") if members else (MISSING, op)
            else:
                new = merge(old, value) if op == "patch" else value
            self.state[key, id] = (new, seq, op)
            touched.append(DirtyKey(key, id))
        self.feed += [tuple(dict.fromkeys(touched))] if touched else []
        return seq if touched else 0


@given(history=st.lists(WRITES, min_size=1, max_size=8), data=st.data())
@settings(deadline=None, max_examples=30)
def test_any_history_leaves_what_a_plain_dictionary_would_hold(kept, history, data):
    space, model = f"s{next(_number)}", Model()
    for asked in history:
        writes = []
        for id, key, change, guess in asked:
            current = model.state.get((key, id), (0, 0))[1]
            base = None if guess else current - data.draw(st.sampled_from([0, 0, 0, 1]))
            writes.append((id, key, change, base))
        wanted = model.commit(writes)
        commit = Commit(
            "authored", tuple(Write(id, key, *do, base) for id, key, do, base in writes)
        )
        try:
            found = kept.commit(space, commit)
        except MemoryRefused as refusal:
            found = refusal.facts["key"][1:]
        assert found == wanted
    for (key, id), (value, seq, op) in model.state.items():
        one = kept.read(space, key, id)
        assert same(one.value, None if value is MISSING else value)
        assert (one.seq, one.op, one.deleted) == (seq, op, value is MISSING)
    assert [one.touched for one in kept.changes(space, 0)] == model.feed
    live = sorted((id, key) for (key, id), one in model.state.items() if one[0] is not MISSING)
    assert [(one.id, one.scope_key) for one in kept.select(space, KEYS)] == live


@pytest.mark.parametrize("asked", [{"prefix": "\ud800"}, {"after": "x\udfff"}])
def test_what_is_no_unicode_text_is_looked_for_in_no_store(store, asked):
    refused("request-invalid", store.select, SPACE, ["space"], **asked)
