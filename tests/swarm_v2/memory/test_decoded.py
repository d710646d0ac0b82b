from __future__ import annotations

import pytest

from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.scope_key import DirtyKey
from tests.support.store_worlds import SPACE, authored, erase, patch, put

LINKS = {str(n): {"title": f"title {n}", "summary": "x" * 60} for n in range(3_000)}
KEY = DirtyKey("space", "index")


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "brain" / "memory.db")


@pytest.fixture
def store(path):
    store = SqliteStore(path, wal=True)
    store.commit(SPACE, authored(put("index", {"links": LINKS})))
    yield store
    store.close()


@pytest.fixture
def other(path, store):
    other = SqliteStore(path, wal=True)
    yield other
    other.close()


def read(store):
    return store.read(SPACE, "space", "index").value


def test_a_large_value_is_decoded_once_as_long_as_it_stays(store):
    first = read(store)
    assert read(store) is first
    assert store.read_many(SPACE, [KEY])[KEY].value is first


def test_what_others_patched_is_seen_and_what_they_left_is_not_decoded_again(store, other):
    first = read(store)
    other.commit(SPACE, authored(patch("index", {"links": {"7": None, "new": {"title": "new"}}})))
    second = read(store)
    left = {slug: link for slug, link in LINKS.items() if slug != "7"}
    assert first == {"links": LINKS}
    assert second == {"links": {**left, "new": {"title": "new"}}}
    assert second["links"]["8"] is first["links"]["8"]


def test_a_value_that_was_set_anew_is_read_anew(store, other):
    read(store)
    other.commit(SPACE, authored(put("index", {"links": {**LINKS, "0": {}}})))
    assert read(store)["links"]["0"] == {}


def test_patches_beyond_half_of_a_value_are_followed_through_its_new_whole_value(
    path, store, other
):
    read(store)
    for number in range(12):
        links = {f"{number}-{n}": {"title": "y" * 60} for n in range(400)}
        other.commit(SPACE, authored(patch("index", {"links": links})))
        assert read(store)["links"].keys() >= links.keys()
    assert read(store) == read(SqliteStore(path))


def test_nothing_of_what_was_erased_is_kept(store, other):
    read(store)
    store.commit(SPACE, authored(erase("index")))
    assert store.read(SPACE, "space", "index").deleted
    assert not store._values._kept


def test_what_was_scrubbed_out_of_every_revision_is_read_anew(store, other):
    read(store)
    gone = Write("index", "space", "erase", {"links": {"5": None}})
    other.commit(SPACE, Commit("authored", (gone,)))
    assert "5" not in read(store)["links"]
