"""A ledger that breaks while somebody works with it: put aside once, and the work done again."""

from __future__ import annotations

import os

import pytest

from hooks.context import keep, marks
from hooks.context.ledger import Ledger
from hooks.context.ledger_damage import put_aside
from tests.support.keeping import Kept, lesson, turn
from tests.support.processes import at_once


def ledger(home):
    return os.path.join(str(home), marks.LEDGER)


def break_inside(home, first=2):
    """Overwrite the pages from ``first`` on; the header still says that it is a database."""
    with open(ledger(home), "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek((first - 1) * 4096)
        file.write(b"\xa5" * (size - (first - 1) * 4096))


def asides(home):
    return sorted(name for name in os.listdir(home) if ".damaged-" in name)


@pytest.mark.parametrize("first", [2, 3, 5, 8, 11])
def test_collecting_goes_on_with_a_new_ledger_and_tells_of_nothing_twice(home, project, first):
    kept = Kept(home, project)
    turn(kept, lesson("first"))
    kept.collect()
    kept.drain()
    break_inside(home, first)
    turn(kept, lesson("second"))
    found = kept.collect()
    assert found.note == ""
    assert len({one.key for one in found.kept}) == len(found.kept)
    kept.drain()
    kept.collect()
    kept.drain()
    assert kept.texts() == ["first", "second"]
    assert kept.waiting() == []


def test_delivery_goes_on_with_a_new_ledger(home, project):
    kept = Kept(home, project)
    turn(kept, lesson("first"))
    kept.collect()
    break_inside(home)
    done = kept.drain()
    assert (done.stopped, done.left) == ("", 0)
    assert kept.texts() == ["first"]
    assert len(asides(home)) == 1


def test_a_persons_words_are_kept_in_a_new_ledger(home, project):
    kept = Kept(home, project)
    turn(kept, lesson("first"))
    kept.collect()
    kept.drain()
    break_inside(home)
    where = keep.place(kept.settings, kept.env, kept.tick(), kept.session.id, str(project))
    keep.remember(kept.settings, where, "by hand", {})
    kept.drain()
    assert "by hand" in kept.texts()


def test_a_new_ledger_in_the_damaged_ones_place_is_left_alone(home, project):
    kept = Kept(home, project)
    turn(kept, lesson("first"))
    kept.collect()
    seen = marks.ledger_file(kept.home)
    put_aside(kept.home, seen)
    Ledger.open(kept.home, kept.at).close()
    put_aside(kept.home, seen)  # one who met the damage at the same time
    assert len(asides(home)) == 1
    assert os.path.exists(ledger(home))


def test_the_journal_of_a_damaged_ledger_goes_with_it(home, project):
    kept = Kept(home, project)
    turn(kept, lesson("first"))
    kept.collect()
    with open(ledger(home) + "-journal", "wb") as file:
        file.write(b"x")
    put_aside(kept.home, marks.ledger_file(kept.home))
    assert [name.endswith("-journal") for name in asides(home)] == [False, True]
    assert not os.path.exists(ledger(home) + "-journal")


_IMPORTS = """
from hooks.context.database import be_patient
from hooks.context.ledger import Ledger
"""
_OPEN = """
from datetime import datetime, UTC
be_patient()
ledger = Ledger.open(sys.argv[1], datetime.now(UTC))
ledger.set_note(sys.argv[-1], "x")
ledger.close()
"""


def test_sixteen_that_meet_a_broken_ledger_make_one_new_one(home):
    home.mkdir()
    with open(ledger(home), "wb") as file:
        file.write(os.urandom(8192))
    at_once(16, _IMPORTS, _OPEN, home)
    found = Ledger.read_only(str(home))
    assert found is not None
    assert [found.note(str(number)) for number in range(16)] == ["x"] * 16
    found.close()
    assert len(asides(home)) == 1
