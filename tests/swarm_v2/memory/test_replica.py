from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import Address, InstanceKey, instance_key
from scripts.swarm_v2.memory.changes import ChangeSet
from scripts.swarm_v2.memory.dependencies import DependencyIndex, Reader
from scripts.swarm_v2.memory.document import MISSING, merge, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import Remove, SyncFrame, Upsert
from scripts.swarm_v2.memory.replica import Entry, Replica, Sealed
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key, scope_of

SERVICE = Identity("did:key:zS", "run")
A, B = Identity("did:key:zA", "a1"), Identity("did:key:zB", "b1")
OF_A, OF_B = resolve_scope_key("user", A), resolve_scope_key("user", B)
PREFERENCES = Address("proj", "preferences", "user")
DOWN = MemoryRefused("store-busy", "the store did not answer")


def frame(*upserts: Upsert, removes: tuple[Remove, ...] = (), reset: bool = False) -> SyncFrame:
    return SyncFrame("proj", 1, 0, 9, upserts, removes, reset)


def keyed(key: str, seq: int, value: object, id: str = "preferences") -> Upsert:
    deleted = value is MISSING
    return Upsert(id, scope_of(key), seq, None if deleted else value, deleted, key)


def of(who: Identity) -> InstanceKey:
    return instance_key(PREFERENCES, who)


class Loads:
    """Where a replica's loads go, to be answered when the test says so."""

    def __init__(self) -> None:
        self.asked: list[Address] = []
        self.answers: list[Any] = []

    def __call__(self, address: Address, settled: Any) -> None:
        self.asked.append(address)
        self.answers.append(settled)


def test_two_instances_lie_side_by_side_and_a_commit_is_seen_by_its_author_alone() -> None:
    replica = Replica("proj", SERVICE)
    replica.apply(frame(Upsert("preferences", "user", 1, "own")))
    sealed = replica.seal(A, [(PREFERENCES, "set", "of a")])
    assert replica.read(PREFERENCES, A) == "of a"
    assert replica.read(PREFERENCES, B) is MISSING
    assert replica.read(PREFERENCES, None) == "own"
    assert replica.confirmed(of(A)) is MISSING
    other = replica.seal(B, [(PREFERENCES, "set", "of b")])
    assert replica.confirm(sealed, 5) == (of(A),)
    assert replica.entry(of(A), A) == Entry(5, "of a")
    assert replica.entry(of(B), B) == Entry(0, "of b", True)
    assert replica.roll_back(other) == (of(B),)
    assert replica.entry(of(B), B) is None
    assert replica.entry(of(SERVICE), None) == Entry(1, "own")


def test_a_verdict_that_comes_twice_changes_nothing_the_second_time() -> None:
    replica = Replica("proj", A)
    sealed = replica.seal(A, [(PREFERENCES, "set", 1)])
    replica.confirm(sealed, 5)
    assert replica.confirm(sealed, 6) == ()
    assert replica.roll_back(sealed) == ()
    assert replica.entry(of(A), A) == Entry(5, 1)


def test_a_commit_on_a_space_document_is_its_authors_alone_until_the_verdict() -> None:
    replica, address = Replica("proj", SERVICE), Address("proj", "memory/x")
    replica.apply(frame(Upsert("memory/x", "space", 1, {"text": "old"})))
    sealed = replica.seal(A, [(address, "patch", {"text": "new"})])
    texts = address._replace(path=("text",))
    assert [replica.read(texts, who) for who in (A, B, None)] == ["new", "old", "old"]
    replica.confirm(sealed, 2)
    assert [replica.read(texts, who) for who in (A, B, None)] == ["new"] * 3


def test_an_address_is_its_own_key_else_whoever_runs_else_the_replicas_own() -> None:
    replica = Replica("proj", SERVICE)
    named = PREFERENCES._replace(scope_key=OF_B)
    assert replica.instance(named, A).scope_key == OF_B
    assert replica.instance(PREFERENCES, A).scope_key == OF_A
    assert replica.instance(PREFERENCES, None) == of(SERVICE)
    anonymous = Replica("proj", Identity())
    assert anonymous.instance(PREFERENCES, None).scope_key == "user"
    # Who runs is somebody: the replica's own session is not lent to it.
    of_nobody = replica.instance(Address("proj", "notes", "session"), Identity("did:key:zA"))
    assert of_nobody.scope_key == "session"


def test_the_basis_of_a_commit_is_what_its_own_author_saw() -> None:
    replica = Replica("proj", SERVICE)
    replica.apply(frame(Upsert("preferences", "user", 3, "own"), keyed(OF_A, 4, "a")))
    assert replica.seal(A, [(PREFERENCES, "set", "x")]).bases == (4,)
    assert replica.seal(B, [(PREFERENCES, "set", "x")]).bases == (0,)
    # A's first commit has no verdict: what the second one builds on has no number yet.
    assert replica.seal(A, [(PREFERENCES, "set", "y")]).bases == (None,)
    assert replica.basis(SERVICE, [PREFERENCES]) == ((of(SERVICE), 3),)


def test_a_newer_state_that_overtook_the_verdict_stays() -> None:
    replica = Replica("proj", A)
    sealed = replica.seal(A, [(PREFERENCES, "set", "mine")])
    replica.apply(frame(Upsert("preferences", "user", 7, "theirs")))
    assert replica.read(PREFERENCES, None) == "mine"
    assert replica.confirm(sealed, 5) == ()
    assert replica.entry(of(A), A) == Entry(7, "theirs")
    assert replica.apply(frame(Upsert("preferences", "user", 6, "older"))) == ()


def test_the_server_has_the_last_word_on_what_a_patch_made() -> None:
    replica = Replica("proj", A)
    sealed = replica.seal(A, [(PREFERENCES, "patch", {"style": "terse"})])
    replica.confirm(sealed, 5)
    assert replica.read(PREFERENCES, None) == {"style": "terse"}
    merged = {"style": "terse", "verbosity": "normal"}
    assert replica.apply(frame(Upsert("preferences", "user", 5, merged))) == (of(A),)
    assert replica.read(PREFERENCES, None) == merged


def test_a_remove_without_a_key_is_of_the_receivers_own_instance() -> None:
    replica = Replica("proj", SERVICE)
    replica.apply(frame(Upsert("preferences", "user", 3, "own"), keyed(OF_A, 4, "a")))
    assert replica.apply(frame(removes=(Remove("preferences", "user"),))) == (of(SERVICE),)
    assert replica.confirmed(of(A)) == "a"


def test_what_is_of_another_space_is_refused_and_of_another_branch_left_out() -> None:
    replica = Replica("proj", A)
    with pytest.raises(MemoryRefused):
        replica.apply(SyncFrame("other", 1, 0, 1, (Upsert("x", "space", 1, 1),)))
    with pytest.raises(MemoryRefused):
        replica.read(Address("other", "x"), None)
    assert replica.apply(frame(Upsert("x", "space", 1, 1, branch="trial"))) == ()
    trial = Replica("proj", A, branch="trial")
    assert trial.apply(frame(Upsert("x", "space", 1, 1, branch="trial"))) != ()


def test_what_was_never_seen_is_loaded_once_and_named_only_where_it_is_anothers() -> None:
    loads = Loads()
    replica = Replica("proj", SERVICE, loads)
    for who in (A, A, None, SERVICE, B):
        assert replica.read(PREFERENCES, who) is MISSING
    named = [PREFERENCES._replace(scope_key=key) for key in (OF_A, None, OF_B)]
    assert loads.asked == named
    replica.read(Address("proj", "index", "space", ("links",)), A)
    assert loads.asked[-1] == Address("proj", "index")
    replica.read(PREFERENCES._replace(scope_key=of(SERVICE).scope_key), A)
    assert len(loads.asked) == 4


def test_a_failed_load_can_be_tried_again_and_anothers_reservation_is_untouched() -> None:
    """Scenario 21."""
    loads = Loads()
    replica = Replica("proj", SERVICE, loads)
    told: list[Any] = []
    replica.read(PREFERENCES, A)
    replica.read(PREFERENCES, B)
    replica.loads.when_settled([of(A)], told.append)
    replica.loads.when_settled([of(B)], told.append)
    loads.answers[0](DOWN)
    assert told == [DOWN]
    assert (of(A) in replica.pulls, of(B) in replica.pulls) == (False, True)
    replica.read(PREFERENCES, B)
    replica.read(PREFERENCES, A)
    assert [one.scope_key for one in loads.asked] == [OF_A, OF_B, OF_A]
    replica.apply(frame(Upsert("preferences", "user", 2, "of a", False, OF_A)))
    loads.answers[2](None)
    assert replica.read(PREFERENCES, A) == "of a"
    assert len(loads.asked) == 3


def test_a_load_that_raises_at_once_gives_everything_back() -> None:
    def load(address: Address, settled: Any) -> None:
        raise DOWN

    replica = Replica("proj", A, load)
    with pytest.raises(MemoryRefused):
        replica.read(PREFERENCES, None)
    with pytest.raises(MemoryRefused):
        replica.missing(PREFERENCES, None)
    assert of(A) not in replica.pulls
    assert of(A) not in replica.missing_links
    assert replica.loads.count(of(A)) == 0


def test_what_was_loaded_and_is_not_there_is_known_to_be_absent() -> None:
    loads = Loads()
    replica = Replica("proj", A, loads)
    replica.read(PREFERENCES, None)
    loads.answers[0](None)
    assert replica.entry(of(A), A) == Entry(0, MISSING)
    replica.read(PREFERENCES, None)
    assert len(loads.asked) == 1
    replica.let_go(of(A))
    replica.read(PREFERENCES, None)
    assert len(loads.asked) == 2


def test_one_persons_missing_link_keeps_nobody_else_from_loading_theirs() -> None:
    loads = Loads()
    replica = Replica("proj", SERVICE, loads)
    assert replica.missing(PREFERENCES, A)
    assert not replica.missing(PREFERENCES, A)
    assert replica.missing(PREFERENCES, B)
    assert [one.scope_key for one in loads.asked] == [OF_A, OF_B]
    loads.answers[1](DOWN)
    assert of(A) in replica.pulls
    assert of(A) in replica.missing_links
    assert of(B) not in replica.missing_links
    assert replica.missing(PREFERENCES, B)
    loads.answers[2](None)
    assert not replica.missing(PREFERENCES, B)


def test_a_missing_link_behind_a_pull_under_way_waits_for_it_and_returns_only_its_own() -> None:
    loads = Loads()
    replica = Replica("proj", SERVICE, loads)
    replica.read(PREFERENCES, A)
    assert replica.missing(PREFERENCES, A)
    assert len(loads.asked) == 1
    loads.answers[0](DOWN)
    assert of(A) not in replica.missing_links
    assert replica.missing(PREFERENCES, A)
    assert len(loads.asked) == 2


def test_nothing_is_loaded_that_nobody_could_name() -> None:
    loads = Loads()
    replica = Replica("proj", Identity(), loads)
    assert replica.read(PREFERENCES, None) is MISSING
    assert loads.asked == []


def test_one_frame_with_two_instances_is_two_changes_and_wakes_their_two_readers() -> None:
    """Scenario 22."""
    replica, readers = Replica("proj", SERVICE), DependencyIndex()
    for who, name in ((A, "context of a"), (B, "context of b"), (SERVICE, "context of s")):
        readers.replace(Reader(name, of(who).scope_key), {of(who): ((),)})
    owners = (of(A), of(B), of(SERVICE))
    before = [keyed(one.scope_key, n + 1, {"style": "old"}) for n, one in enumerate(owners)]
    replica.apply(frame(*before))
    batch = frame(
        Upsert("preferences", "user", 5, {"style": "terse"}, False, OF_A),
        Upsert("preferences", "user", 6, {"style": "long"}, False, OF_B),
        Upsert("preferences", "user", 3, {"style": "old"}, False, of(SERVICE).scope_key),
    )
    changes = ChangeSet()
    changes.capture("proj", replica.keys_of(batch), replica.confirmed)
    assert replica.apply(batch) == (of(A), of(B))
    found = changes.compare(replica.confirmed)
    assert [one.address for one in found] == [
        f'/{OF_A}/preferences/["style"]',
        f'/{OF_B}/preferences/["style"]',
    ]
    woken = [reader.node for one in found for reader in readers.readers(one.key, one.path)]
    assert woken == ["context of a", "context of b"]


KEYS = ["space", OF_A, OF_B]
values = st.sampled_from([None, True, 1, {}, {"a": 1}, {"a": {"b": 2}}])
steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("seal"),
            st.sampled_from([A, B]),
            st.sampled_from(["space", "user"]),
            st.sampled_from(["set", "patch", "delete"]),
            values,
        ),
        st.tuples(st.sampled_from(["confirm", "roll back"]), st.integers(0, 5)),
        st.tuples(st.just("frame"), st.sampled_from(KEYS), values | st.just(MISSING)),
        st.tuples(st.just("remove"), st.sampled_from(KEYS)),
    ),
    max_size=25,
)


class Pair:
    """A replica and its oracle: what is confirmed, and every commit without a verdict."""

    def __init__(self) -> None:
        self.replica = Replica("proj", SERVICE)
        self.confirmed: dict[str, Any] = {}
        self.waiting: list[tuple[Sealed, Identity, str, str, Any]] = []

    def step(self, seq: int, what: str, *more: Any) -> None:
        if what == "seal":
            who, scope, op, value = more
            sealed = self.replica.seal(who, [(Address("proj", "x", scope), op, value)])
            self.waiting.append((sealed, who, resolve_scope_key(scope, who), op, value))
        elif what == "frame":
            self.replica.apply(frame(keyed(more[0], seq, more[1], "x")))
            self.confirmed[more[0]] = more[1]
        elif what == "remove":
            self.replica.apply(frame(removes=(Remove("x", scope_of(more[0]), more[0]),)))
            self.confirmed.pop(more[0], None)
        elif self.waiting:
            self.verdict(seq, what, self.waiting.pop(more[0] % len(self.waiting)))

    def verdict(self, seq: int, what: str, commit: tuple[Sealed, Identity, str, str, Any]) -> None:
        sealed, _, key, op, value = commit
        if what == "confirm":
            self.confirmed[key] = after(self.confirmed.get(key, MISSING), op, value)
            self.replica.confirm(sealed, seq)
        else:
            self.replica.roll_back(sealed)

    def wanted(self, who: Identity, key: str) -> Any:
        value = self.confirmed.get(key, MISSING)
        for _, author, where, op, written in self.waiting:
            if author == who and where == key:
                value = after(value, op, written)
        return value


def after(value: Any, op: str, written: Any) -> Any:
    if op == "delete":
        return MISSING
    if op == "set":
        return written
    return merge({} if value is MISSING else value, written)


@settings(deadline=None, max_examples=100)
@given(steps)
def test_each_of_two_people_sees_the_confirmed_state_under_their_own_layers(todo: Any) -> None:
    pair = Pair()
    for seq, step in enumerate(todo, start=1):
        pair.step(seq, *step)
        for who in (A, B, SERVICE):
            for key in KEYS:
                found = pair.replica.entry(InstanceKey("proj", key, "x"), who)
                assert same(found.value if found else MISSING, pair.wanted(who, key))
