"""One drainer: nothing blocks what is behind it, nothing is posted after it was acknowledged."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from hooks.context import delivery, outbox
from hooks.context.flush import due, pause
from hooks.context.ledger import Ledger
from hooks.lock import try_lock
from scripts.swarm_v2 import keyspace
from tests.support.keeping import FOUNDED, Kept, lesson


@pytest.fixture
def kept(home, project):
    return Kept(home, project)


P = "abcdef01" * 4


def keep(kept, *texts):
    kept.ask()
    kept.say(*(lesson(text) for text in texts))
    return [one.key for one in kept.collect().kept]


def drop(kept, name, document):
    folder = Path(kept.home) / "brain-outbox"
    folder.mkdir(exist_ok=True)
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    (folder / name).write_bytes(data)


def test_without_a_brain_fifty_stops_leave_one_file_per_marker(home, project):
    kept = Kept(home, project, brain_source="none")
    keep(kept, "X")
    for _ in range(50):
        kept.ask()
        kept.say("nothing new")
        assert kept.collect(last_assistant_message=lesson("X")).kept == ()
        kept.drain()
    assert len(kept.waiting()) == 1
    assert kept.states() == ["pending"]
    assert kept.drain().stopped
    kept.brain_source = "local"
    assert kept.drain().committed == 1
    assert kept.texts() == ["X"]


def test_a_failing_brain_is_not_asked_at_every_event_and_a_new_one_at_once(home, project):
    kept = Kept(home, project, brain_source="none")
    assert not due(kept.settings, kept.at)
    keep(kept, "X")
    assert due(kept.settings, kept.at)
    kept.drain()
    failed_at = kept.at
    waits = []
    for _ in range(6):
        step = timedelta(seconds=1)
        moment = failed_at
        while not due(kept.settings, moment):
            moment += step
        waits.append((moment - failed_at).total_seconds())
        kept.at = moment - timedelta(minutes=1)  # the next call's tick is the moment itself
        kept.drain()
        failed_at = kept.at
    assert waits == [60, 120, 240, 480, 900, 900]
    assert pause(kept.home)["why"]
    kept.brain_source = "local"
    assert due(kept.settings, failed_at)
    kept.drain()
    assert pause(kept.home) == {}


def test_a_clock_that_was_set_back_does_not_stop_the_drainer(home, project):
    kept = Kept(home, project, brain_source="none")
    keep(kept, "X")
    kept.drain()
    assert due(kept.settings, kept.at - timedelta(days=3))


@pytest.mark.parametrize(
    "poison",
    [
        b"",
        b'{"type": "lesson", "content": "cut off in the mid',
        b"[1]",
        {"type": "lesson", "content": "  ", "attrs": {}},
        {"type": 7, "content": "x", "attrs": {}},
        {"type": "lesson", "content": "x", "attrs": {}, "idempotency_key": "../../x"},
        {"type": "lesson", "content": "x", "attrs": {}, "idempotency_key": None},
        {"type": "lesson", "content": "x", "attrs": {"scope": "session"}, "idempotency_key": P},
    ],
    ids=["empty", "torn", "list", "blank", "no type", "path", "null", "refused by the brain"],
)
def test_one_poison_item_is_put_aside_with_its_reason_and_those_behind_are_delivered(kept, poison):
    drop(kept, "00000000T000000000000-poison.json", poison)
    keep(kept, "good")
    done = kept.drain()
    assert (done.quarantined, done.committed, done.left) == (1, 1, 0)
    assert kept.texts() == ["good"]
    folder = Path(outbox.quarantine_folder(kept.home))
    names = sorted(path.name for path in folder.iterdir())
    assert len([name for name in names if name.endswith(".json")]) == 1
    (reason,) = folder.glob("*.reason.txt")
    assert reason.read_text(encoding="utf-8")
    assert kept.drain().quarantined == 0


def test_a_folder_in_the_outbox_stops_nothing(kept):
    (Path(kept.home) / "brain-outbox" / "x.json").mkdir(parents=True)
    keep(kept, "good")
    kept.drain()
    assert kept.texts() == ["good"]


def test_a_pending_row_whose_file_is_gone_gets_it_again(kept):
    keep(kept, "one", "two")
    for name in kept.waiting():
        os.unlink(os.path.join(outbox.folder(kept.home), name))
    assert kept.drain().committed == 2
    assert kept.texts() == ["one", "two"]


def test_a_file_without_a_row_gets_its_row_and_its_sighting(kept):
    (key,) = keep(kept, "X")
    before = kept.receipts()
    os.unlink(os.path.join(kept.home, "ledger.db"))
    kept.brain_source = "none"
    kept.drain()
    (receipt,) = kept.receipts()
    assert (receipt.key, receipt.body) == (key, before[0].body)
    assert kept.collect().kept == ()
    ledger = Ledger.read_only(kept.home)
    assert len(ledger.sightings_of(key)) == 1
    ledger.close()


def test_what_was_acknowledged_is_never_sent_again_but_its_file_goes(kept):
    keep(kept, "X")
    name = kept.waiting()[0]
    path = Path(outbox.folder(kept.home)) / name
    data = path.read_bytes()
    kept.drain()
    path.write_bytes(data)
    done = kept.drain()
    assert (done.committed, done.replayed, done.left) == (0, 0, 0)
    assert kept.receipts()[0].attempts == 1


def test_the_recorded_key_is_sent_whichever_brain_is_configured_by_then(home, project):
    kept = Kept(home, project, brain_source="none")
    (key,) = keep(kept, "X")
    kept.brain_source = "local"
    kept.drain()
    (item,) = kept.memory()
    assert item.id == key


def test_markers_are_posted_in_the_order_in_which_they_stood(kept):
    texts = [f"lesson {number}" for number in range(12)]
    keep(kept, *texts[:6])
    kept.ask()
    kept.say(" and ".join(lesson(text) for text in texts[6:]))
    kept.collect()
    kept.drain()
    assert kept.texts() == texts


def test_an_older_installations_file_without_a_key_is_posted_once_under_its_legacy_key(kept):
    old = {
        "type": "lesson",
        "content": "Run the migration on a copy first.",
        "attrs": {"severity": "high", "session_id": "s5", "source": "agent"},
        "session_id": "s5",
        "agent_name": "dev",
        "project": "/home/dev/widgets",
        "ts": "2026-09-01T10:15:00+00:00",
    }
    drop(kept, "20260901T101500-lesson-1a2b3c4d.json", old)
    drop(kept, "20260901T101500-lesson-9f9f9f9f.json", old)
    kept.brain_source = "none"
    kept.drain()
    key = keyspace.legacy_marker_key("s5", "lesson", old["content"])
    assert kept.waiting() == [f"20260901T101500000000-{key}.json"]
    kept.brain_source = "local"
    assert kept.drain().committed == 1
    assert [r.key for r in kept.receipts()] == [key]
    assert FOUNDED.isoformat() > old["ts"]


def test_a_file_with_its_key_recorded_keeps_it(kept):
    key = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    old = {
        "type": "decision",
        "content": "Equal labels never share a cache entry.",
        "attrs": {"session_id": "s5", "project_id": "git.example.org/shop/web", "n": 3},
        "idempotency_key": key,
        "session_id": "s5",
        "ts": "2026-10-08T12:30:00+00:00",
    }
    drop(kept, "20261008T123000-decision-5e6f7a8b.json", old)
    kept.brain_source = "none"
    for _ in range(3):
        kept.drain()
        assert kept.waiting() == [f"20261008T123000000000-{key}.json"]
    kept.brain_source = "local"
    assert kept.drain().committed == 1
    assert kept.memory()[0].id == key
    assert kept.waiting() == []


def test_while_another_process_drains_nobody_else_does(kept):
    keep(kept, "X")
    with try_lock(os.path.join(kept.home, "locks", "drainer")):
        assert kept.drain() == (0, 0, 0, 0, "")
    assert kept.drain().committed == 1


def test_a_file_that_arrives_while_the_drainer_finishes_is_not_missed(kept, monkeypatch):
    keep(kept, "one")
    late = []

    def arrive(run):
        if not late:
            late.append(keep(kept, "two"))

    monkeypatch.setattr(delivery, "FINISH", (*delivery.FINISH, arrive))
    assert kept.drain().committed == 2
    assert kept.texts() == ["one", "two"]


def test_a_drain_refreshes_the_caches_it_changed(kept):
    from hooks.context import project_cache
    from hooks.context.brain_adapter import namespace

    keep(kept, "X")
    kept.drain()
    project = "git.example.org/shop/web"
    space = namespace(kept.settings, project)
    found = project_cache.load(kept.home, space, "project-memory", project, at=kept.at)
    assert [item["text"] for item in found["items"]] == ["X"]


def test_a_marker_in_the_outbox_is_readable_by_hand_and_private(kept):
    keep(kept, "X")
    path = Path(outbox.folder(kept.home)) / kept.waiting()[0]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    wanted = {"type", "content", "attrs", "idempotency_key", "session_id", "agent_name"}
    assert wanted | {"project", "ts"} <= json.loads(path.read_bytes()).keys()
