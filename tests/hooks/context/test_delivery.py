"""The outbox in bad times: nothing blocks what is behind it, and time orders what goes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from hooks.context import batch, delivery, outbox
from hooks.context.flush import due
from tests.support.keeping import Kept, lesson
from tests.support.older_home import OLD, put


@pytest.fixture
def kept(home, project):
    return Kept(home, project)


def keep(kept, text):
    kept.ask()
    kept.say(lesson(text))
    kept.collect()


def test_the_backlog_of_an_older_version_goes_first_and_all_in_time_order(kept, monkeypatch):
    backlog, waiting = Path(outbox.backlog_folder(kept.home)), Path(outbox.folder(kept.home))
    put(backlog, "b.json", {**OLD, "content": "1", "ts": "2026-09-01T10:00:00+00:00"})
    put(backlog, "a.json", {**OLD, "content": "2", "ts": "2026-09-03T10:00:00+00:00"})
    put(waiting, "a.json", {**OLD, "content": "4", "ts": "2026-09-04T10:00:00+00:00"})
    put(waiting, "z.json", {**OLD, "content": "3", "ts": "2026-09-02T10:00:00+00:00"})
    posted = []
    post = batch.post

    def posting(one):
        posted.append(one.document["content"])
        post(one)

    steps = [posting if step is post else step for step in batch.POST]
    monkeypatch.setattr(batch, "POST", tuple(steps))
    assert due(kept.settings, kept.at)
    assert kept.drain().committed == 4
    assert posted == ["1", "2", "3", "4"]
    assert outbox.is_empty(kept.home)


def test_without_a_brain_the_backlog_stays_where_it_is_and_is_counted(kept):
    put(Path(outbox.backlog_folder(kept.home)), "a.json", {**OLD, "content": "1"})
    kept.brain_source = "none"
    assert kept.drain().left == 1
    assert outbox.backlog_names(kept.home) == ["a.json"]
    kept.brain_source = "local"
    assert kept.drain() == (1, 0, 0, 0, "")


def test_a_backlog_that_cannot_be_emptied_is_said_and_blocks_nothing(kept, monkeypatch):
    keep(kept, "one")
    put(Path(outbox.backlog_folder(kept.home)), "a.json", {**OLD, "content": "1"})

    def refuse(*_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as patch:
        patch.setattr(outbox, "take_in", refuse)
        done = kept.drain()
    assert (done.committed, done.left) == (1, 1)
    assert done.stopped == "the backlog cannot be emptied: Permission denied"
    assert kept.drain() == (1, 0, 0, 0, "")


def strange_files(folder):
    """Make what nobody can deliver; return how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    os.mkfifo(folder / "0-pipe.json")
    (folder / "0-folder.json").mkdir()
    (folder / "0-gone.json").symlink_to(folder / "nowhere")
    with (folder / "0-huge.json").open("wb") as file:
        file.truncate(outbox.MAX_BYTES + 1)
    (folder / f"0-{'n' * 245}.json").write_bytes(b"long name")
    (folder / "quarantine").mkdir()
    (folder / "quarantine" / "0-twice.json").write_bytes(b"an earlier one of this name")
    (folder / "0-twice.json").write_bytes(b"another one")
    (folder / "readme.txt").write_bytes(b"not ours")
    return 6


def test_whatever_lies_in_the_outbox_blocks_nothing_and_is_put_aside_whole(kept):
    folder = Path(outbox.folder(kept.home))
    count = strange_files(folder)
    keep(kept, "good")
    done = kept.drain()
    assert (done.quarantined, done.committed, done.left) == (count, 1, 0)
    place = Path(outbox.quarantine_folder(kept.home))
    aside = [path for path in place.iterdir() if not path.name.endswith(outbox.REASON)]
    assert len(aside) == count + 1
    reasons = [path for path in place.iterdir() if path.name.endswith(outbox.REASON)]
    assert len(reasons) == count
    assert {path.read_bytes() for path in aside if path.is_file() and path.stat().st_size < 99} == {
        b"long name",
        b"another one",
        b"an earlier one of this name",
    }
    assert (folder / "readme.txt").read_bytes() == b"not ours"


def test_what_cannot_even_be_put_aside_does_not_block_those_behind_it(kept):
    folder = Path(outbox.folder(kept.home))
    folder.mkdir()
    (folder / "quarantine").write_bytes(b"a file where the folder should be")
    (folder / "0-poison.json").write_bytes(b"{")
    keep(kept, "good")
    done = kept.drain()
    assert (done.committed, done.left) == (1, 1)
    assert "0-poison.json cannot be put aside" in done.stopped


def refusing(step, *words):
    """Return ``step`` without the right to do it where the file's name has one of ``words``."""

    def refuse(home, name, *rest):
        if any(word in str(name) for word in words):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return step(home, name, *rest)

    return refuse


def test_a_file_that_cannot_be_removed_is_told_and_holds_up_nothing_in_this_run_or_the_next(
    kept, monkeypatch
):
    monkeypatch.setattr(batch, "MOST", 1)
    keep(kept, "one")
    [first] = kept.waiting()
    keep(kept, "two")
    with monkeypatch.context() as patch:
        patch.setattr(outbox, "remove", refusing(outbox.remove, first))
        done = kept.drain()
        assert (done.committed, done.left, first in done.stopped) == (2, 1, True)
        keep(kept, "three")
        done = kept.drain()
        assert (done.committed, done.left, first in done.stopped) == (1, 1, True)
    assert kept.drain() == (0, 0, 0, 0, "")
    assert kept.texts() == ["one", "two", "three"]


def test_an_older_file_that_cannot_be_named_anew_holds_up_nothing(kept, monkeypatch):
    put(Path(outbox.folder(kept.home)), "a.json", {**OLD, "content": "1"})
    keep(kept, "one")
    with monkeypatch.context() as patch:
        patch.setattr(outbox, "write", refusing(outbox.write, OLD["session_id"]))
        done = kept.drain()
    assert (done.committed, done.left, "a.json" in done.stopped) == (1, 1, True)
    assert kept.drain() == (1, 0, 0, 0, "")


def test_a_batch_has_few_files_and_few_bytes_and_a_large_file_is_one_of_its_own(kept, monkeypatch):
    monkeypatch.setattr(batch, "MOST", 3)
    monkeypatch.setattr(batch, "MOST_BYTES", 100)
    folder = Path(outbox.folder(kept.home))
    folder.mkdir()
    sizes = {"a": 40, "b": 60, "c": 1, "d": 1_000, "e": 1, "f": 1, "g": 1, "h": 1}
    for name, size in sizes.items():
        (folder / name).write_bytes(b"x" * size)
    found = delivery.in_batches(kept.home, [*sizes, "gone"])
    assert ["".join(names) for names in found] == ["ab", "c", "d", "efg", "hgone"]


def test_thousands_of_files_are_made_again_from_their_rows_without_a_sync_each(kept, monkeypatch):
    keep(kept, "one")
    keep(kept, "two")
    before = {name: (Path(outbox.folder(kept.home)) / name).read_bytes() for name in kept.waiting()}
    for name in before:
        outbox.remove(kept.home, name)
    synced = []
    monkeypatch.setattr(os, "fsync", synced.append)
    kept.brain_source = "none"
    assert kept.drain().left == 2
    here = {name: (Path(outbox.folder(kept.home)) / name).read_bytes() for name in kept.waiting()}
    assert (here, synced) == (before, [])


def test_why_a_run_stopped_is_told_where_it_cannot_be_noted(kept):
    keep(kept, "one")
    (Path(kept.home) / "brain" / "drain-pause.json").mkdir(parents=True)
    kept.brain_source = "none"
    done = kept.drain()
    assert (done.left, done.stopped) == (1, "no brain is configured")
