"""A proposal reaches nobody before the person keeps it."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from hooks.context import marks, proposals
from hooks.verbs import VerbCtx
from hooks.verbs import review as verb
from tests.support.keeping import Kept, lesson


@pytest.fixture
def kept(home, project):
    one = Kept(home, project)
    one.ask()
    return one


def ctx(kept):
    return VerbCtx(kept.settings, kept.env, kept.tick(), kept.session.id, kept.session.cwd)


def propose(kept, *texts):
    kept.say(*[lesson(text, proposal="0ab96787") for text in texts])
    return kept.collect()


def test_a_proposal_is_held_and_not_kept(kept):
    found = propose(kept, "retry twice")
    assert (found.kept, found.held) == ((), 1)
    kept.drain()
    assert kept.waiting() == []
    assert kept.texts() == []
    assert kept.states() == ["held"]
    assert verb.items(ctx(kept))[0].document["attrs"]["proposal"] == "0ab96787"


def test_seen_again_it_stays_one(kept):
    propose(kept, "retry twice")
    assert kept.collect("SessionEnd").held == 0
    assert kept.states() == ["held"]


def test_kept_it_is_a_memory_and_is_not_asked_about_again(kept):
    propose(kept, "retry twice", "never retry")
    one, other = verb.items(ctx(kept))
    said = verb.run(f"keep {one.key[:8]}", ctx(kept))
    assert said.startswith("Kept ")
    assert kept.texts() == ["retry twice"]
    assert [left.key for left in verb.items(ctx(kept))] == [other.key]


def test_dropped_it_never_comes_back(kept):
    propose(kept, "retry twice")
    (one,) = verb.items(ctx(kept))
    verb.run(f"drop {one.key[:8]}", ctx(kept))
    assert verb.items(ctx(kept)) == []
    os.unlink(os.path.join(kept.home, marks.LEDGER))
    kept.collect()
    kept.drain()
    assert kept.texts() == []
    assert verb.items(ctx(kept)) == []


def test_only_the_payload_had_it(kept):
    said = lesson("retry twice", proposal="0ab96787")
    found = kept.collect(last_assistant_message=said)
    assert (found.kept, found.held) == ((), 1)
    assert kept.waiting() == []
    kept.say(said)
    assert kept.collect().held == 0
    assert kept.states() == ["held"]


def test_edited_the_person_s_words_are_kept(kept):
    propose(kept, "retry twice")
    (one,) = verb.items(ctx(kept))
    verb.edit(ctx(kept), one, "retry three times")
    assert kept.texts() == ["retry three times"]
    assert verb.items(ctx(kept)) == []


def test_the_week_s_lessons_of_the_agent_are_reviewed_once(kept):
    kept.say(lesson("of this week"))
    kept.collect()
    kept.drain()
    (one,) = verb.items(ctx(kept))
    verb.run(f"keep {one.key}", ctx(kept))
    assert kept.texts() == ["of this week"]
    assert verb.items(ctx(kept)) == []


def test_older_ones_are_left_in_peace_but_proposals_wait_for_ever(kept):
    kept.say(lesson("old"), lesson("held", proposal="x"))
    kept.collect()
    later = kept.at + timedelta(days=proposals.DAYS + 1)
    found = proposals.to_review(kept.home, later)
    assert [one.document["content"] for one in found] == ["held"]


def test_what_the_person_said_is_not_reviewed(kept):
    from hooks.verbs.remember import run

    run("my own words", ctx(kept))
    assert verb.items(ctx(kept)) == []


def test_a_kill_between_the_file_and_the_row_leaves_it_kept(kept, monkeypatch):
    from hooks.context import ledger

    propose(kept, "retry twice")
    (one,) = verb.items(ctx(kept))

    class Killed(Exception):
        pass

    def die(*_args, **_named):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(ledger.Ledger, "change", die)
        with pytest.raises(Killed):
            proposals.keep(kept.settings, kept.tick(), one)
    kept.drain()
    assert kept.texts() == ["retry twice"]
    assert kept.states() == ["committed"]


def test_what_was_dropped_elsewhere_since_it_was_shown_is_not_kept(kept):
    propose(kept, "retry twice")
    (one,) = verb.items(ctx(kept))
    verb.run(f"drop {one.key}", ctx(kept))
    assert "dropped meanwhile" in verb.decide(ctx(kept), "keep", one)
    assert (kept.waiting(), kept.texts(), kept.states()) == ([], [], ["forgotten"])


def test_what_was_kept_elsewhere_since_it_was_shown_is_not_sent_again(kept):
    propose(kept, "retry twice")
    (one,) = verb.items(ctx(kept))
    verb.run(f"keep {one.key}", ctx(kept))
    assert proposals.keep(kept.settings, kept.tick(), one)
    assert (kept.waiting(), kept.states()) == ([], ["committed"])


def test_a_proposal_waits_however_much_came_after_it(kept, monkeypatch):
    monkeypatch.setattr(proposals, "MOST", 1)
    kept.say(lesson("held", proposal="x"))
    kept.collect()
    kept.say(lesson("later"), lesson("last"))
    kept.collect()
    assert verb.items(ctx(kept))[0].document["content"] == "held"
