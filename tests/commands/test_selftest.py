from __future__ import annotations

import re

import pytest

from scripts.selftest.player import Stage, kill_workers, settle
from scripts.selftest.run import PROJECTS, Memory, Selftest
from tests.support.run_cli import run_cli
from tests.support.run_hook import PATH, ROOT


@pytest.mark.timeout(120)
def test_a_quick_run_counts_nothing_wrong_and_leaves_nothing(home, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    env = {"TMPDIR": str(scratch)}
    done = run_cli("selftest", "--quick", "--seed", "7", home=home, env=env)
    assert done.returncode == 0, done.stderr
    assert re.match(r"[1-9]\d* written, 0 lost, 0 doubled, 0 leaked\n", done.stdout)
    assert re.search(r"\d+ kills, \d+ hooks of \d+ ms \(median\), [\d.]+ s, seed 7\n", done.stdout)
    assert list(scratch.iterdir()) == []
    assert not home.exists()


@pytest.mark.timeout(120)
def test_what_is_lost_doubled_or_leaked_is_counted(tmp_path):
    """What no session said is lost; what the other person may see is a leak to them."""
    stage = Stage(str(tmp_path), str(ROOT), PATH)
    (tmp_path / "person").mkdir()
    test = Selftest(stage, 7, quick=True)
    test.rounds = 0
    memory = Memory("said by ann", "ann", PROJECTS[0], personal=False)
    for player in [one for one, project in test.players.items() if project == PROJECTS[0]]:
        player.start()  # two sessions that say the same words make two records
        player.prompt()
        player.says(memory.marker)
        player.stop()
        settle(stage.home)
    test.written += [memory._replace(project=PROJECTS[1]), memory._replace(text="never said")]
    found = test.run(lambda _place, _total: None)
    kill_workers(stage.home)
    assert found.lost == ("never said",)
    assert found.doubled == ("said by ann",)
    assert {row.split(" to ")[1] for row in found.leaked} == {
        f"ann at {PROJECTS[0]}",
        f"bob at {PROJECTS[0]}",
    }
    assert not found.is_good
