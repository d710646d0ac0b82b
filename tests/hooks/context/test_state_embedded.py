"""``state.db``: swept in passing, and put aside where it is no database any more."""

from __future__ import annotations

import os
import random
import sqlite3
from datetime import timedelta

import pytest

from hooks.context import state_down
from hooks.context.session_state import TTL_S, Key, change, open_state
from hooks.context.state_embedded import ASIDE, FILE, EmbeddedState
from hooks.errors import StateDown
from hooks.settings import Settings
from hooks.status import collect_status
from scripts.swarm_v2.installation import installation
from tests.conftest import NOON
from tests.support.processes import at_once
from tests.support.run_hook import recorded, run_hook, wait_for_workers

KEY = Key("breaker", "one")
DAY = timedelta(days=1)


def rows(home):
    db = sqlite3.connect(home / FILE)
    try:
        return db.execute("SELECT count(*) FROM state").fetchone()[0]
    finally:
        db.close()


def filled(home, number=300):
    """Make a state of many pages; return its bytes."""
    state = EmbeddedState.open(str(home), NOON)
    for one in range(number):
        state.write(Key("breaker", f"session {one}"), b"x" * 200)
    state.close()
    return (home / FILE).read_bytes()


def test_what_ended_is_swept_in_passing_and_what_never_ends_stays(home):
    filled(home, 40)
    state = EmbeddedState.open(str(home), NOON)
    state.write(Key("controls", "switch"), b"{}")
    state.close()
    later = EmbeddedState.open(str(home), NOON + DAY + timedelta(seconds=1))
    for one in range(4):
        later.write(Key("reads", str(one)), b"{}")
    assert later.ids("breaker") == []
    assert later.ids("controls") == ["switch"]
    later.close()
    assert rows(home) == 5


def test_a_clock_that_was_set_back_loses_nothing(home):
    state = EmbeddedState.open(str(home), NOON)
    state.write(KEY, b"1")
    state.close()
    earlier = EmbeddedState.open(str(home), NOON - 30 * DAY)
    assert earlier.read([KEY]) == [b"1"]
    earlier.close()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda whole: b"this is no database" * 500, id="another file"),
        pytest.param(lambda whole: whole[:5_000], id="cut"),
        pytest.param(lambda whole: b"\0" * len(whole), id="zeros"),
        pytest.param(lambda whole: whole[:4_096] + b"\xff" * (len(whole) - 4_096), id="pages"),
        pytest.param(lambda whole: b"", id="empty"),
    ],
)
def test_a_damaged_file_costs_what_it_knew_and_stops_no_event(home, damage):
    (home / FILE).write_bytes(damage(filled(home)))
    settings, at = Settings(str(home)), NOON
    for _ in range(3):  # met at once, or with the first write; the next event begins from empty
        state = open_state(settings, at)
        at += timedelta(seconds=state_down.PAUSE_S)
        if state is None:
            continue
        try:
            change(state, KEY, lambda was: {"n": 1})
        except StateDown as err:
            state_down.mark(settings, at, err.what)
            at += timedelta(seconds=state_down.PAUSE_S)
        finally:
            state.close()
    state = open_state(settings, at)
    assert state.read([KEY]) == [b'{"n":1}']
    state.close()


@pytest.mark.parametrize("seed", range(12))
def test_bytes_turned_anywhere_stop_no_event_for_long(home, seed):
    rng = random.Random(seed)
    data = bytearray(filled(home, 60))
    for _ in range(40):
        data[rng.randrange(len(data))] = rng.randrange(256)
    (home / FILE).write_bytes(data)
    why = ""
    for _ in range(4):
        try:
            state = EmbeddedState.open(str(home), NOON)
        except StateDown as err:
            why = err.what
            continue
        try:
            change(state, KEY, lambda was: {"n": 1})
            why = ""
        except StateDown as err:
            why = err.what
        finally:
            state.close()
    # A header that names another version is believed, and left to the person.
    assert not why or "format" in why


USE = """
state = EmbeddedState.open(sys.argv[1], from_epoch(float(sys.argv[2])))
change(state, Key("breaker", sys.argv[-1]), lambda was: {"n": 1})
"""
USES = (
    "from hooks.context.session_state import Key, change; from hooks.clock import from_epoch;"
    "from hooks.context.state_embedded import EmbeddedState"
)


def test_many_that_meet_the_damage_at_once_lose_nothing_of_the_new_file(home):
    filled(home)
    (home / FILE).write_bytes(b"this is no database" * 500)
    at_once(12, USES, USE, home, NOON.timestamp())
    state = EmbeddedState.open(str(home), NOON)
    assert state.ids("breaker") == sorted(map(str, range(12)))
    state.close()
    assert (home / ASIDE).read_bytes() == b"this is no database" * 500


def test_a_damaged_file_is_told_until_it_is_removed_or_for_a_day(home, tmp_path):
    installation(str(home), NOON)
    (home / FILE).write_bytes(b"this is no database" * 500)

    def told(at):
        status = collect_status(Settings(str(home)), {}, at, str(tmp_path), "")
        return [one for one in status["problems"] if ASIDE in one["what"]]

    [problem] = told(NOON)  # asking for the switch is what put it aside
    assert str(home / ASIDE) in problem["what"]
    assert "controls are on" in problem["what"]
    assert str(home / ASIDE) in problem["next"]
    log = (home / "logs" / "hooks.log").read_text(encoding="utf-8")
    assert log.count(ASIDE) == log.count("\n") == 1
    assert told(NOON + DAY) == [problem]
    assert told(NOON + DAY + timedelta(seconds=1)) == []
    (home / ASIDE).unlink()
    assert told(NOON) == []


def test_many_that_make_it_at_once_agree(home):
    at_once(12, USES, USE, home, NOON.timestamp())
    assert rows(home) == 12


@pytest.mark.parametrize("way", ["folder", "garbage", "link in a circle", "of a later version"])
def test_a_hook_goes_on_whatever_lies_there(home, project, way):
    home.mkdir(parents=True)
    path = home / FILE
    if way == "folder":
        path.mkdir()
    elif way == "garbage":
        path.write_bytes(os.urandom(9_000))
    elif way == "link in a circle":
        path.symlink_to(path)
    else:
        filled(home, 1)
        db = sqlite3.connect(path)
        db.execute("PRAGMA user_version=99")
        db.close()
    payload = recorded("PostToolUseFailure", cwd=str(project))
    done = run_hook("PostToolUseFailure", payload, home)
    wait_for_workers(home)
    assert (done.rc, done.stderr) == (0, "")
    log = home / "logs" / "hooks.log"
    assert not log.exists() or "unforeseen" not in log.read_text(encoding="utf-8")


def test_a_file_of_a_later_version_is_left_as_it_is(home):
    whole = filled(home, 1)
    db = sqlite3.connect(home / FILE)
    db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(StateDown, match="format 99"):
        EmbeddedState.open(str(home), NOON)
    assert len((home / FILE).read_bytes()) == len(whole)
    assert not (home / ASIDE).exists()


def test_the_documented_times_are_those_of_the_code():
    from tests.support.run_hook import ROOT

    page = (ROOT / "docs" / "state.md").read_text(encoding="utf-8")
    for kind, ttl_s in TTL_S.items():
        days = {None: "never", 86_400: "24 h", 30 * 86_400: "30 days"}[ttl_s]
        [row] = [line for line in page.splitlines() if line.startswith(f"| `{kind}` |")]
        assert row.endswith(f"| {days} |")
