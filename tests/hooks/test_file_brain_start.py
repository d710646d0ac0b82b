"""The first session on a folder that has pages already, through real hook processes."""

from __future__ import annotations

import pytest

from hooks.context.brains.folder_print import MOST_ENTRIES
from tests.support.memories import WEB


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "notes"
    path.mkdir()
    (path / "all.md").write_text("---\n---\nAsk before rm -rf\n", encoding="utf-8")
    below = path / "web"
    below.mkdir()
    page = f"---\nproject: {WEB}\n---\nUse the staging key\n"
    (below / "key.md").write_text(page, encoding="utf-8")
    return path


@pytest.fixture
def opened(session, folder):
    return session(env={"BRAIN_SOURCE_TYPE": "file", "BRAIN_SOURCE_PATH": str(folder)})


BEGINS = f"brainhooks: {WEB}, file brain, "


def test_the_first_start_tells_the_pages_and_counts_them(opened):
    start = opened.start()
    assert "Ask before rm -rf" in start.context
    assert "Use the staging key" in start.context
    assert start.message == BEGINS + "2 memories"
    opened.settle()
    assert opened.prompt("x").context == ""


def test_a_large_folder_is_read_by_the_worker_and_told_with_the_next_prompt(opened, folder):
    for number in range(MOST_ENTRIES):
        (folder / f"{number}.txt").touch()
    start = opened.start()
    assert "Use the staging key" not in start.context
    assert start.message == BEGINS + "not read yet; what it remembers comes with a later prompt"
    opened.settle()
    told = opened.prompt("x").context
    assert "Ask before rm -rf" in told
    assert "Use the staging key" in told


def test_a_folder_that_is_away_is_said_to_be_away_and_not_to_be_empty(session, opened, folder):
    folder.rename(folder.with_name("away"))
    start = opened.start()
    assert start.message == (
        f"brainhooks: there is no folder {folder}, so what is marked waits in the outbox. To do: "
        "make it, mount or sync what holds it, or correct BRAIN_SOURCE_PATH in the environment"
    )
    opened.settle()
    folder.with_name("away").rename(folder)
    assert "Use the staging key" in session(env=opened.env).start().context


def test_an_empty_folder_has_no_memories_yet(opened, folder):
    (folder / "all.md").unlink()
    (folder / "web" / "key.md").unlink()
    assert opened.start().message == BEGINS + "no memories yet"
