"""What a person keeps, corrects and forgets."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from hooks.context import keep, marks
from hooks.errors import BrainConflict, NotOneMemory
from tests.support.keeping import Kept, copy_as_fork, lesson


@pytest.fixture
def kept(home, project):
    return Kept(home, project)


def place(kept):
    return keep.place(
        kept.settings, kept.env, kept.tick(), kept.session.id, str(kept.session.project)
    )


def remember(kept, text, **attrs):
    return keep.remember(kept.settings, place(kept), text, attrs)


def marked(kept, text="X"):
    kept.ask()
    kept.say(lesson(text))
    (one,) = kept.collect().kept
    kept.drain()
    return one.key


def forget(kept, key):
    return keep.forget(kept.settings, kept.env, kept.tick(), key)


def test_a_persons_words_are_kept_verbatim_as_theirs_through_outbox_and_receipt(kept):
    text = "Use  two spaces, and <b>tags</b>; `code` too"
    one = remember(kept, text)
    assert kept.states() == ["pending"]
    assert len(kept.waiting()) == 1
    kept.drain()
    (item,) = kept.memory()
    assert (item.id, item.text, item.cls, item.accepted) == (one.key, text, "person", False)


def test_the_same_words_twice_are_one_memory(kept):
    assert remember(kept, "X").key == remember(kept, "X").key
    kept.drain()
    assert kept.texts() == ["X"]


def test_a_person_and_an_agent_who_say_the_same_are_two_records(kept):
    marked(kept, "X")
    remember(kept, "X")
    kept.drain()
    assert [item.cls for item in kept.memory()] == ["agent", "person"]


def test_a_secret_in_a_persons_words_is_taken_out_and_said(kept):
    one = remember(kept, "the key is ghp_" + "a1B2" * 9)
    assert "a1B2" not in one.text
    assert one.redacted


def test_an_edit_replaces_the_memory_where_it_stands_and_keeps_the_old_as_history(kept):
    old = marked(kept, "The port is 80")
    one = keep.edit(kept.settings, kept.env, place(kept), old, "The port is 8080")
    assert kept.texts() == ["The port is 8080"]
    assert kept.waiting() == []
    assert kept.states() == ["committed", "committed"]
    with pytest.raises(BrainConflict):
        keep.edit(kept.settings, kept.env, place(kept), old, "The port is 81")
    assert kept.texts() == ["The port is 8080"]
    assert kept.waiting() == []
    back = keep.edit(kept.settings, kept.env, place(kept), one.key, "The port is 80")
    assert kept.texts() == ["The port is 80"]
    assert back.key not in (old, one.key)


def test_an_edit_from_another_project_stays_in_the_memorys_own(kept, repo):
    old = marked(kept, "X")
    other = Kept(Path(kept.home), repo("api", "https://git.example.org/shop/api.git"))
    other.at = kept.at
    keep.edit(kept.settings, other.env, place(other), old, "Y")
    assert kept.texts() == ["Y"]
    assert kept.memory("git.example.org/shop/api") == []


def test_an_edit_of_nothing_is_refused_and_keeps_nothing(kept):
    with pytest.raises(NotOneMemory):
        keep.edit(kept.settings, kept.env, place(kept), "0" * 32, "Y")
    assert kept.waiting() == []


def test_a_forgotten_marker_stays_away_after_everything(kept, home, project):
    key = marked(kept, "X")
    assert forget(kept, key)
    assert not forget(kept, key)
    assert kept.texts() == []
    assert kept.states() == ["forgotten"]
    # resume: the same file grows; the same words once more
    kept.ask()
    kept.say(lesson("X"))
    kept.collect(last_assistant_message=lesson("X"))
    # fork and background copy
    copies = [copy_as_fork(kept, home, project, marked=marked) for marked in (True, False)]
    for copy in copies:
        copy.collect()
    kept.drain()
    assert kept.texts() == []
    # a deleted ledger, then a deleted ledger and a deleted brain
    for gone in ([marks.LEDGER], [marks.LEDGER, "brain/local.db"]):
        for name in gone:
            os.unlink(os.path.join(kept.home, name))
        shutil.rmtree(os.path.join(kept.home, "brain", "positions"))
        for one in (*copies, kept):
            assert one.collect().kept == ()
        kept.drain()
        assert kept.texts() == []
        assert kept.waiting() == []


def test_no_file_of_the_home_holds_a_forgotten_text(kept):
    key = marked(kept, "the xylophone plays")
    kept.brain_source = "none"
    waiting = remember(kept, "a zanzibar waits").key
    kept.brain_source = "local"
    for one in (key, waiting):
        assert forget(kept, one)
    kept.drain()
    from hooks.context.brains import open_brain
    from hooks.context.refresh import refresh

    brain = open_brain(kept.settings, kept.env)
    refresh(kept.settings, brain, kept.at, None)
    refresh(kept.settings, brain, kept.at, ["git.example.org/shop/web"])
    brain.close()
    for folder, _, names in os.walk(kept.home):
        for name in names:
            data = (Path(folder) / name).read_bytes()
            assert b"xylophone" not in data, name
            assert b"zanzibar" not in data, name


def test_without_a_brain_a_forgotten_marker_is_gone_from_the_outbox_and_never_arrives(
    home, project
):
    kept = Kept(home, project, brain_source="none")
    kept.ask()
    kept.say(lesson("X"))
    (one,) = kept.collect().kept
    name = kept.waiting()[0]
    path = os.path.join(kept.home, "brain-outbox", name)
    data = Path(path).read_bytes()
    assert forget(kept, one.key)
    assert kept.waiting() == []
    Path(path).write_bytes(data)  # a copy of the outbox comes back
    os.unlink(os.path.join(kept.home, marks.LEDGER))
    kept.brain_source = "local"
    kept.drain()
    assert kept.texts() == []
    assert kept.waiting() == []


def test_a_person_may_remember_again_what_was_forgotten(kept):
    one = remember(kept, "X")
    kept.drain()
    forget(kept, one.key)
    again = remember(kept, "X")
    kept.drain()
    assert again.key != one.key
    assert kept.texts() == ["X"]
