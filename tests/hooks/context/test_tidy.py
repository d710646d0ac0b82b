from __future__ import annotations

import os
from pathlib import Path

import pytest

from hooks.context.tidy import ASIDE, ASIDE_MAX_AGE_S, NOTES, Notes, tidy
from tests.conftest import NOON


def leave(home, row, name, age_s, folder=False):
    path = Path(home, row.folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if folder:
        path.mkdir()
        (path / "0").write_text("a flush")
    else:
        path.write_text("x")
    when = NOON.timestamp() - age_s
    os.utime(path, (when, when))
    return path


@pytest.mark.parametrize("row", NOTES, ids=lambda row: row.folder)
@pytest.mark.parametrize("folder", [False, True], ids=["a file", "a folder"])
def test_notes_go_when_they_are_older_than_their_row_allows(row, folder, tmp_path):
    old = leave(tmp_path, row, "old", row.max_age_s + 1, folder)
    new = leave(tmp_path, row, "new", row.max_age_s - 1, folder)
    assert tidy(str(tmp_path), NOON) == 1
    assert (old.exists(), new.exists()) == (False, True)


def test_a_home_without_notes_is_left_as_it_is(tmp_path):
    assert tidy(str(tmp_path / "nowhere"), NOON) == 0
    assert list(tmp_path.iterdir()) == []


def test_nothing_durable_is_in_the_table():
    kept = {"brain-outbox", "logs", os.path.join("brain", "session-scopes")}
    assert not kept & {row.folder for row in NOTES}


def test_a_link_among_the_notes_is_removed_and_what_it_points_to_stays(tmp_path):
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    (treasure / "file").write_text("x")
    row = NOTES[0]
    link = tmp_path / row.folder / "link"
    link.parent.mkdir(parents=True)
    link.symlink_to(treasure)
    when = NOON.timestamp() - row.max_age_s - 1
    os.utime(link, (when, when), follow_symlinks=False)
    tidy(str(tmp_path), NOON)
    assert not link.is_symlink()
    assert (treasure / "file").exists()


@pytest.mark.parametrize("folder", ASIDE)
def test_what_a_killed_writer_left_aside_goes_after_a_day_and_nothing_else_does(folder, tmp_path):
    row = Notes(folder, ASIDE_MAX_AGE_S)
    name = "20261130T120000000000-0.json"
    left = leave(tmp_path, row, f"{name}.77.0a1b2c3d.tmp", ASIDE_MAX_AGE_S + 1)
    being_written = leave(tmp_path, row, f"{name}.78.0a1b2c3d.tmp", 5)
    whole = leave(tmp_path, row, name, 400 * ASIDE_MAX_AGE_S)
    assert tidy(str(tmp_path), NOON) == 1
    assert [path.exists() for path in (left, being_written, whole)] == [False, True, True]
