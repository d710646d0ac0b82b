from __future__ import annotations

import re
from contextlib import nullcontext
from random import Random

import pytest

from hooks.context.brains import open_brain
from hooks.errors import BrainUnreachable
from scripts.selftest.brains import BRAINS, Service
from scripts.selftest.player import kill_workers, settle
from scripts.selftest.run import PROJECTS, Memory, Selftest
from scripts.selftest.service import REFUSING, STORING
from tests.support.run_cli import run_cli
from tests.support.run_hook import PATH, ROOT

WAYS = len((*REFUSING, *STORING, "down"))


@pytest.mark.timeout(120)
def test_a_quick_run_counts_nothing_wrong_and_leaves_nothing(home, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    env = {"TMPDIR": str(scratch)}
    done = run_cli("selftest", "--quick", "--seed", "7", home=home, env=env)
    assert done.returncode == 0, done.stderr
    assert re.match(r"[1-9]\d* written, 0 lost, 0 doubled, 0 leaked\n", done.stdout)
    for name in ("local", "file ", "http "):
        assert re.search(
            rf"^{name}  [1-9].* hooks of \d+ ms \(median\), [\d.]+ s", done.stdout, re.M
        )
    assert re.search(r"the service failed [1-9]\d* times?\n[\d.]+ s in all, seed 7\n", done.stdout)
    assert list(scratch.iterdir()) == []
    assert not home.exists()


@pytest.mark.parametrize("kind", BRAINS)
def test_what_is_lost_doubled_or_leaked_is_counted(kind, tmp_path):
    """What no session said is lost; what the other person may see is a leak to them."""
    brain = kind(str(tmp_path), str(ROOT), PATH)
    test = Selftest(brain, 7, quick=True)
    test.rounds = 0
    memory = Memory("said by ann", "ann", PROJECTS[0], personal=False)
    for player in [one for one, project in test.players.items() if project == PROJECTS[0]]:
        player.start()  # two sessions that say the same words make two records
        player.prompt()
        player.says(memory.marker)
        player.stop()
        settle(brain.stage.home)
    test.written += [memory._replace(project=PROJECTS[1]), memory._replace(text="never said")]
    found = test.run(lambda _place, _total: None)
    kill_workers(brain.stage.home)
    brain.close()
    assert found.lost == ("never said",)
    assert found.doubled == ("said by ann",)
    assert {row.split(" to ")[1] for row in found.leaked} == {
        f"ann at {PROJECTS[0]}",
        f"bob at {PROJECTS[0]}",
    }
    assert not found.is_good


@pytest.fixture
def brain(tmp_path):
    yield (found := Service(str(tmp_path), str(ROOT), PATH))
    found.close()


def test_the_service_fails_in_every_way_then_is_well_and_knows_what_it_stored(brain):
    seen = set()
    for number in range(2 * WAYS):
        brain.fail(number, Random(7))
        way = brain.way
        seen.add(way)
        opened = open_brain(brain.settings("ann"), {})
        body = {"type": "lesson", "content": f"said {number}", "attrs": {"project_id": "p"}}
        with nullcontext() if not way else pytest.raises(BrainUnreachable):
            opened.post_marker(body, f"{number:032x}")
        assert (f"said {number}" in brain.stored()) == (way in ("", *STORING))
        opened.close()
    assert len(seen) == WAYS + 1
    assert brain.failures() == WAYS


def test_the_service_has_its_entries_but_no_keys_after_it_was_killed(brain):
    opened = open_brain(brain.settings("ann"), {})
    body = {"type": "lesson", "content": "said", "attrs": {"project_id": "p"}}
    assert opened.post_marker(body, "0" * 32).kind == "committed"
    assert opened.post_marker(body, "0" * 32).kind == "replayed"
    brain.close()
    with pytest.raises(BrainUnreachable):
        opened.post_marker(body, "0" * 32)
    brain.heal()
    assert [item.text for item in brain.items("p", "ann")] == ["said"]
    assert opened.post_marker(body, "0" * 32).kind == "committed"
    assert brain.stored() == ["said", "said"]
    opened.close()
