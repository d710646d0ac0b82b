"""SQLite's errors as ours: what is damage, what is a value, and what is the reason."""

from __future__ import annotations

import pytest

from hooks.context import database
from hooks.context.database import DamagedError, Database, UnfitError
from hooks.errors import StateError

SCHEMA = "CREATE TABLE t (a TEXT UNIQUE)"


@pytest.fixture
def db(tmp_path):
    found = Database(str(tmp_path / "x.db"), SCHEMA, 1)
    yield found
    found.close()


@pytest.mark.parametrize("value", ["\ud800", 10**30, ["x"], {}, object()])
def test_a_value_that_no_column_holds_is_said_so_and_is_no_damage(db, value):
    with pytest.raises(UnfitError):
        db.run("INSERT INTO t VALUES (?)", (value,))
    with pytest.raises(UnfitError):
        db.rows("SELECT ?", (value,))
    assert db.run("INSERT INTO t VALUES ('good')") == 1


def fill(db):
    with db.writing():
        for number in range(200):
            db.run("INSERT INTO t VALUES (?)", (str(number) * 200,))


def test_what_ended_a_transaction_is_the_reason_that_is_told(db):
    db.run("PRAGMA max_page_count=4")
    with pytest.raises(StateError, match="full"):  # SQLite has rolled back by itself then
        fill(db)
    db.run("PRAGMA max_page_count=4000")
    assert db.number("SELECT count(*) FROM t") == 0
    with db.writing():
        db.run("INSERT INTO t VALUES ('good')")


def test_a_commit_that_fails_leaves_nothing_open(tmp_path):
    schema = (
        "CREATE TABLE p (a INTEGER PRIMARY KEY);"
        "CREATE TABLE c (b INTEGER REFERENCES p(a) DEFERRABLE INITIALLY DEFERRED)"
    )
    db = Database(str(tmp_path / "y.db"), schema, 1)
    db.run("PRAGMA foreign_keys=ON")
    with pytest.raises(StateError, match="FOREIGN KEY"), db.writing():
        db.run("INSERT INTO c VALUES (1)")
    with db.writing():
        db.run("INSERT INTO p VALUES (1)")
    assert db.number("SELECT count(*) FROM c") == 0
    db.close()


def test_damage_inside_is_damage_when_it_is_met(tmp_path):
    path = tmp_path / "x.db"
    db = Database(str(path), SCHEMA, 1)
    with db.writing():
        for number in range(500):
            db.run("INSERT INTO t VALUES (?)", (str(number) * 20,))
    db.close()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)
    db = Database(str(path), SCHEMA, 1)
    with pytest.raises(DamagedError):
        db.rows("SELECT * FROM t")
    db.close()


def test_a_hook_waits_shortly_for_another_programs_lock_and_a_worker_long(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "_busy_s", [database.HOOK_BUSY_S])
    quick = Database(str(tmp_path / "x.db"), SCHEMA, 1)
    assert quick.number("PRAGMA busy_timeout") == 1_000
    quick.close()
    database.be_patient()
    patient = Database(str(tmp_path / "x.db"), SCHEMA, 1)
    assert patient.number("PRAGMA busy_timeout") == 10_000
    patient.close()


def test_nothing_but_one_file_and_its_journal_is_ever_beside_a_database(db, tmp_path):
    """Shared memory between processes is what a write-ahead log needs and a network lacks."""
    assert db.one("PRAGMA journal_mode") == ("delete",)
    with db.writing():
        db.run("INSERT INTO t VALUES ('x')")
        names = {path.name for path in tmp_path.iterdir()}
    assert names <= {"x.db", "x.db.lock", "x.db-journal"}
    other = Database(str(tmp_path / "x.db"), SCHEMA, 1)
    assert other.rows("SELECT a FROM t") == [("x",)]
    other.close()
    assert not list(tmp_path.glob("*-wal"))
