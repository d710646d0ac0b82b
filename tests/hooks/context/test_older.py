"""Files from before keys were recorded: the key that the older code sent, whatever came since."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.context import outbox
from scripts.swarm_v2 import keyspace
from tests.support.keeping import Kept, lesson
from tests.support.older_home import OLD, put


@pytest.fixture
def kept(home, project):
    return Kept(home, project)


def drop(kept, name, document):
    put(Path(outbox.folder(kept.home)), name, document)


def test_a_file_without_a_key_gets_the_legacy_key_also_after_the_cutover(kept):
    drop(kept, "x.json", {**OLD, "content": "said", "ts": "2026-11-29T10:00:00+00:00"})
    kept.drain()
    assert [r.key for r in kept.receipts()] == [keyspace.legacy_marker_key("s5", "lesson", "said")]


def test_older_code_that_ran_again_and_the_transcript_make_one_record(kept):
    """Its file has the legacy key, the transcript's line would have ours: the line adopts it."""
    kept.ask()
    kept.say(lesson("said while the older version ran"))
    document = {**OLD, "content": "said while the older version ran", "ts": kept.at.isoformat()}
    drop(kept, "x.json", {**document, "session_id": kept.session.id})
    kept.drain()
    assert kept.collect().kept == ()
    kept.drain()
    (receipt,) = kept.receipts()
    assert (receipt.state, receipt.unseen) == ("committed", 0)


@pytest.mark.parametrize("tail", ["", "x", " ", "  x", "x" * 9], ids=len)
def test_the_legacy_key_is_made_over_what_the_older_code_cut_and_kept(kept, tail):
    whole = "a" * 4095 + tail
    stored = whole.strip()[:4096]  # what the older code hashed, and what it put into the file
    drop(kept, "x.json", {**OLD, "content": stored})
    kept.drain()
    assert [r.key for r in kept.receipts()] == [keyspace.legacy_marker_key("s5", "lesson", stored)]


def test_a_secret_in_an_older_file_is_taken_out_and_its_key_made_before(kept):
    text = "log in with password=hunter2hunter2"
    drop(kept, "x.json", {**OLD, "content": text})
    kept.brain_source = "none"
    kept.drain()
    assert [r.key for r in kept.receipts()] == [keyspace.legacy_marker_key("s5", "lesson", text)]
    folder = Path(outbox.folder(kept.home))
    assert [path for path in folder.glob("*.json") if b"hunter2" in path.read_bytes()] == []
