"""The ledger itself: made once, forward only, and what outlives it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hooks.context import ledger_notes
from hooks.context.database import DamagedError, Database
from hooks.context.ledger import Ledger, Read, Sighting
from hooks.context.ledger_notes import Graves, Tombstone, bury
from hooks.errors import StateError
from tests.support.processes import at_once

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def document(key="a" * 32, **fields):
    base = {
        "type": "lesson",
        "content": "X",
        "attrs": {"project_id": "a/b/c"},
        "idempotency_key": key,
        "session_id": "s",
        "ts": "",
        "digest": "d",
        "redacted": ["jwt"],
    }
    return {**base, **fields}


@pytest.fixture
def ledger(tmp_path):
    found = Ledger.open(str(tmp_path), AT)
    yield found
    found.close()


def sighting(**fields):
    base = Sighting("m", 0, 0, "lesson", "d", "a" * 32, "", "s", "/t", 7, "")
    return base._replace(**fields)


def test_reading_never_makes_a_ledger(tmp_path):
    assert Ledger.read_only(str(tmp_path)) is None
    assert list(tmp_path.iterdir()) == []


def test_a_receipt_holds_the_whole_document_and_the_first_one_stays(ledger):
    assert ledger.add_receipt(document(), AT)
    assert not ledger.add_receipt(document(content="Y"), AT)
    found = ledger.receipt("a" * 32)
    assert found.document == document()
    assert (found.state, found.project, found.redacted) == ("pending", "a/b/c", "jwt")
    assert ledger.find("aaaa") == [found]
    assert ledger.find("b") == []


def test_what_is_forgotten_changes_no_more(ledger):
    ledger.add_receipt(document(), AT)
    ledger.change("a" * 32, AT, state="forgotten", body="")
    ledger.change("a" * 32, AT, state="committed", body="back")
    found = ledger.receipt("a" * 32)
    assert (found.state, found.body) == ("forgotten", "")
    assert found.document == {}


def test_receipts_come_newest_first_and_by_session(ledger):
    for number in range(3):
        ledger.add_receipt(document(f"{number}" * 32, session_id=f"s{number % 2}"), AT)
    assert [r.key[0] for r in ledger.receipts()] == ["2", "1", "0"]
    assert [r.key[0] for r in ledger.receipts("s0")] == ["2", "0"]
    assert [r.key[0] for r in ledger.receipts(limit=1)] == ["2"]
    assert ledger.order() == {"0" * 32: 0, "1" * 32: 1, "2" * 32: 2}


def test_a_place_is_known_by_message_block_ordinal_type_and_content(ledger):
    ledger.add_sighting(sighting())
    assert ledger.sighting(("m", 0, 0, "lesson", "d")) == sighting()
    for other in (
        ("n", 0, 0, "lesson", "d"),
        ("m", 1, 0, "lesson", "d"),
        ("m", 0, 1, "lesson", "d"),
        ("m", 0, 0, "signal", "d"),
        ("m", 0, 0, "lesson", "e"),
    ):
        assert ledger.sighting(other) is None
    assert not ledger.add_sighting(sighting(key="b"))
    ledger.add_sighting(sighting(ordinal=1, key="", reason="empty"))
    assert [s.reason for s in ledger.ignored()] == ["empty"]
    assert ledger.counts() == {"ignored": 1}
    assert ledger.sightings_of("a" * 32) == [sighting()]


def test_a_position_is_what_was_moved_to_last(ledger):
    assert ledger.position("t") is None
    for offset in (1, 2):
        ledger.move("t", "/t", Read({"offset": offset}, "/w", "main"), AT)
    assert ledger.position("t") == ({"offset": 2}, "/w", "main")


def test_an_interrupted_transaction_leaves_nothing(ledger):
    def interrupted():
        with ledger.writing():
            ledger.add_receipt(document(), AT)
            ledger.add_receipt({}, AT)

    with pytest.raises(KeyError):
        interrupted()
    assert ledger.receipts() == []


def test_the_first_ledger_says_so_and_a_second_one_knows_that_the_first_was_lost(tmp_path):
    home = str(tmp_path)
    first = Ledger.open(home, AT)
    assert first.note("lost") == ""
    first.close()
    (step,) = ledger_notes.steps(home)
    assert (step["name"], step["at"]) == ("ledger", "2026-11-30T12:00:00.000000+00:00")
    os.unlink(tmp_path / "ledger.db")
    second = Ledger.open(home, AT)
    assert second.note("lost")
    second.close()
    assert len(ledger_notes.steps(home)) == 1


def test_a_home_that_was_upgraded_has_lost_no_ledger_and_keeps_its_steps(tmp_path):
    path = tmp_path / "migrations.json"
    path.write_text(json.dumps({"steps": [{"name": "sweep", "at": "x", "count": 3}]}))
    ledger = Ledger.open(str(tmp_path), AT)
    assert ledger.note("lost") == ""
    ledger.close()
    assert [row["name"] for row in ledger_notes.steps(str(tmp_path))] == ["sweep", "ledger"]


def test_killed_between_ledger_and_note_the_first_ledger_stays_the_first(tmp_path):
    ledger = Ledger.open(str(tmp_path), AT)
    ledger._db.run("DELETE FROM note WHERE name = 'begun'")
    ledger.close()
    again = Ledger.open(str(tmp_path), AT)
    assert again.note("lost") == ""
    again.close()


def test_sixteen_first_openers_make_one_ledger(tmp_path):
    code = (
        "ledger = Ledger.open(sys.argv[1], datetime.now(UTC))\n"
        "ledger.add_receipt({'type': 'lesson', 'attrs': {}, 'idempotency_key': sys.argv[-1]},"
        " datetime.now(UTC))\n"
    )
    setup = "from datetime import UTC, datetime\nfrom hooks.context.ledger import Ledger"
    at_once(16, setup, code, tmp_path)
    ledger = Ledger.open(str(tmp_path), AT)
    assert len(ledger.receipts()) == 16
    assert ledger.note("lost") == ""
    ledger.close()


def test_a_newer_format_is_refused_and_left_alone(tmp_path):
    path = str(tmp_path / "x.db")
    Database(path, "CREATE TABLE a (b)", 2).close()
    before = Path(path).read_bytes()
    with pytest.raises(StateError) as err:
        Database(path, "CREATE TABLE a (b)", 1)
    assert "format 2" in str(err.value)
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("data", [b"x" * 5000, b"SQLite format 3\0" + b"y" * 5000])
def test_a_file_that_is_no_database_is_damaged_not_a_crash(tmp_path, data):
    (tmp_path / "x.db").write_bytes(data)
    with pytest.raises(DamagedError):
        Database(str(tmp_path / "x.db"), "CREATE TABLE a (b)", 1)


def test_an_empty_file_that_a_killed_first_run_left_becomes_a_database(tmp_path):
    (tmp_path / "x.db").touch()
    Database(str(tmp_path / "x.db"), "CREATE TABLE a (b)", 1).close()
    assert (tmp_path / "x.db").stat().st_size


def test_a_grave_is_found_by_key_by_message_and_by_session(tmp_path):
    home = str(tmp_path)
    bury(home, Tombstone("k", "m", "s", "d", "x"))
    bury(home, Tombstone("only-key"))
    path = Path(ledger_notes.tombstones_path(home))
    path.write_bytes(path.read_bytes() + b'{"torn\n[1]\n{"key": 7}\n')
    graves = Graves(home)
    for wanted in (("k", "", "", ""), ("x", "m", "", "d"), ("x", "", "s", "d")):
        assert graves.holds(*wanted)
    for other in (("x", "m", "s", "e"), ("x", "n", "t", "d"), ("x", "", "", "")):
        assert not graves.holds(*other)
