from __future__ import annotations

import pytest

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import Remove, SyncFrame, Upsert
from scripts.swarm_v2.memory.watch_view import SelectorTracker, ViewKey, WatchView
from scripts.swarm_v2.scope_key import Identity, ScopeKeyError, resolve_scope_key

A, B = Identity("did:key:zA", "a1"), Identity("did:key:zB", "b1")
OF_A, OF_B = resolve_scope_key("user", A), resolve_scope_key("user", B)
PREFERENCES = Address("proj", "preferences", "user")
TITLES = {"properties": {"title": True}}


def frame(*upserts: Upsert, removes: tuple[Remove, ...] = (), reset: bool = False) -> SyncFrame:
    return SyncFrame("proj", 1, 0, 9, upserts, removes, reset)


def test_two_instances_and_two_branches_lie_side_by_side() -> None:
    view = WatchView()
    rows = [
        Upsert("preferences", "user", 1, "own"),
        Upsert("preferences", "user", 2, "of a", False, OF_A),
        Upsert("preferences", "user", 3, "of b", False, OF_B),
        Upsert("preferences", "user", 4, "trial", branch="trial"),
    ]
    changed = view.apply(frame(*rows))
    keys = [("", "user"), ("", OF_A), ("", OF_B), ("trial", "user")]
    assert changed == tuple(ViewKey(branch, name, "preferences") for branch, name in keys)
    assert [entry for _, entry in view] == rows
    view.apply(frame(removes=(Remove("preferences", "user", OF_A),)))
    assert [entry.value for _, entry in view] == ["own", "of b", "trial"]


def test_an_older_state_changes_nothing_and_an_equal_one_is_no_change() -> None:
    view = WatchView()
    view.apply(frame(Upsert("x", "space", 5, 1)))
    assert view.apply(frame(Upsert("x", "space", 4, 0))) == ()
    assert view.apply(frame(Upsert("x", "space", 5, 1))) == ()
    assert view.apply(frame(Upsert("x", "space", 5, True))) != ()
    key = ViewKey("", "space", "x")
    assert view.apply(frame(Upsert("x", "space", 6, None, True))) == (key,)
    found = view.get(key)
    assert found is not None
    assert found.deleted


def test_a_reset_lets_go_what_it_does_not_hold() -> None:
    view = WatchView()
    view.apply(frame(Upsert("x", "space", 1, 1), Upsert("y", "space", 2, 2)))
    changed = view.apply(frame(Upsert("y", "space", 2, 2), reset=True))
    assert changed == (ViewKey("", "space", "x"),)
    assert len(view) == 1


def test_one_persons_watch_never_stands_for_anothers() -> None:
    tracker: SelectorTracker[str] = SelectorTracker(lambda: A)
    tracker.add(PREFERENCES, True, "of a")
    assert tracker.superset(PREFERENCES, TITLES) == "of a"
    assert tracker.superset(PREFERENCES._replace(scope_key=OF_A), TITLES) == "of a"
    assert tracker.superset(PREFERENCES._replace(scope_key=OF_B), TITLES) is None
    assert tracker.superset(Address("other", "preferences", "user"), TITLES) is None
    assert tracker.superset(Address("proj", "preferences"), TITLES) is None


def test_a_watch_is_covered_by_the_same_one_or_by_everything_at_or_above_it() -> None:
    tracker: SelectorTracker[str] = SelectorTracker(lambda: A)
    below = PREFERENCES._replace(path=("sections",))
    tracker.add(PREFERENCES, TITLES, "titles")
    assert tracker.superset(PREFERENCES, {"properties": {"title": True}}) == "titles"
    assert tracker.superset(below, TITLES) is None
    tracker.add(below, True, "sections")
    assert tracker.superset(below._replace(path=("sections", "0")), TITLES) == "sections"
    assert tracker.superset(PREFERENCES, True) is None
    tracker.discard(below, True)
    tracker.discard(below, True)
    assert tracker.superset(below, True) is None


def test_on_the_wire_a_key_stands_only_where_it_is_anothers() -> None:
    tracker: SelectorTracker[int] = SelectorTracker(lambda: A)
    for scope_key in (None, OF_A, OF_B):
        tracker.add(PREFERENCES._replace(scope_key=scope_key), TITLES, 1)
    tracker.add(Address("proj", "notes", "space", (), resolve_scope_key("session", B)), True, 2)
    assert list(tracker.on_the_wire()) == [
        (PREFERENCES, TITLES, 1),
        (PREFERENCES._replace(scope_key=OF_B), TITLES, 1),
        (Address("proj", "notes", "session", (), resolve_scope_key("session", B)), True, 2),
    ]


def test_who_this_client_is_is_asked_each_time_and_may_be_nobody() -> None:
    who = [Identity()]
    tracker: SelectorTracker[int] = SelectorTracker(lambda: who[0])
    with pytest.raises(ScopeKeyError):
        tracker.add(PREFERENCES, True, 1)
    tracker.add(PREFERENCES._replace(scope_key=OF_A), True, 2)
    assert list(tracker.on_the_wire()) == [(PREFERENCES._replace(scope_key=OF_A), True, 2)]
    who[0] = A
    assert list(tracker.on_the_wire()) == [(PREFERENCES, True, 2)]
    assert tracker.superset(PREFERENCES, True) == 2


def test_what_is_no_schema_is_refused() -> None:
    tracker: SelectorTracker[int] = SelectorTracker(lambda: A)
    with pytest.raises(MemoryRefused) as refused:
        tracker.add(PREFERENCES, {"minimum": 1}, 1)
    assert refused.value.code == "watch-invalid"
