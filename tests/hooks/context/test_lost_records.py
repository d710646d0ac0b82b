"""The embedded brain's file is deleted or replaced: what was in it comes back, once, as allowed."""

from __future__ import annotations

import os
import shutil

import pytest

from hooks.context import keep, lost_records
from hooks.context.brain_adapter import LOCAL_DATABASE
from hooks.context.lost_records import count, restore
from tests.support.keeping import Kept, lesson, turn


@pytest.fixture
def kept(home, project):
    found = Kept(home, project)
    for text in ("first", "second", "third"):
        turn(found, lesson(text))
        found.collect()
    found.drain()
    return found


def brain_file(kept):
    return os.path.join(kept.home, LOCAL_DATABASE)


def test_the_next_delivery_gives_a_deleted_brain_all_it_had_in_its_order(kept):
    os.unlink(brain_file(kept))
    assert count(kept.settings, kept.env) == 3
    turn(kept, lesson("fourth"))
    kept.collect()
    kept.drain()
    assert kept.texts() == ["first", "second", "third", "fourth"]
    assert set(kept.states()) == {"committed"}
    assert count(kept.settings, kept.env) == 0


def test_a_worker_restores_it_where_nothing_else_waits(kept):
    os.unlink(brain_file(kept))
    assert restore(kept.settings, kept.env, kept.tick()) == 3
    assert kept.drain().committed == 3
    assert restore(kept.settings, kept.env, kept.tick()) == 0


def test_an_older_copy_gets_what_came_after_it(kept):
    copy = brain_file(kept) + ".copy"
    shutil.copy(brain_file(kept), copy)
    turn(kept, lesson("later"))
    kept.collect()
    kept.drain()
    os.replace(copy, brain_file(kept))
    assert restore(kept.settings, kept.env, kept.tick()) == 1
    kept.drain()
    assert kept.texts() == ["first", "second", "third", "later"]


def test_edits_relations_and_fields_come_back_with_the_memories(kept):
    """What the ledger holds is a whole export: the brain that is made of it is the same."""
    key, _, third = (item.id for item in kept.memory())
    for text in ("first, corrected", "first, corrected twice"):
        own = (kept.settings, kept.env)
        where = keep.place(*own, kept.tick(), kept.session.id, kept.session.cwd)
        key = keep.edit(*own, where, key, text).key
    turn(kept, lesson("third, better", supersedes=third, severity="high", path="a.py"))
    kept.collect()
    kept.drain()
    before = {item.id: item for item in kept.memory()}
    assert {item.text for item in before.values()} == {
        "first, corrected twice",
        "second",
        "third, better",
    }
    os.unlink(brain_file(kept))
    restore(kept.settings, kept.env, kept.tick())
    kept.drain()
    assert {item.id: item for item in kept.memory()} == before


def test_what_was_forgotten_stays_away(kept):
    keep.forget(kept.settings, kept.env, kept.tick(), kept.memory()[1].id)
    os.unlink(brain_file(kept))
    restore(kept.settings, kept.env, kept.tick())
    kept.drain()
    assert kept.texts() == ["first", "third"]


def test_another_sighting_of_a_forgotten_thought_stays_away_too(kept):
    key = kept.memory()[0].id
    kept.ask()
    kept.say(lesson("first"))  # again, in another message: folded or not, it is the same thought
    kept.collect()
    kept.drain()
    keep.forget(kept.settings, kept.env, kept.tick(), key)
    os.unlink(brain_file(kept))
    restore(kept.settings, kept.env, kept.tick())
    kept.drain()
    assert "first" not in kept.texts()


def test_a_run_is_bounded_and_the_next_one_goes_on(kept, monkeypatch):
    monkeypatch.setattr(lost_records, "MOST", 2)
    os.unlink(brain_file(kept))
    assert restore(kept.settings, kept.env, kept.tick()) == 2
    kept.drain()
    assert restore(kept.settings, kept.env, kept.tick()) == 0  # the delivery took the rest along
    kept.drain()
    assert kept.texts() == ["first", "second", "third"]


def test_a_row_whose_file_a_power_cut_took_gets_it_again(home, project):
    kept = Kept(home, project)
    turn(kept, lesson("X"))
    kept.collect()
    (name,) = kept.waiting()
    os.unlink(os.path.join(kept.home, "brain-outbox", name))
    restore(kept.settings, kept.env, kept.tick())
    assert kept.waiting() == [name]


@pytest.mark.parametrize("left", [b"", b"\0" * 300, b'{"type": "less'])
def test_a_file_that_a_power_cut_tore_is_made_again_from_its_row(home, project, left):
    kept = Kept(home, project)
    turn(kept, lesson("X"))
    kept.collect()
    (name,) = kept.waiting()
    with open(os.path.join(kept.home, "brain-outbox", name), "wb") as file:
        file.write(left)
    done = kept.drain()
    assert (done.committed, done.quarantined, done.left) == (1, 0, 0)
    assert kept.texts() == ["X"]
