"""Kill a forget and an edit before every one of their steps: half done is never the end."""

from __future__ import annotations

import pathlib

import pytest

from hooks.context import burial
from tests.contracts.test_crash_points import killed_before_each_step, run
from tests.support.keeping import Kept, lesson

WRONG, RIGHT = "hushhush first", "hushhush second"


def edited(home, project):
    kept = Kept(home, project)
    kept.ask()
    kept.say(lesson(WRONG))
    kept.collect()
    kept.drain()
    (old,) = kept.receipts()
    run(kept, "edit", 10_000, (old.key, RIGHT))
    (new,) = kept.memory()
    return kept, new.id


def files_with(home, word):
    found = pathlib.Path(home).rglob("*")
    return [str(path) for path in found if path.is_file() and word.encode() in path.read_bytes()]


@pytest.mark.timeout(600)
def test_a_forget_killed_before_any_step_is_not_begun_or_is_finished_by_the_worker(
    tmp_path, project
):
    def one(limit):
        kept, key = edited(tmp_path / str(limit) / "agentihooks", project)
        ran = run(kept, "forget", limit, (key,))
        began = pathlib.Path(kept.home, "brain/tombstones.jsonl").exists()
        burial.finish(kept.settings, kept.env, kept.tick())
        pathlib.Path(kept.home, "ledger.db").unlink()
        kept.collect()
        kept.drain()
        assert kept.texts() == ([] if began else [RIGHT]), limit
        if began:
            assert files_with(kept.home, "hushhush") == [], limit
        return ran

    assert killed_before_each_step(one) >= 5


@pytest.mark.timeout(600)
def test_an_edit_killed_before_any_step_leaves_one_text(tmp_path, project):
    def one(limit):
        kept = Kept(tmp_path / str(limit) / "agentihooks", project)
        kept.ask()
        kept.say(lesson(WRONG))
        kept.collect()
        kept.drain()
        (old,) = kept.receipts()
        ran = run(kept, "edit", limit, (old.key, RIGHT))
        kept.drain()
        assert kept.texts() in ([WRONG], [RIGHT]), limit
        assert kept.waiting() == [], limit
        return ran

    assert killed_before_each_step(one) >= 3
