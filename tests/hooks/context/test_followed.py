"""A mark leads on where the file is the same, and to its first line where it is not."""

from __future__ import annotations

import json
import os

import pytest

from hooks.context.followed import (
    MOST_FILES,
    Follower,
    close_all,
    everything,
    moved,
    open_all,
)
from hooks.context.sources import Source
from hooks.errors import StateError

NEEDLE = (b'"usage"',)


def rows(count, start=0):
    lines = (
        json.dumps({"n": n, "usage": {}, "pad": "x" * 60}) for n in range(start, start + count)
    )
    return "".join(line + "\n" for line in lines).encode()


def read(path, mark="", needles=NEEDLE):
    follower = Follower(str(path), mark)
    try:
        return [one["n"] for one in follower.objects(needles)], follower.mark
    finally:
        follower.close()


@pytest.fixture
def transcript(tmp_path):
    return tmp_path / "t.jsonl"


def test_only_what_is_new_is_read(transcript):
    transcript.write_bytes(rows(3))
    first, mark = read(transcript)
    assert first == [0, 1, 2]
    assert read(transcript, mark)[0] == []
    with transcript.open("ab") as file:
        file.write(rows(2, 3))
    assert read(transcript, mark)[0] == [3, 4]


def test_lines_without_a_needle_are_passed_over(transcript):
    transcript.write_bytes(b'{"n":7}\nnot json "usage"\n\n' + rows(1) + b'{"n":8}\n')
    assert read(transcript)[0] == [0]
    assert read(transcript, needles=(b'"n":7', b'"n":8'))[0] == [7, 8]


def test_split_at_every_byte_no_line_is_lost_or_read_before_it_is_whole(transcript):
    data = rows(3)
    for cut in range(len(data) + 1):
        transcript.write_bytes(data[:cut])
        before, mark = read(transcript)
        with transcript.open("ab") as file:
            file.write(data[cut:])
        after, _ = read(transcript, mark)
        # a last line that is whole but for its newline is met twice, and known by its id
        assert list(dict.fromkeys(before + after)) == [0, 1, 2], cut


def other_inode(path):
    aside = path.with_suffix(".new")
    aside.write_bytes(rows(2, 10))
    os.replace(aside, path)


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_bytes(rows(2, 10)),
        lambda path: path.write_bytes(rows(9, 10)),
        other_inode,
    ],
    ids=["truncated", "rewritten-longer", "replaced"],
)
def test_a_changed_file_is_read_from_its_first_line(transcript, change):
    transcript.write_bytes(rows(4))
    _, mark = read(transcript)
    change(transcript)
    assert read(transcript, mark)[0][:2] == [10, 11]


@pytest.mark.parametrize(
    "mark", ["", "x", "1.2.3", "1.2.3.4", "1.2.-5.x", "a.b.99999999999999999999.c"]
)
def test_a_damaged_mark_is_none(transcript, mark):
    transcript.write_bytes(rows(2))
    assert read(transcript, mark)[0] == [0, 1]


def test_a_transcript_that_is_not_there_is_empty_and_a_folder_is_a_fault(tmp_path):
    assert read(tmp_path / "absent") == ([], "")
    with pytest.raises(StateError):
        Follower(str(tmp_path), "")


def test_subagents_go_with_their_session(tmp_path):
    main = tmp_path / "s1.jsonl"
    folder = tmp_path / "s1" / "subagents"
    folder.mkdir(parents=True)
    for path in (main, folder / "agent-a1.jsonl"):
        path.write_bytes(rows(1))
    opened = open_all(everything(str(main), "s1"), {})
    assert sorted(opened) == ["agent-a1", "main"]
    for follower in opened.values():
        follower.close()


def test_a_subagents_file_that_cannot_be_read_holds_up_no_other(transcript, tmp_path):
    transcript.write_bytes(rows(1))
    unreadable = Source(str(tmp_path), "s1", main=False)
    readable = Source(str(transcript), "s1", main=True)
    opened = open_all([unreadable, readable, unreadable], {})
    assert sorted(opened) == ["main"]
    close_all(opened)
    with pytest.raises(StateError):
        open_all([readable, unreadable._replace(main=True)], {})


def test_no_more_files_are_opened_at_once_than_a_system_allows(tmp_path):
    main = tmp_path / "s1.jsonl"
    folder = tmp_path / "s1" / "subagents"
    folder.mkdir(parents=True)
    main.write_bytes(rows(1))
    for number in range(MOST_FILES + 50):
        (folder / f"agent-{number}.jsonl").write_bytes(b"")
    opened = open_all(everything(str(main), "s1"), {})
    assert len(opened) == MOST_FILES + 1
    assert "main" in opened
    close_all(opened)


def test_the_marks_of_the_oldest_files_are_forgotten_and_the_main_one_is_not(transcript):
    transcript.write_bytes(rows(1))
    marks = {"main": "m", **{f"agent-{n}": "x" for n in range(MOST_FILES)}}
    opened = open_all([Source(str(transcript), "s1", main=False)], {})
    assert list(opened["t"].objects(NEEDLE))
    kept = moved(marks, opened)
    assert len(kept) == MOST_FILES + 1
    assert "main" in kept
    assert "t" in kept
    assert "agent-0" not in kept
    opened["t"].close()
