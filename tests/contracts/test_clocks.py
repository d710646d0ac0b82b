"""Time zones, summer time and a clock that is set: stored times are UTC, nothing is lost."""

from __future__ import annotations

import re
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from hooks.clock import parse_iso
from hooks.context import outbox
from hooks.context.brains import open_brain
from hooks.settings import Settings
from scripts.swarm_v2.installation import installation
from tests.contracts.test_hard_conditions import WEB, assert_calm, heal, log_of, now, texts
from tests.support.clock_runner import clock
from tests.support.keeping import lesson

BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"  # its rule, in the form that needs no table of zones
ZONES = ("UTC0", BERLIN, "EAST-14", "WEST+12", "ODD-5:45", "No/Such_Zone")
DAY_S = 86_400
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")


def written(home):
    """Return all that is in the home as text: the files, and every row of the databases."""
    said = []
    for path in home.rglob("*"):
        if path.suffix == ".db":
            db = sqlite3.connect(path)
            said += db.iterdump()
            db.close()
        elif path.is_file():
            said += [path.read_text(encoding="utf-8"), path.name]
    return "\n".join(said)


def test_a_zone_that_changes_between_events_changes_nothing(session, home):
    begun = now() - timedelta(seconds=1)
    one = session()
    for number, zone in enumerate(ZONES):
        one.env = {"TZ": zone}
        runs = [one.start("resume" if number else "startup"), one.prompt("go")]
        one.says(lesson(f"said {number}"))
        runs.append(one.stop())
        one.settle()
        assert_calm(*runs)
    assert texts(home) == [f"said {number}" for number in range(len(ZONES))]
    instants = _INSTANT.findall(written(home))
    assert len(instants) > 30
    for text in instants:
        assert text.endswith(("Z", "+00:00")), text
        assert begun <= parse_iso(text) <= now() + timedelta(hours=1), text
    assert log_of(home) == ""


def test_the_hour_that_comes_twice_in_autumn_keeps_its_order(session, home):
    """02:30 in Berlin on 25 October 2026 is 00:30 UTC, and an hour later 01:30 UTC."""
    one = session(env={"TZ": BERLIN})
    switch = datetime(2026, 10, 25, 1, tzinfo=UTC)
    halves = [
        ("summer", switch - timedelta(minutes=30)),
        ("winter", switch + timedelta(minutes=30)),
    ]
    for text, at in halves:
        one.flags = clock((at - now()).total_seconds())
        runs = [one.start("startup" if text == "summer" else "resume"), one.prompt("go")]
        one.says(lesson(text), at=at)
        runs.append(one.stop())
        one.settle()
        assert_calm(*runs)
    assert outbox.names(str(home)) == []
    brain = open_brain(Settings(str(home)), {})
    try:
        found = brain.project_memory(WEB, installation(str(home)).installation_id)
    finally:
        brain.close()
    assert {item.text: parse_iso(item.at) for item in found} == dict(halves)
    told = session().start().context
    assert 0 < told.index("winter") < told.index("summer")  # the newest first


@pytest.mark.parametrize(
    ("start", "stop", "later"),
    [(0, DAY_S, 0), (400 * DAY_S, 0, 60), (0, -400 * DAY_S, 400 * DAY_S), (0, 3_600, 3_610)],
)
def test_a_clock_set_between_start_stop_and_delivery_loses_and_doubles_nothing(
    session, home, start, stop, later
):
    """The brain is away when the marker is kept: the attempt's pause may lie in the future."""
    one, database = session(), home / "brain" / "local.db"
    one.flags = clock(start)
    runs = [one.start()]
    one.settle()
    if database.exists():
        database.rename(home / "aside")
    database.mkdir()
    one.flags = clock(stop)
    one.says(lesson("n0"), at=now() + timedelta(seconds=stop))
    runs.append(one.stop())
    one.settle()
    assert len(outbox.names(str(home))) == 1
    database.rmdir()
    if (home / "aside").exists():
        (home / "aside").rename(database)
    one.flags = clock(later)
    one.says(lesson("n1"), at=now() + timedelta(seconds=later))
    runs.append(one.stop())
    one.settle()
    one.flags = ()
    assert_calm(*runs)
    waits = later == 3_610  # ten seconds behind the failure its pause is not over
    assert len(outbox.names(str(home))) == (2 if waits else 0)
    heal(one)
    assert texts(home) == ["n0", "n1"]
    assert "unforeseen" not in log_of(home)
