"""Kill an upgrade, and a move of an older home's outbox, before every one of their steps."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hooks.context import ledger_notes, outbox
from hooks.context.adopt import adopt
from hooks.context.migrations import STEPS, migrate
from scripts.swarm_v2.installation import read
from scripts.swarm_v2.keyspace import legacy_marker_key
from tests.contracts.test_crash_points import killed_before_each_step, run
from tests.support.keeping import START, Kept, lesson
from tests.support.older_home import KEYED, OLD, SESSION, durable, older_home, put

LEGACY = legacy_marker_key(SESSION, "lesson", "Run the migration on a copy first.")
BACKLOG = legacy_marker_key("s5", "lesson", "from the backlog")


@pytest.mark.timeout(600)
def test_an_upgrade_killed_before_any_step_comes_to_its_end_and_loses_nothing(tmp_path, project):
    def one(limit):
        home = older_home(tmp_path / str(limit) / "agentihooks")
        before = durable(home)
        ran = run(_Killed(home), "migrate", limit)
        cutover = read(home)
        migrate(str(home), _Killed.at)
        assert [row["name"] for row in ledger_notes.steps(str(home))] == [s.name for s in STEPS]
        assert {name: durable(home)[name] for name in before} == before, limit
        assert cutover is None or read(home) == cutover, limit
        kept = Kept(home, project)
        kept.drain()
        assert {r.key: r.state for r in kept.receipts()} == {
            LEGACY: "committed",
            KEYED: "committed",
        }, limit
        return ran

    assert killed_before_each_step(one) >= 8


REFUSED = sorted(
    [
        json.dumps({**OLD, "content": "refused"}),
        '{"type": "lesson", "content": "cut off in the mid',
    ]
)


class _Killed:
    """What ``run`` asks of a session, for a home that has none."""

    brain_source = "local"
    at = START

    def __init__(self, home):
        self.home, self.env, self.session = str(home), {}, self
        self.id = self.cwd = self.prompt_id = ""
        self.transcript = ""

    def tick(self):
        return self.at


def other_home(folder, project):
    """An older home of every kind at once: keyless, keyed, torn, backlog, refused, a lost file."""
    other = Kept(older_home(folder), project, brain_source="none")
    other.ask()
    other.say(lesson("of ours"), lesson("its file was lost"))
    keys = [one.key for one in other.collect().kept]
    for name in outbox.files_of(other.home, keys[1]):
        os.unlink(os.path.join(outbox.folder(other.home), name))
    put(folder / "brain-outbox-backlog", "x.json", {**OLD, "content": "from the backlog"})
    put(folder / "brain-outbox" / "quarantine", "refused.json", {**OLD, "content": "refused"})
    (folder / "brain-outbox" / "quarantine" / "refused.json.reason.txt").write_text("it said no")
    return other, sorted([LEGACY, KEYED, BACKLOG, *keys])


@pytest.mark.timeout(600)
def test_an_adoption_killed_before_any_step_loses_and_doubles_nothing(tmp_path, project):
    def one(limit):
        home, old = tmp_path / str(limit) / "new", tmp_path / str(limit) / "old"
        other, keys = other_home(old, project)
        kept = Kept(home, project)
        ran = run(kept, "adopt", limit, args=[str(old)])
        if limit % 2:  # what came over is delivered before the move is taken up again
            kept.drain()
        if limit % 3 == 0:
            other.drain()  # the other home wakes up: it has no brain, and must not take things back
        adopt(str(home), str(old), kept.tick())
        kept.drain()
        assert sorted(r.key for r in kept.receipts()) == keys, limit
        assert {r.state for r in kept.receipts()} == {"committed"}, limit
        assert outbox.is_empty(str(old)), limit
        other.drain()
        assert outbox.is_empty(str(old)), limit
        refused = Path(outbox.quarantine_folder(str(home))).glob("*.json")
        assert sorted(path.read_text() for path in refused) == REFUSED, limit
        return ran

    assert killed_before_each_step(one) >= 20
