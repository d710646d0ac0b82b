"""An older home's undelivered files come over, and nothing else does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hooks.clock import iso
from hooks.context import acks, ledger_notes, outbox
from hooks.context import adopt as adopting
from hooks.context.adopt import adopt
from hooks.context.ledger import Ledger
from hooks.errors import StateError
from hooks.lock import try_lock
from tests.support.keeping import Kept, lesson
from tests.support.older_home import KEYED, OLD, durable, older_home, put


@pytest.fixture
def kept(home, project):
    return Kept(home, project)


@pytest.fixture
def older(tmp_path):
    return older_home(tmp_path / "person" / ".agentihooks")


def test_what_waited_there_waits_here_byte_for_byte(kept, older):
    before = {name: (older / "brain-outbox" / name).read_bytes() for name in outbox.names(older)}
    assert adopt(kept.home, str(older), kept.tick()) == (3, 0)
    here = {n: (Path(kept.home) / "brain-outbox" / n).read_bytes() for n in kept.waiting()}
    assert here == before
    assert outbox.is_empty(older)
    kept.drain()
    assert KEYED in [receipt.key for receipt in kept.receipts()]


def test_a_second_time_nothing_is_left_to_do(kept, older):
    adopt(kept.home, str(older), kept.tick())
    before = durable(Path(kept.home))
    assert adopt(kept.home, str(older), kept.tick()) == (0, 0)
    assert durable(Path(kept.home)) == before
    (row,) = ledger_notes.steps(kept.home)
    assert (row["name"], row["from"], row["counts"]) == (
        "adopt",
        str(older),
        {"moved": 3, "left": 0},
    )


def test_everything_else_of_the_older_home_stays_as_it_is(kept, older):
    before = durable(older)
    adopt(kept.home, str(older), kept.tick())
    stayed = {n: data for n, data in before.items() if not n.startswith("brain-outbox")}
    assert durable(older) == stayed


def test_files_of_one_name_and_different_words_both_come(kept, older):
    put(Path(kept.home) / "brain-outbox", "x.json", {**OLD, "content": "here"})
    put(older / "brain-outbox", "x.json", {**OLD, "content": "there"})
    adopt(kept.home, str(older), kept.tick())
    kept.drain()
    texts = [receipt.document["content"] for receipt in kept.receipts()]
    assert {"here", "there"} <= set(texts)


def test_the_quarantine_comes_with_its_reasons(kept, older):
    place = older / "brain-outbox" / "quarantine"
    put(place, "x.json", {**OLD, "content": "refused"})
    (place / ("x.json" + outbox.REASON)).write_text("it said no", encoding="utf-8")
    adopt(kept.home, str(older), kept.tick())
    here = Path(outbox.quarantine_folder(kept.home))
    assert sorted(os.listdir(here)) == ["x.json", "x.json.reason.txt"]
    assert (here / "x.json.reason.txt").read_text(encoding="utf-8") == "it said no"
    assert os.listdir(place) == []


def test_the_other_homes_rows_do_not_bring_the_files_back(kept, tmp_path, project):
    other = Kept(tmp_path / "other", project, brain_source="none")
    other.ask()
    other.say(lesson("X"))
    (one,) = other.collect().kept
    adopt(kept.home, other.home, kept.tick())
    assert other.states() == ["dropped"]
    other.brain_source = "local"
    assert other.drain() == (0, 0, 0, 0, "")
    assert other.waiting() == []
    kept.drain()
    assert [(r.key, r.state) for r in kept.receipts()] == [(one.key, "committed")]


@pytest.mark.parametrize("state", ["committed", "replayed", "forgotten"])
def test_what_was_settled_there_does_not_come_and_its_file_goes(kept, tmp_path, project, state):
    other = Kept(tmp_path / "other", project, brain_source="none")
    other.ask()
    other.say(lesson("X"))
    (one,) = other.collect().kept
    ledger = Ledger.open(other.home, other.tick())
    ledger.change(one.key, other.tick(), state=state, body="")
    ledger.close()
    assert adopt(kept.home, other.home, kept.tick()) == (0, 0)
    assert other.waiting() == kept.waiting() == []
    assert other.states() == [state]


def test_a_file_that_a_power_cut_tore_here_does_not_stand_for_the_whole_one_there(kept, older):
    name = f"20261008T123000000000-{KEYED}.json"
    put(older / "brain-outbox", name, {**OLD, "idempotency_key": KEYED})
    put(Path(kept.home) / "brain-outbox", name, {})
    adopt(kept.home, str(older), kept.tick())
    place = Path(kept.home) / "brain-outbox"
    whole = [(place / each).read_bytes() for each in kept.waiting() if KEYED in each]
    assert {**OLD, "idempotency_key": KEYED} in [json.loads(data) for data in whole]


def test_a_folder_that_both_homes_have_is_refused_and_keeps_its_files(kept, tmp_path):
    here = Path(kept.home) / "brain-outbox"
    put(here, "x.json", OLD)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "brain-outbox").symlink_to(here)
    with pytest.raises(StateError, match="both homes have this folder"):
        adopt(kept.home, str(tmp_path / "other"), kept.tick())
    assert kept.waiting() == ["x.json"]


def test_a_name_too_long_for_a_reason_beside_it_comes_too(kept, older):
    put(older / "brain-outbox", "x" * 245 + ".json", OLD)
    assert adopt(kept.home, str(older), kept.tick()) == (4, 0)
    assert outbox.is_empty(older)


def test_what_is_no_file_stays_there_and_is_counted(kept, older):
    os.mkfifo(older / "brain-outbox" / "pipe.json")
    (older / "brain-outbox" / "folder.json").mkdir()
    assert adopt(kept.home, str(older), kept.tick()) == (3, 2)


@pytest.mark.parametrize("which", ["this home", "a link to it", "no home", "nothing", "a file"])
def test_what_is_no_other_home_is_refused(kept, tmp_path, which):
    (tmp_path / "link").symlink_to(kept.home)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_bytes(b"")
    other = {
        "this home": kept.home,
        "a link to it": tmp_path / "link",
        "no home": tmp_path / "empty",
        "nothing": tmp_path / "nothing",
        "a file": tmp_path / "file",
    }[which]
    with pytest.raises(StateError, match="it is"):
        adopt(kept.home, str(other), kept.tick())
    assert os.listdir(tmp_path / "empty") == []


def test_while_a_drainer_of_either_home_works_nothing_is_moved(kept, older, monkeypatch):
    monkeypatch.setattr(adopting, "LOCK_WAIT_S", 0)
    before = durable(older)
    for home in (kept.home, str(older)):
        with try_lock(os.path.join(home, "locks", "drainer")), pytest.raises(StateError):
            adopt(kept.home, str(older), kept.tick())
    assert durable(older) == before


def test_what_a_killed_drainer_there_had_acknowledged_does_not_come_over(kept, tmp_path, project):
    there = Kept(tmp_path / "person" / "another", project)
    there.ask()
    there.say(lesson("one"), lesson("two"))
    there.collect()
    [first, _] = there.waiting()
    key = outbox.key_in(first)
    ledger = Ledger.open(there.home, there.at)
    ledger.change(key, there.at, lease_until=iso(there.at), attempts=1)
    ledger.close()
    acks.append(there.home, acks.Noted(first, key, "b", "committed", key, "", ""))
    assert adopt(kept.home, there.home, kept.tick()) == (1, 0)
    assert first not in kept.waiting()
    assert there.drain().committed == 1
    assert there.waiting() == []


def test_what_may_have_been_heard_from_there_is_asked_for_before_it_is_sent(
    kept, tmp_path, project
):
    there = Kept(tmp_path / "person" / "another", project)
    there.ask()
    there.say(lesson("one"), lesson("two"))
    there.collect()
    [first, _] = there.waiting()
    key = outbox.key_in(first)
    ledger = Ledger.open(there.home, there.at)
    ledger.change(key, there.at, lease_until=iso(there.at), attempts=2)
    ledger.close()
    assert adopt(kept.home, there.home, kept.tick()) == (2, 0)
    assert [(row.key, row.state, row.attempts) for row in kept.receipts()] == [(key, "pending", 2)]
    assert kept.drain().committed == 2
