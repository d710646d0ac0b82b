"""Many markers in one drain: claimed together, posted one by one, written down together."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.context import acks, batch, keep, ledger_notes, marks, outbox
from tests.hooks.context.test_ledger_damage import break_inside
from tests.hooks.context.test_posting import MARKER, person, server
from tests.support.keeping import Kept, lesson

__all__ = ["person", "server"]


class KilledError(BaseException):
    """What no product code catches, as a kill."""


def die(*_):
    raise KilledError


def drain_and_die(person, monkeypatch, steps):
    with monkeypatch.context() as patch:
        patch.setattr(batch, "SETTLE", steps)
        with pytest.raises(KilledError):
            person.drain()


@pytest.fixture
def kept(home, project):
    found = Kept(home, project)
    found.ask()
    found.say(*(lesson(text) for text in ("one", "two", "three")))
    found.collect()
    return found


def before_post(monkeypatch, action):
    """Call ``action(text)`` before each post."""
    post = batch.post

    def watched(delivery):
        action(delivery.document["content"])
        post(delivery)

    monkeypatch.setattr(batch, "POST", (watched, batch.note_ack))


def test_what_was_acknowledged_before_a_kill_is_never_posted_again(person, monkeypatch):
    person.keep("one", "two", "three")
    drain_and_die(person, monkeypatch, (die,))
    assert len(person.server.requests(MARKER)) == 3
    person.server.restart()  # and it has forgotten its keys
    done = person.drain()
    assert (done.committed, done.left, done.stopped) == (3, 0, "")
    assert person.server.requests(MARKER) == []
    assert person.states() == ["committed"] * 3
    assert not Path(acks.path_of(person.home)).exists()


def test_notes_outlive_a_kill_before_their_files_are_gone_and_are_used_once(person, monkeypatch):
    person.keep("one", "two")
    drain_and_die(person, monkeypatch, (batch.record, die))
    assert (person.states(), len(person.waiting())) == (["committed"] * 2, 2)
    assert person.drain().left == 0
    assert (person.states(), person.waiting()) == (["committed"] * 2, [])
    assert len(person.server.requests(MARKER)) == 2


def test_a_brain_that_goes_down_in_between_leaves_the_rest_unclaimed(person, monkeypatch):
    person.keep("one", "two", "three")
    before_post(monkeypatch, lambda text: text == "two" and person.server.stop())
    done = person.drain()
    assert (done.committed, done.left, done.stopped != "") == (1, 2, True)
    one, two, three = person.receipts()
    assert (one.state, one.lease_until) == ("committed", "")
    assert (two.state, two.attempts) == ("pending", 1)  # it may have been heard
    assert (three.state, three.attempts, three.lease_until) == ("pending", 0, "")
    monkeypatch.undo()
    person.server.start()
    assert person.drain().committed == 2


def test_what_a_person_forgets_while_those_before_it_are_posted_is_not_posted(kept, monkeypatch):
    rows = {receipt.document["content"]: receipt.key for receipt in kept.receipts()}

    def forget_the_last(text):
        if text == "one":
            keep.forget(kept.settings, kept.env, kept.tick(), rows["three"])

    before_post(monkeypatch, forget_the_last)
    assert kept.drain().committed == 2
    assert sorted(kept.texts()) == ["one", "two"]
    assert kept.states() == ["committed", "committed", "forgotten"]


def test_where_no_note_can_be_written_each_receipt_is_at_once(kept, monkeypatch):
    Path(acks.path_of(kept.home)).mkdir(parents=True)
    states = []
    before_post(monkeypatch, lambda _: states.append(kept.states().count("committed")))
    assert kept.drain().stopped == ""
    assert states == [0, 1, 2]
    assert kept.states() == ["committed"] * 3


def test_a_note_that_could_not_be_dropped_says_nothing_of_a_later_claim(kept, monkeypatch):
    monkeypatch.setattr(acks, "clear", lambda _: None)
    assert kept.drain().committed == 3
    (Path(kept.home) / "brain" / "local.db").unlink()
    assert kept.drain().committed == 3  # sent again: the brain had lost it
    assert sorted(kept.texts()) == ["one", "three", "two"]


def test_a_slow_brain_s_acknowledgements_do_not_wait_for_the_batch(kept, monkeypatch):
    monkeypatch.setattr(batch, "SETTLE_S", 0.0)
    states = []
    before_post(monkeypatch, lambda _: states.append(kept.states().count("committed")))
    assert kept.drain().committed == 3
    assert states == [0, 1, 2]


def test_two_files_of_one_key_are_posted_once(person):
    [key] = person.keep("one")
    [name] = person.waiting()
    folder = Path(outbox.folder(person.home))
    (folder / f"19990101T000000000000-{key}.json").write_bytes((folder / name).read_bytes())
    done = person.drain()
    assert (done.committed, done.replayed, done.left) == (1, 0, 0)
    assert len(person.server.requests(MARKER)) == 1


def test_more_than_a_batch_goes_in_its_order_and_is_told_by_number(home, project, monkeypatch):
    from hooks.context.flush import drain

    monkeypatch.setattr(batch, "MOST", 2)
    kept, order, told = Kept(home, project), [], []
    kept.ask()
    kept.say(*(lesson(f"{number}") for number in range(5)))
    kept.collect()
    (Path(outbox.folder(kept.home)) / "0-poison.json").write_bytes(b"{")
    before_post(monkeypatch, order.append)
    done = drain(kept.settings, kept.env, kept.tick(), lambda *at: told.append(at))
    assert (done.committed, done.quarantined, done.left) == (5, 1, 0)
    assert order == ["0", "1", "2", "3", "4"]
    assert told == [(number, 6) for number in range(2, 7)]


def lose_the_ledger(person):
    (Path(person.home) / marks.LEDGER).unlink()


def test_what_was_acknowledged_is_not_posted_again_where_the_ledger_is_lost_too(
    person, monkeypatch
):
    person.keep("one", "two", "three")
    drain_and_die(person, monkeypatch, (die,))
    person.server.restart()
    lose_the_ledger(person)
    done = person.drain()
    assert (done.committed, done.left, done.stopped) == (3, 0, "")
    assert person.server.requests(MARKER) == []
    assert person.states() == ["committed"] * 3


def test_what_arrived_unheard_is_found_again_where_the_ledger_is_lost_too(person, monkeypatch):
    person.keep("one", "two")
    with monkeypatch.context() as patch:
        patch.setattr(batch, "POST", (batch.post, die))  # before it could be noted
        drain_and_die(person, patch, (die,))
    person.server.restart()
    lose_the_ledger(person)
    done = person.drain()
    assert (done.committed, done.replayed, done.left) == (1, 1, 0)
    assert person.server.contents() == ["one", "two"]


@pytest.mark.parametrize("lose", [lose_the_ledger, lambda person: break_inside(person.home)])
def test_a_ledger_lost_in_between_doubles_nothing(person, monkeypatch, lose):
    texts = [f"thought {number}" for number in range(6)]
    person.keep(*texts)

    losses = [lose]

    def lose_once(text):
        if text == texts[3] and losses:
            losses.pop()(person)
            person.server.restart()  # its keys are gone

    before_post(monkeypatch, lose_once)
    person.drain()
    monkeypatch.undo()
    person.collect()
    person.drain()
    assert sorted(person.server.contents()) == texts
    assert (set(person.states()) - {"committed"}, person.waiting()) == (set(), [])


def test_an_old_note_is_dropped_before_it_can_be_taken_for_a_later_claim(kept, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(acks, "clear", lambda _: None)
        kept.drain()
    assert kept.drain().committed == 0
    assert acks.read(kept.home) == []


def test_a_forget_that_was_killed_after_its_tombstone_holds_for_the_batch_at_hand(
    person, monkeypatch
):
    keys = person.keep("one", "two", "three")
    grave = ledger_notes.Tombstone(keys[2])
    before_post(monkeypatch, lambda text: text == "one" and ledger_notes.bury(person.home, grave))
    person.drain()
    assert person.server.contents() == ["one", "two"]
    assert (person.states()[2], person.waiting()) == ("forgotten", [])
