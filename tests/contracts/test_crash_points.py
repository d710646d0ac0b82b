"""Kill a collect and a drain before every one of their steps: 0 lost, 0 doubled."""

from __future__ import annotations

import json
import os
import random
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from hooks.context import collect, marks
from tests.support.forked import Runner
from tests.support.keeping import Kept, copy_as_fork, lesson

RUNNER = Runner("crash_runner.py")
MOST_STEPS = 400


def run(kept, what, limit, args=(), **event):
    """Return the number of steps that ran, or None where it was killed."""
    said = {
        "settings": {"home": kept.home, "brain_source": kept.brain_source},
        "env": kept.env,
        "args": list(args),
        "at": kept.tick().isoformat(),
        "event": {
            "name": "Stop",
            "session_id": kept.session.id,
            "transcript_path": str(kept.session.transcript),
            "cwd": kept.session.cwd,
            "prompt_id": kept.session.prompt_id,
            **event,
        },
    }
    return RUNNER.steps(what, limit, json.dumps(said))


def prepared(home, project):
    """A session with one delivered marker and three new ones, one of them only in the payload."""
    kept = Kept(home, project)
    kept.ask()
    kept.say(lesson("delivered"))
    kept.collect()
    kept.drain()
    kept.ask()
    kept.say(lesson("one"), lesson("two"))
    return kept


LAST = {"last_assistant_message": lesson("only in the payload")}
ALL = ["delivered", "one", "only in the payload", "two"]


def lose_marks(kept):
    """From here on the ledger's own position says where to read on."""
    shutil.rmtree(os.path.join(kept.home, "brain", "positions"), ignore_errors=True)


@pytest.fixture(autouse=True)
def _trust_the_ledgers_position(monkeypatch):
    monkeypatch.setattr(collect, "READ_WHOLE_BYTES", -1)


def check(kept, at):
    """After the dust: every marker is one memory, one receipt, and no file waits."""
    kept.session.says(lesson("only in the payload"), at=kept.tick())
    kept.collect(**LAST)
    kept.drain()
    assert sorted(kept.texts()) == ALL, at
    assert sorted(r.document["content"] for r in kept.receipts()) == ALL, at
    assert kept.waiting() == [], at
    assert {r.state for r in kept.receipts()} <= {"committed", "replayed"}, at
    leftovers = [name for name in os.listdir(kept.home + "/brain-outbox") if ".tmp" not in name]
    assert leftovers == [], at


def killed_before_each_step(one):
    """Call ``one(limit)`` for 0, 1, … until it says that its run came to its end; return that.

    Some at once: they wait for the disk, each in a home of its own.
    """
    with ThreadPoolExecutor(8) as pool:
        for start in range(0, MOST_STEPS, 8):
            for ran in pool.map(one, range(start, start + 8)):
                if ran is not None:
                    return ran
    return pytest.fail("it never came to its end")


@pytest.mark.timeout(600)
def test_a_collect_killed_before_any_step_loses_and_doubles_nothing(tmp_path, project):
    def one(limit):
        kept = prepared(tmp_path / str(limit) / "agentihooks", project)
        ran = run(kept, "collect", limit, **LAST)
        if limit % 2:  # the killed one's files meet a drainer first
            kept.drain()
        if limit % 3:
            lose_marks(kept)
        kept.collect(**LAST)
        check(kept, limit)
        return ran

    assert killed_before_each_step(one) >= 20


@pytest.mark.timeout(600)
def test_a_drain_killed_before_any_step_loses_and_doubles_nothing(tmp_path, project):
    def one(limit):
        kept = prepared(tmp_path / str(limit) / "agentihooks", project)
        kept.collect(**LAST)
        ran = run(kept, "drain", limit)
        kept.drain()
        check(kept, limit)
        return ran

    assert killed_before_each_step(one) >= 20


@pytest.mark.timeout(600)
def test_a_first_collect_in_a_fresh_home_killed_before_any_step_loses_nothing(tmp_path, project):
    def one(limit):
        kept = Kept(tmp_path / str(limit) / "agentihooks", project)
        kept.ask()
        kept.say(lesson("delivered"), lesson("one"), lesson("two"))
        ran = run(kept, "collect", limit, **LAST)
        if limit % 3 == 0:
            run(kept, "drain", limit % 11)
        if limit % 2:
            lose_marks(kept)
        check(kept, limit)
        return ran

    assert killed_before_each_step(one) >= 20


def test_a_drainer_that_died_after_its_claim_is_succeeded_and_the_receipt_says_who_had_it(
    home, project
):
    kept = prepared(home, project)
    kept.collect()
    for limit in range(MOST_STEPS):
        run(kept, "drain", limit)
        claimed = [r for r in kept.receipts() if r.state == "pending" and r.lease_until]
        if claimed:
            break
    assert claimed[0].attempts == 1
    kept.drain()
    assert [r.state for r in kept.receipts() if r.lease_until] == []
    assert sorted(kept.texts()) == ["delivered", "one", "two"]


def test_a_file_that_a_killed_collect_left_is_the_record_when_a_copy_is_read_first(
    tmp_path, project
):
    left = 0
    for limit in range(MOST_STEPS):
        home = tmp_path / str(limit) / "agentihooks"
        kept = Kept(home, project)
        kept.ask()
        kept.say(lesson("X"))
        ran = run(kept, "collect", limit)
        if kept.waiting() and not kept.receipts():
            left += 1
            copy = copy_as_fork(kept, home, project, marked=False)
            assert copy.collect().kept == ()
            assert kept.collect().kept == ()
            assert len(kept.receipts()) == 1
        if ran is not None:
            break
    assert left


@pytest.mark.timeout(600)
def test_killed_at_random_over_many_turns_every_marker_is_one_memory(home, project):
    kept = Kept(home, project)
    chance = random.Random(20261130)
    wanted = []
    for number in range(25):
        kept.ask()
        wanted.append(f"lesson {number:02}")
        kept.say(lesson(wanted[-1]))
        for what in chance.choices(["collect", "drain"], k=2):
            run(kept, what, chance.randrange(40), last_assistant_message=lesson(wanted[-1]))
        if number == 12:
            os.unlink(os.path.join(kept.home, marks.LEDGER))
    kept.collect()
    kept.drain()
    assert sorted(kept.texts()) == wanted
    assert kept.waiting() == []
