"""Kill a retry and a drop before every one of their steps: a person's word is done or not begun.

Whatever died: nothing is lost, nothing is doubled, what was dropped is never delivered, and the
same command said again comes to its end.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hooks.context import outbox, waiting
from hooks.errors import NotOneMemory
from tests.contracts.test_crash_points import killed_before_each_step
from tests.support.forked import Runner
from tests.support.keeping import Kept, lesson
from tests.support.older_home import OLD, put

RUNNER = Runner("outbox_crash.py")
REASON = "the brain said no"


def run(kept, what, limit, wanted="*"):
    """Return the number of steps that ran, or None where it was killed."""
    return RUNNER.steps(limit, what, kept.home, wanted, kept.tick())


def refused(home, project):
    """Two markers that a brain refused, and one that waits; a keyless file of an older version."""
    kept = Kept(home, project)
    kept.ask()
    kept.say(lesson("refused"), lesson("refused too"), lesson("waits"))
    keys = [one.key for one in kept.collect().kept]
    ledger = waiting.Ledger.open(kept.home, kept.at)
    for key in keys[:2]:
        [name] = outbox.files_of(kept.home, key)
        ledger.change(key, kept.at, state="quarantined", reason=REASON)
        outbox.quarantine(kept.home, name, REASON)
    ledger.close()
    return kept, keys


def leftovers(kept):
    place = Path(outbox.quarantine_folder(kept.home))
    return sorted(path.name for path in place.iterdir()) if place.exists() else []


def states(kept):
    return {str(r.document["content"]): r.state for r in kept.receipts()}


@pytest.mark.timeout(300)
def test_a_retry_killed_before_any_step_loses_and_doubles_nothing_and_can_be_said_again(
    tmp_path, project
):
    def one(limit):
        kept, _ = refused(tmp_path / str(limit) / "agentihooks", project)
        ran = run(kept, "retry", limit)
        if limit % 2:  # a drainer meets what the killed one left
            kept.drain()
        waiting.retry(kept.home, kept.tick(), waiting.entries(kept.home))
        kept.drain()
        assert sorted(kept.texts()) == ["refused", "refused too", "waits"], limit
        assert states(kept) == dict.fromkeys(["refused", "refused too", "waits"], "committed"), (
            limit
        )
        assert kept.waiting() == [], limit
        assert [name for name in leftovers(kept) if name.endswith(".json")] == [], limit
        return ran

    assert killed_before_each_step(one) >= 8


@pytest.mark.timeout(300)
@pytest.mark.parametrize("which", ["quarantine", "waiting"])
def test_a_drop_killed_before_any_step_is_not_begun_or_is_done_and_never_delivered(
    tmp_path, project, which
):
    said = "refused" if which == "quarantine" else "waits"

    def one(limit):
        kept, keys = refused(tmp_path / str(limit) / "agentihooks", project)
        key = keys[0] if which == "quarantine" else keys[2]
        ran = run(kept, "drop", limit, key)
        begun = states(kept)[said] == "dropped"
        if begun and limit % 2:  # from then on the person's word holds, said again or not
            kept.drain()
        try:
            entry = waiting.pick(kept.home, key)
        except NotOneMemory:
            assert begun, limit
        else:
            waiting.drop(kept.settings, kept.tick(), entry)
        kept.drain()
        receipt = next(r for r in kept.receipts() if r.key == key)
        assert (receipt.state, receipt.document["content"]) == ("dropped", said), limit
        assert said not in kept.texts(), limit
        assert kept.waiting() == [], limit
        assert [name for name in leftovers(kept) if key in name] == [], limit
        kept.collect()
        kept.drain()
        assert said not in kept.texts(), limit
        return ran

    assert killed_before_each_step(one) >= 4


@pytest.mark.timeout(300)
def test_a_drop_of_what_is_no_marker_killed_before_any_step_keeps_one_receipt_of_it(
    tmp_path, project
):
    def one(limit):
        kept = Kept(tmp_path / str(limit) / "agentihooks", project)
        place = Path(outbox.quarantine_folder(kept.home))
        put(place, "torn.json", {**OLD, "attrs": 7})
        (place / "torn.json.reason.txt").write_text(REASON, encoding="utf-8")
        ran = run(kept, "drop", limit, "torn.json")
        if (place / "torn.json").exists():
            waiting.drop(kept.settings, kept.tick(), waiting.pick(kept.home, "torn.json"))
        (receipt,) = kept.receipts()
        assert receipt.state == "dropped", limit
        assert REASON in receipt.reason, limit
        assert "torn.json" in json.dumps(receipt.document), limit
        assert not os.path.exists(place / "torn.json"), limit
        return ran

    assert killed_before_each_step(one) >= 4
