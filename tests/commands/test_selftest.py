from __future__ import annotations

import os
import pty
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from random import Random

import pytest

from hooks.context.brains import open_brain
from hooks.errors import BrainUnreachable
from scripts.selftest.brains import BRAINS, Service
from scripts.selftest.player import kill_workers, settle
from scripts.selftest.run import PROJECTS, Memory, Selftest
from scripts.selftest.service import REFUSING, STORING
from tests.support.run_cli import ENTRY, run_cli
from tests.support.run_hook import PATH, ROOT, agent_env

ONLY_HTTP = "import scripts.commands.selftest as one; one.BRAINS = one.BRAINS[2:]"
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


def test_broken_off_in_a_terminal_it_leaves_no_process_and_no_folder(home, tmp_path):
    """Ctrl-C goes to every process of the terminal; what is not ours to show stays quiet."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    pid, fd = pty.fork()
    if pid == 0:
        env = {**agent_env(home), "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)}
        code = ENTRY.format(before=ONLY_HTTP, function="main")
        os.execve(sys.executable, [sys.executable, "-P", "-c", code, "selftest", "--quick"], env)
    said, stopped = b"", False
    try:
        while part := os.read(fd, 4096):
            said += part
            if not stopped and b"http: 0 of" in said:  # a read may end in the middle of it
                stopped = os.write(fd, b"\x03") == 1
    except OSError:  # Linux says EIO where the other side is closed
        pass
    os.close(fd)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 130
    assert b"Traceback" not in said
    assert b"kept in" not in said
    assert list(scratch.iterdir()) == []
    assert processes_with(f"TMPDIR={scratch}") == []


def processes_with(variable):
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes())
        except OSError:  # it ended while we looked, or is not ours to read
            continue
    return found
