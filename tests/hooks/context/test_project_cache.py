from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from hooks.context import project_cache as cache
from hooks.context.shelf import Shelf
from scripts.swarm_v2.keyspace import Namespace
from tests.conftest import NOON

MINE = Namespace("inst-" + "a" * 32, "file-" + "1" * 32, "github.com/acme/widgets")
OTHERS = {
    "another installation": MINE._replace(installation="inst-" + "b" * 32),
    "another brain": MINE._replace(brain="file-" + "2" * 32),
    "another project": MINE._replace(project="github.com/acme/gadgets"),
}
KINDS = sorted(cache.KINDS)


@pytest.fixture
def place(tmp_path):
    return str(tmp_path)


def put(place, space, kind, at=NOON, text="x"):
    cache.store(place, space, kind, {"items": [text]}, "part", at=at)
    return cache.document_path(place, space, kind, "part")


def get(place, space, kind, at=NOON):
    found = cache.load(place, space, kind, "part", at=at)
    return found and found["items"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_document_of_ours_is_served(place, kind):
    put(place, MINE, kind)
    assert get(place, MINE, kind) == ["x"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_absent_document_is_a_miss_and_counts_nothing(place, kind):
    assert get(place, MINE, kind) is None
    assert cache.cache_scope_mismatch_total(place) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_document_copied_from_elsewhere_is_refused_kept_and_counted(place, kind, other):
    theirs = put(place, other, kind, text="theirs")
    mine = cache.document_path(place, MINE, kind, "part")
    os.replace(theirs, mine)
    assert get(place, MINE, kind) is None
    assert get(place, MINE, kind) is None
    assert json.loads(Path(mine).read_text())["items"] == ["theirs"]
    assert cache.cache_scope_mismatches(place) == {kind: 2}


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_copied_under_the_name_of_another_person_or_session_is_refused(place, kind):
    theirs = put(place, MINE, kind, text="theirs")
    mine = cache.document_path(place, MINE, kind, "another part")
    os.replace(theirs, mine)
    assert cache.load(place, MINE, kind, "another part", at=NOON) is None
    assert cache.cache_scope_mismatches(place) == {kind: 1}


def test_a_document_of_another_kind_under_our_name_is_refused(place):
    feed = put(place, MINE, "feed")
    os.replace(feed, cache.document_path(place, MINE, "pending", "part"))
    assert get(place, MINE, "pending") is None
    assert cache.cache_scope_mismatches(place) == {"pending": 1}


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_cut_at_any_byte_is_a_plain_miss(place, kind):
    path = put(place, MINE, kind)
    whole = Path(path).read_bytes()
    for cut in range(len(whole)):
        with open(path, "wb") as out:
            out.write(whole[:cut])
        assert get(place, MINE, kind) is None, f"cut at byte {cut} of {len(whole)} was believed"
    assert cache.cache_scope_mismatch_total(place) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_that_is_too_old_or_far_from_the_future_is_a_miss(place, kind):
    put(place, MINE, kind)
    age = timedelta(seconds=cache.KINDS[kind].max_age_s)
    assert get(place, MINE, kind, NOON + age) == ["x"]
    assert get(place, MINE, kind, NOON + age + timedelta(seconds=1)) is None
    assert get(place, MINE, kind, NOON - timedelta(days=2)) is None


@pytest.mark.parametrize("kind", KINDS)
def test_an_oversized_document_is_a_miss(place, kind):
    put(place, MINE, kind, text="y" * cache.KINDS[kind].max_bytes)
    assert get(place, MINE, kind) is None


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(os.mkdir, id="a folder"),
        pytest.param(os.mkfifo, id="a pipe"),
        pytest.param(lambda path: os.symlink(path, path), id="a link to itself"),
    ],
)
def test_something_else_at_the_place_of_a_document_is_a_miss(place, make):
    path = cache.document_path(place, MINE, "feed", "part")
    os.makedirs(os.path.dirname(path))
    make(path)
    assert get(place, MINE, "feed") is None


def test_an_equal_document_keeps_its_file_so_that_nobody_is_woken(place):
    path = put(place, MINE, "feed")
    before = os.stat(path)
    assert cache.store(place, MINE, "feed", {"items": ["x"]}, "part", at=NOON) is False
    assert os.stat(path) == before
    assert cache.store(place, MINE, "feed", {"items": ["z"]}, "part", at=NOON) is True


def test_a_refresh_heals_a_foreign_document(place):
    os.replace(
        put(place, OTHERS["another brain"], "feed"),
        cache.document_path(place, MINE, "feed", "part"),
    )
    assert put(place, MINE, "feed")
    assert get(place, MINE, "feed") == ["x"]


def test_a_waiting_context_is_delivered_again_until_it_was_printed(place):
    cache.defer_project_context(place, MINE, "s1", {"text": "hello"}, at=NOON)
    assert cache.take_project_context(place, MINE, "s2", at=NOON) is None
    payload, claimed = cache.take_project_context(place, MINE, "s1", at=NOON)
    assert payload["text"] == "hello"
    again, claimed_again = cache.take_project_context(place, MINE, "s1", at=NOON)
    assert (again["text"], claimed_again) == ("hello", claimed)
    os.unlink(claimed)
    assert cache.take_project_context(place, MINE, "s1", at=NOON) is None


def test_a_foreign_waiting_context_is_refused_and_kept(place):
    other = OTHERS["another brain"]
    cache.defer_project_context(place, other, "s1", {"text": "theirs"}, at=NOON)
    mine = cache.document_path(place, MINE, "pending", "s1")
    os.replace(cache.document_path(place, other, "pending", "s1"), mine)
    assert cache.take_project_context(place, MINE, "s1", at=NOON) is None
    assert os.path.exists(mine)


def test_storing_the_feed_sweeps_an_older_formats_caches_and_writes_the_published_hash(place):
    folder = os.path.join(place, cache.FOLDER)
    os.makedirs(folder)
    for name in ("feed.json", "0" * 24 + ".json", "pending-" + "0" * 24 + ".json"):
        Path(folder, name).touch()
    cache.store_feed(place, MINE, Shelf(({"id": "1"},)), at=NOON)
    assert [name for name in os.listdir(folder) if not name.startswith("k2-feed-")] == []
    published = json.loads(Path(os.path.join(place, "brain_adapter_hash.json")).read_text())
    assert published["kind"] == "publish-hash"
    assert len(published["hash"]) == 64


def test_the_log_names_the_kind_of_a_refused_document_and_nothing_of_it(place):
    theirs = put(place, OTHERS["another brain"], "feed", text="secret words")
    os.replace(theirs, cache.document_path(place, MINE, "feed", "part"))
    get(place, MINE, "feed")
    log = Path(os.path.join(place, "logs", "hooks.log")).read_text()
    assert "refused a feed document" in log
    assert "secret words" not in log


def test_a_legacy_publish_hash_reads_as_empty_and_is_rewritten_stamped(home, noon):
    published = home / "brain_adapter_hash.json"
    cache.store_feed(str(home), MINE, Shelf(()), at=noon)
    good = published.read_bytes()
    published.write_text('{"hash": "0123456789abcdef"}', encoding="utf-8")
    assert cache.published_hash(str(home), MINE) == ""
    assert not cache.store_feed(str(home), MINE, Shelf(()), at=noon)  # the feed is the same
    assert published.read_bytes() == good
    assert cache.published_hash(str(home), MINE)
