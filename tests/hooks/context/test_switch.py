from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context import switch
from hooks.context.switch import ALL, Off, Switches, load, turn
from hooks.errors import StateError

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HERE, ELSEWHERE = "host/o/r", "host/o/other"


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def is_off(home, minutes: float, project: str = HERE, session: str = "s1") -> bool:
    return load(home).forbade(at(minutes), at(1e6), project, session)


@pytest.fixture
def home(tmp_path) -> str:
    return str(tmp_path / "home")


def test_a_home_that_does_not_exist_has_nothing_off_and_stays_absent(home):
    assert load(home) == Switches()
    assert not is_off(home, 0)
    assert not os.path.exists(home)


def test_off_holds_from_its_instant_until_turned_on_and_the_stretch_is_remembered(home):
    turn(home, False, ALL, at(0))
    turn(home, True, ALL, at(10))

    assert [is_off(home, m) for m in (-0.001, 0, 9.999, 10)] == [False, True, True, False]


def test_a_stretch_with_an_end_ends_by_itself_and_says_when(home):
    turn(home, False, ALL, at(0), at(120))

    assert load(home).off(at(119), HERE, "s1") == Off(
        ALL, "2026-11-30T12:00:00.000000+00:00", "2026-11-30T14:00:00.000000+00:00"
    )
    assert not is_off(home, 120)


def test_a_session_and_a_project_are_switched_alone(home):
    turn(home, False, "session:s1", at(0))
    turn(home, False, f"project:{ELSEWHERE}", at(0))

    assert is_off(home, 1, session="s1")
    assert not is_off(home, 1, session="s2")
    assert is_off(home, 1, project=ELSEWHERE, session="s2")


def test_turning_everything_on_leaves_a_project_that_is_off(home):
    turn(home, False, f"project:{HERE}", at(0))
    turn(home, False, ALL, at(0))
    turn(home, True, ALL, at(5))

    assert is_off(home, 6)
    assert not is_off(home, 6, project=ELSEWHERE)


def test_of_two_stretches_the_one_that_lasts_longer_is_reported(home):
    turn(home, False, ALL, at(0), at(30))
    turn(home, False, "session:s1", at(0))

    found = load(home).off(at(1), HERE, "s1")

    assert found is not None
    assert found.what == "session:s1"


DAMAGE = {
    "empty": b"",
    "torn": b'{"off": [{"what": "al',
    "an array": b"[]",
    "off is no list": b'{"off": {}}',
    "a row is no object": b'{"off": [7]}',
    "an unknown kind": b'{"off": [{"what": "branch:x", "from": "2026-11-30T12:00:00Z"}]}',
    "no start": b'{"off": [{"what": "all", "until": null}]}',
    "a bad end": b'{"off":[{"what":"all","from":"2026-11-30T12:00:00Z","until":"x"}]}',
    "not UTF-8": b'{"off": [], "x": "\xff"}',
}


@pytest.mark.parametrize("data", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_file_switches_everything_off_and_is_never_overwritten(home, data):
    os.makedirs(home)
    path = switch.path(home)
    with open(path, "wb") as file:
        file.write(data)

    assert is_off(home, 0)
    with pytest.raises(StateError, match="memory-switch") as caught:
        turn(home, True, ALL, at(0))
    assert "nothing is captured" in caught.value.hint
    with open(path, "rb") as file:
        assert file.read() == data


def test_a_folder_in_the_place_of_the_file_is_damage_too(home):
    os.makedirs(switch.path(home))
    assert is_off(home, 0)


def test_a_file_cut_anywhere_never_turns_memory_on(home):
    turn(home, False, ALL, at(0))
    path = switch.path(home)
    with open(path, "rb") as file:
        whole = file.read()
    for cut in range(len(whole.rstrip())):
        with open(path, "wb") as file:
            file.write(whole[:cut])
        assert is_off(home, 1), f"cut at byte {cut} of {len(whole)} was believed"


def test_saying_off_again_inside_one_stretch_keeps_one_row(home):
    for minute in range(50):
        turn(home, False, ALL, at(minute))
    assert len(load(home).stretches) == 1


def test_a_stretch_that_ended_long_ago_is_forgotten(home):
    turn(home, False, ALL, at(0), at(1))
    turn(home, False, "session:s1", at(0) + timedelta(days=switch.HISTORY_DAYS + 1))
    assert [s.what for s in load(home).stretches] == ["session:s1"]


def test_the_file_is_private(home):
    turn(home, False, ALL, at(0))
    assert os.stat(switch.path(home)).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("what", ["", "project:", "branch:x"])
def test_only_the_three_kinds_can_be_switched(home, what):
    with pytest.raises(ValueError, match="cannot be switched"):
        turn(home, False, what, at(0))


WHATS = [ALL, f"project:{HERE}", f"project:{ELSEWHERE}", "session:s1", "session:s2"]
COMMANDS = st.tuples(
    st.booleans(),
    st.sampled_from(WHATS),
    st.integers(0, 20),
    st.none() | st.integers(0, 25),
)


@settings(deadline=None, max_examples=100)
@given(st.lists(COMMANDS, max_size=12))
def test_the_switch_agrees_with_the_newest_word_about_each_minute(tmp_path_factory, commands):
    """For every name the last command given at or before a minute decides about that minute."""
    home = str(tmp_path_factory.mktemp("home"))
    for on, what, minute, until in commands:
        turn(home, on, what, at(minute), None if until is None else at(until))

    def word(what: str, minute: int) -> bool:
        said = [c for c in commands if c[1] == what and c[2] <= minute]
        if not said or said[-1][0]:
            return False
        return said[-1][3] is None or minute < said[-1][3]

    for minute in range(27):
        for project in (HERE, ELSEWHERE):
            for session in ("s1", "s2"):
                names = (ALL, f"project:{project}", f"session:{session}")
                expected = any(word(name, minute) for name in names)
                assert is_off(home, minute, project, session) == expected, (
                    minute,
                    project,
                    session,
                )


def test_a_clock_that_was_set_back_behind_the_word_off_turns_nothing_on(home):
    turn(home, False, ALL, at(5))

    assert load(home).off(at(0), HERE, "s1") is not None
    assert load(home).forbade(at(-1), at(0), HERE, "s1")
    assert not load(home).forbade(at(-1), at(6), HERE, "s1")
    turn(home, True, ALL, at(1))
    assert load(home).off(at(2), HERE, "s1") is None
