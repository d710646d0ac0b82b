"""What a note is made over, and every doubt in which a file is read again."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.read_cache import (
    MOST_BYTES,
    Asked,
    asked,
    begin_epoch,
    denial,
    drop,
    end_epoch,
    epoch,
    look,
    note,
    noted,
    shown,
)
from hooks.context.session_state import MAX_VALUE
from tests.conftest import NOON
from tests.support.run_hook import recorded

AT = NOON.isoformat()
TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def mark(path, agent="main", when="e", **fields):
    found = look(Asked(str(path), **fields), agent, when)
    return found and found.mark


def response(path, content, **fields):
    file = {"filePath": str(path), "content": content, "numLines": 1, "startLine": 1}
    return {"type": "text", "file": {**file, "totalLines": 1, **fields}}


def test_the_recorded_read_is_understood():
    read = recorded("PostToolUse.Read")
    wanted = asked(read["tool_input"])
    assert wanted == Asked("/home/dev/proj/a.txt")
    assert shown(read["tool_response"], wanted) == "hello file\n"


NO_RANGE = {
    "no path": {},
    "a relative path": {"file_path": "a.txt"},
    "a path with NUL": {"file_path": "/a\0b"},
    "a number as path": {"file_path": 5},
    "pages of a PDF": {"file_path": "/a.pdf", "pages": "1-3"},
    "a word nobody knows": {"file_path": "/a", "whole_file": True},
    "a text as offset": {"file_path": "/a", "offset": "3"},
    "a truth as limit": {"file_path": "/a", "limit": True},
    "a fraction": {"file_path": "/a", "limit": 2.5},
    "a negative offset": {"file_path": "/a", "offset": -1},
    "no lines": {"file_path": "/a", "limit": 0},
}


@pytest.mark.parametrize("given_", NO_RANGE.values(), ids=NO_RANGE.keys())
def test_what_is_no_range_of_lines_is_a_doubt(given_):
    assert asked(given_) is None


def test_a_range_is_its_path_first_line_and_number_of_lines():
    assert asked({"file_path": "/a", "offset": 3, "limit": 2}) == Asked("/a", 3, 2)
    assert asked({"file_path": "/a", "offset": 0}) == Asked("/a", 1, 0)


def test_a_range_is_read_as_the_client_joins_it(file):
    def text(**fields):
        found = look(Asked(str(file), **fields), "", "e")
        return found and found.text

    assert text() == TEXT
    assert text(offset=2, limit=2) == "two\nthree"
    assert text(limit=3) == "one\ntwo\nthree"
    assert text(offset=3) == "three\n"
    assert text(offset=3, limit=50) == "three\n"
    assert text(offset=4) is None  # nothing stands there
    assert text(offset=9) is None


SHOWN_OTHERWISE = {
    "a picture": {"type": "image", "file": {}},
    "a notebook": {"type": "notebook", "file": {"filePath": "/a", "cells": []}},
    "a text": "hello",
    "nothing": None,
    "a first page of it": response("/a", "x", truncatedByTokenCap=True),
    "another file": response("/b", "x"),
    "from another line": response("/a", "x", startLine=2),
    "no text": response("/a", None),
    "a path with NUL": response("/a\0", "x"),
}


@pytest.mark.parametrize("said", SHOWN_OTHERWISE.values(), ids=SHOWN_OTHERWISE.keys())
def test_what_was_not_shown_as_the_text_of_the_file_is_a_doubt(said):
    assert shown(said, Asked("/a")) is None


def test_another_agent_epoch_or_range_is_another_note(file):
    marks = [
        mark(file),
        mark(file, agent="a1"),
        mark(file, when="f"),
        mark(file, offset=2),
        mark(file, limit=2),
        mark(file, limit=3),
    ]
    assert len(set(marks)) == len(marks)
    assert mark(file) == marks[0]


def test_a_file_is_itself_by_whatever_path(file, tmp_path):
    (tmp_path / "link").symlink_to(file)
    assert mark(tmp_path / "link") == mark(file) == mark(tmp_path / "." / "a.txt")


def changed_in_place(path):
    path.write_text(TEXT.replace("two", "TWO"), encoding="utf-8")


def touched(path):
    os.utime(path, ns=(1, 1))


def replaced_by_its_copy(path):
    shutil.copy2(path, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def changed_with_its_old_time(path):
    was = path.stat()
    path.write_text(TEXT.replace("two", "TWO"), encoding="utf-8")
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


@pytest.mark.parametrize(
    "change", [changed_in_place, touched, replaced_by_its_copy, changed_with_its_old_time]
)
def test_a_file_that_may_have_changed_is_no_known_one(file, change):
    known = note({}, look(Asked(str(file)), "", "e"), AT)
    os.utime(file, ns=(5, 5))  # its time of change is not now, as of a file that is hours old
    known = note(known, look(Asked(str(file)), "", "e"), AT)
    assert noted(known, look(Asked(str(file)), "", "e"))
    change(file)
    assert noted(known, look(Asked(str(file)), "", "e")) == ""


def test_a_file_whose_time_of_change_moved_alone_is_another(file):
    was, first = mark(file), file.stat().st_ctime_ns
    while file.stat().st_ctime_ns == first:  # until the file system's clock has ticked
        file.chmod(0o600)
    assert mark(file) != was


def test_a_link_that_points_elsewhere_is_another_file(file, tmp_path):
    link, other = tmp_path / "link", tmp_path / "b.txt"
    shutil.copy2(file, other)
    link.symlink_to(file)
    was = mark(link)
    link.unlink()
    link.symlink_to(other)
    assert mark(link) != was


def test_the_same_times_and_another_text_are_told_apart(file):
    """As where a file system's clock is too coarse: the mark is the same, the text is not."""
    found = look(Asked(str(file)), "", "e")
    known = note({}, found, AT)
    assert noted(known, found) == AT
    assert noted(known, found._replace(text="another")) == ""


UNREADABLE = {
    "bytes that are no text": b"\xff\xfe\x00",
    "nothing": b"",
    "too much": b"a\n" * (MOST_BYTES // 2 + 1),
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_no_text_of_some_size_is_a_doubt(tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    assert look(Asked(str(tmp_path / "x")), "", "e") is None


def test_a_file_that_is_gone_by_now_is_a_doubt(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for name in ("gone", "gone/below", "loop", "x" * 300, "\udcff"):
        assert look(Asked(str(tmp_path / name)), "", "e") is None


def test_a_pipe_and_a_folder_are_a_doubt_and_nothing_waits(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert look(Asked(str(tmp_path / "pipe")), "", "e") is None
    assert look(Asked(str(tmp_path)), "", "e") is None


def test_the_text_that_the_client_shows_of_other_line_ends_is_not_the_files(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"a\r\nb\r\n")
    assert look(Asked(str(path)), "", "e").text != "a\nb\n"
    path.write_bytes(b"\xef\xbb\xbfhi\n")
    assert look(Asked(str(path)), "", "e").text != "hi\n"


def test_a_note_is_dropped_alone_and_the_newest_are_kept(file):
    found = look(Asked(str(file)), "", "e")
    document = note({}, found, AT)
    for number in range(300):
        document = note(document, found._replace(mark=f"{number:032x}"), AT)
        if number % 50 == 0:
            document = note(document, found, AT)
    assert noted(document, found) == AT
    assert len(document["reads"]) == 256
    assert len(json.dumps(document)) < MAX_VALUE // 20
    left = drop(document, found.mark)
    assert noted(left, found) == ""
    assert len(left["reads"]) == 255
    assert drop(note({}, found, AT), found.mark) == {}


@pytest.mark.parametrize(
    "reads", [None, [], "x", {"m": None}, {"m": {"at": 5}}, {"m": {"text": 5}}]
)
def test_what_is_damaged_knows_nothing(file, reads):
    found = look(Asked(str(file)), "", "e")
    rows = {found.mark: reads["m"]} if isinstance(reads, dict) else reads
    assert noted({"reads": rows}, found) == ""
    assert noted(note({"reads": rows}, found, AT), found) == AT
    drop({"reads": rows}, "x")


def test_an_epoch_is_begun_once_and_another_one_after_its_end(home):
    assert epoch(str(home), "s") == ""
    first = begin_epoch(str(home), "s")
    assert first == begin_epoch(str(home), "s") == epoch(str(home), "s") != ""
    assert begin_epoch(str(home), "t") != first
    end_epoch(str(home), "s")
    assert epoch(str(home), "s") == ""
    end_epoch(str(home), "s")
    assert begin_epoch(str(home), "s") != first


def test_the_agent_reads_what_is_unchanged_and_how_to_read_it_all_the_same():
    said = denial(Asked("/a/b.txt"), AT)
    assert said.startswith("/a/b.txt is unchanged since you read it at 12:00:00 UTC; the content")
    assert "the next try is let through" in said
    assert denial(Asked("/a", 3, 2), AT).startswith("/a, lines 3 to 4, is unchanged")
    assert denial(Asked("/a", 3), AT).startswith("/a from line 3 is unchanged")


lines = st.lists(st.text("ab é😀\r\t\x0b\x85\u2028", max_size=4), max_size=8)


@settings(deadline=None, max_examples=100)
@given(lines, st.integers(1, 10), st.integers(0, 10))
def test_every_range_of_every_text_is_the_lines_that_a_split_at_newlines_gives(
    tmp_path_factory, some, offset, limit
):
    path: Path = tmp_path_factory.mktemp("x") / "x"
    text = "\n".join(some)
    path.write_bytes(text.encode())
    found = look(Asked(str(path), offset, limit), "", "e")
    wanted = "\n".join(some[offset - 1 :][: limit or None])
    assert (found.text if found else "") == wanted
