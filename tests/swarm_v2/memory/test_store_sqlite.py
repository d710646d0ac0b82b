from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hooks.context import database
from hooks.context.database import Database
from hooks.errors import StateError
from scripts.swarm_v2.memory import store_sqlite
from scripts.swarm_v2.memory.sqlite_schema import SCHEMA, VERSION
from scripts.swarm_v2.memory.store import Commit
from scripts.swarm_v2.memory.store_sqlite import SqliteStore, apply
from tests.support.processes import run_code
from tests.support.store_worlds import SPACE, authored, erase, patch, put, refused

LINKS = {str(n): {"title": f"title {n}", "summary": "x" * 60} for n in range(10_000)}


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "brain" / "memory.db")


@pytest.fixture
def living(path):
    store = SqliteStore(path, wal=True)
    yield store
    store.close()


def mode(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA journal_mode").fetchone()[0]


class Ticking:
    """A clock that goes on only when somebody sleeps; ``do`` happens in one of the sleeps."""

    def __init__(self, do=None, after=0):
        self.now, self.slept, self._do, self._after = 100.0, [], do, after

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds
        if self._do and len(self.slept) == self._after:
            self._do()


def test_a_patch_of_ten_thousand_links_writes_a_few_pages_and_not_the_document(path, living):
    living.commit(SPACE, authored(put("index", {"links": LINKS})))
    living.close()
    store = SqliteStore(path, wal=True)
    store.commit(SPACE, authored(patch("index", {"links": {"new": {"title": "one"}}})))
    assert os.path.getsize(path + "-wal") < 100_000
    for number in range(20):
        store.commit(SPACE, authored(patch("index", {"links": {f"n{number}": LINKS["7"]}})))
    assert os.path.getsize(path + "-wal") < 1_000_000
    assert len(store.read(SPACE, "space", "index").value["links"]) == 10_021
    store.close()


def test_patches_become_a_new_whole_value_before_they_are_half_of_it(path, living):
    value = {str(n): "x" * 100 for n in range(200)}
    living.commit(SPACE, authored(put("a", value)))
    sizes = []
    for number in range(300):
        living.commit(SPACE, authored(patch("a", {str(number): "y" * 100})))
        value[str(number)] = "y" * 100
        with closing(sqlite3.connect(path)) as db:
            sizes.append(db.execute("SELECT patch_bytes, base_bytes FROM head").fetchone())
    assert all(patches * 2 <= base for patches, base in sizes)
    assert 2 <= sum(patches == 0 for patches, _ in sizes) < 12
    assert living.read(SPACE, "space", "a").value == value


def test_a_long_patched_memory_is_whole_in_the_view(path, living):
    said = "x" * 50_000
    living.commit(SPACE, authored(put("memory/a", {"text": said})))
    living.commit(SPACE, authored(patch("memory/a", {"title": "t"})))
    with closing(sqlite3.connect(path)) as db:
        ((value, patches),) = db.execute("SELECT value, patch_bytes FROM live").fetchall()
    assert json.loads(value) == {"text": said, "title": "t"}
    assert patches == 0


def test_a_small_patched_document_is_whole_in_the_view(path, living):
    living.commit(SPACE, authored(put("a", {"x": 1, "y": 1}), patch("a", {"x": 2})))
    living.commit(SPACE, authored(patch("a", {"y": None, "z": 1}), put("b", 1)))
    living.commit(SPACE, authored(erase("b")))
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT id, value, patch_bytes FROM live").fetchall()
    assert rows == [("a", '{"x":2,"z":1}', 0)]


def test_a_file_goes_back_to_a_rollback_journal_when_the_last_one_closes_it(path):
    first, second = SqliteStore(path, wal=True), SqliteStore(path, wal=True)
    first.commit(SPACE, authored(put("a", 1)))
    assert mode(path) == "wal"
    first.close()
    first.close()
    assert mode(path) == "wal"
    assert second.read(SPACE, "space", "a").value == 1
    second.close()
    assert mode(path) == "delete"
    assert sorted(os.listdir(os.path.dirname(path))) == ["memory.db", "memory.db.lock"]


def test_what_is_erased_leaves_the_write_ahead_log_at_once(path, living):
    living.commit(SPACE, authored(put("a", "SECRET" * 100)))
    hook = SqliteStore(path)
    assert b"SECRET" in Path(path + "-wal").read_bytes()
    hook.commit(SPACE, authored(erase("a")))
    for file in Path(path).parent.iterdir():
        assert b"SECRET" not in file.read_bytes()
    hook.close()


@pytest.mark.parametrize("by_another", [False, True])
def test_what_a_reader_kept_in_the_log_leaves_it_once_the_reader_went(path, living, by_another):
    living.commit(SPACE, authored(put("a", "SECRET" * 100)))
    living.tidy()
    hook = Database(path, "", VERSION, create=False)
    hook.run("PRAGMA busy_timeout=1")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM head").fetchall()
    eraser = SqliteStore(path, database=hook) if by_another else living
    eraser.commit(SPACE, authored(erase("a")))
    hook.close()
    assert not living.tidy()
    assert living.due_s() is not None
    reader.close()
    assert living.tidy()
    assert living.due_s() is None
    for file in Path(path).parent.iterdir():
        assert b"SECRET" not in file.read_bytes()


def test_waiting_looks_again_in_short_steps_and_gives_up_at_its_time(path):
    clock = Ticking()
    store = SqliteStore(path, clock=clock, sleep=clock.sleep)
    assert store.wait({SPACE: 0}, 1.0) is False
    assert (clock.now, max(clock.slept)) == (pytest.approx(101.0), store_sqlite.STEP_S)
    assert store.wait({}, 0.1) is False
    store.close()


@pytest.mark.parametrize("own", [True, False])
def test_waiting_ends_at_the_look_behind_a_commit(path, own):
    other = SqliteStore(path)
    clock = Ticking(lambda: (store if own else other).commit(SPACE, authored(put("a", 1))), 3)
    store = SqliteStore(path, clock=clock, sleep=clock.sleep)
    assert store.wait({SPACE: 0, "q": 0}, 10.0) is True
    assert len(clock.slept) == 3
    store.close()
    other.close()


def test_waiting_outlasts_a_writer_that_does_not_rest(path, monkeypatch):
    monkeypatch.setattr(database, "_busy_s", [0.05])
    clock = Ticking(lambda: busy.execute("COMMIT"), 2)
    store = SqliteStore(path, clock=clock, sleep=clock.sleep)
    store.commit(SPACE, authored(put("a", 1)))
    busy = sqlite3.connect(path, isolation_level=None)
    busy.execute("BEGIN EXCLUSIVE")
    refused("store-busy", store.read, SPACE, "space", "a")
    assert store.wait({SPACE: 0}, 10.0) is True
    busy.close()
    store.close()


def test_a_commit_is_part_of_a_transaction_that_is_open(path):
    db = Database(path, SCHEMA + ";CREATE TABLE other (x)", VERSION)
    store = SqliteStore(path, database=db)

    def fail():
        with db.writing():
            assert apply(db, SPACE, authored(put("a", 1))) == 1
            db.run("INSERT INTO other VALUES (1)")
            db.run("INSERT INTO nothing VALUES (1)")

    with pytest.raises(StateError):
        fail()
    assert (store.seq(SPACE), store.read(SPACE, "space", "a")) == (0, None)
    with db.writing():
        assert apply(db, SPACE, authored(put("a", 1))) == 1
        assert apply(db, "q", authored(put("a", 1))) == 1
        assert apply(db, SPACE, authored(put("a", 2, 1))) == 2
    assert store.spaces() == [SPACE, "q"]
    store.close()
    assert db.number("SELECT count(*) FROM commit_log") == 3
    db.close()


def test_a_file_that_is_no_database_is_told_and_left_as_it_is(path):
    content = b"no database at all" * 100
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as file:
        file.write(content)
    refused("store-damaged", SqliteStore, path)
    with open(path, "rb") as file:
        assert file.read() == content


def test_a_file_of_another_format_is_not_touched(path):
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version={VERSION + 1}")
        db.commit()
    before = Path(path).read_bytes()
    refused("store-busy", SqliteStore, path)
    assert Path(path).read_bytes() == before


def test_a_hook_that_keeps_memory_loads_none_of_the_slow_modules(path):
    code = f"""
import sys
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.memory.store import Commit, Write
store = SqliteStore({path!r})
store.commit("p", Commit("authored", (Write("a", "space", "patch", {{"x": 1}}),)))
assert store.read("p", "space", "a").value == {{"x": 1}}
slow = "typing json pathlib dataclasses enum functools contextlib collections asyncio re".split()
print(*(name for name in (*slow, "datetime", "redis", "threading") if name in sys.modules))
"""
    assert run_code(code).split() == []


def test_a_commit_without_anything_is_nothing(path):
    store = SqliteStore(path)
    assert store.commit(SPACE, Commit("system")) == 0
    assert store.spaces() == []
    store.close()
