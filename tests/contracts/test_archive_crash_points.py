"""Kill a save before every one of its steps, and let two save at once: nothing is half there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from scripts.swarm_v2.store.archive.read import manifests, verify
from scripts.swarm_v2.store.archive.save import load
from tests.support.archive import NAME, Archive, as_bytes, conversation
from tests.support.forked import Runner
from tests.support.processes import at_once

RUNNER = Runner("archive_crash.py")
MOST_STEPS = 400
LINES = as_bytes(conversation(4, 90, "0ab96787-666b-4423-b983-6a30353e01f6"))
FIRST = LINES[: len(LINES) // 2 + 11]  # in the middle of a line


@pytest.mark.timeout(600)
@pytest.mark.parametrize("saved_before", [False, True])
@pytest.mark.parametrize("close", ["close", "open"])
def test_a_save_killed_before_any_step_leaves_the_old_or_the_new_whole(
    tmp_path, saved_before, close
):
    def one(limit):
        archive = Archive(tmp_path / str(limit))
        archive.folder.mkdir()
        archive.write(FIRST)
        if saved_before:
            archive.save()
        archive.write(LINES)
        ran = RUNNER.steps(limit, archive.folder, close)
        assert verify(archive.place).damage == (), limit
        if load(archive.place, "s").current(NAME) is not None:
            assert archive.export() in ((FIRST, LINES) if saved_before else (LINES,)), limit
        else:
            assert not saved_before, limit
        archive.save(close=True)
        assert archive.export() == LINES, limit
        report = verify(archive.place)
        assert (report.damage, report.unused) == ((), 0), limit
        return ran

    with ThreadPoolExecutor(4) as pool:
        for start in range(0, MOST_STEPS, 4):
            ends = [ran for ran in pool.map(one, range(start, start + 4)) if ran is not None]
            if ends:
                assert ends[0] >= 10
                return
    pytest.fail("it never came to its end")


SETUP = """
import os
from datetime import UTC, datetime
from hooks.context.archiving import save_session
from hooks.settings import Settings
at = datetime(2026, 11, 30, 12, tzinfo=UTC)
"""
SAVE = "save_session(Settings(sys.argv[1]), at, sys.argv[2], {'p/s.jsonl': sys.argv[3]})"


def test_processes_that_save_one_session_at_once_agree(tmp_path, home):
    archive = Archive(tmp_path)
    archive.write(LINES)
    at_once(6, SETUP, SAVE, home, "s", archive.path())
    check(home, {"s"})


def test_processes_that_save_a_session_and_its_copies_at_once_share_its_chunks(tmp_path, home):
    archive = Archive(tmp_path)
    archive.write(LINES)
    code = SAVE.replace("sys.argv[2]", "'s' + sys.argv[-1]")
    at_once(6, SETUP, code, home, "s", archive.path())
    check(home, {f"s{number}" for number in range(6)})


def check(home, sessions):
    from hooks.context.archiving import place

    where = place(str(home))
    found, damage = manifests(where)
    assert damage == []
    assert {one.session for one in found} == sessions
    assert verify(where).damage == ()
    segments = {segment for one in found for segment in one.transcripts[0].segments}
    assert len(segments) == len(found[0].transcripts[0].segments)
