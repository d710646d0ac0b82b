from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context import session_index as index


def entry(number, **fields):
    return index.Entry(f"s{number}", f"2026-11-30T10:{number % 60:02d}:00+00:00", **fields)


def test_the_newest_line_of_a_session_wins_and_moves_it_to_the_end(tmp_path):
    home = str(tmp_path)
    for row in (entry(1, cwd="/a"), entry(2), entry(1, cwd="/b")):
        index.append(home, row)
    assert [(row.session_id, row.cwd) for row in index.read(home)] == [("s2", ""), ("s1", "/b")]


def test_the_index_keeps_the_newest_sessions_and_says_how_many_went(tmp_path):
    home = str(tmp_path)
    for number in range(index.MAX_SESSIONS + 3):
        index.append(home, entry(number))
    assert index.trim(home) == 3
    assert index.trim(home) == 0
    rows = index.read(home)
    assert (rows[0].session_id, len(rows)) == ("s3", index.MAX_SESSIONS)


def test_a_row_of_an_older_format_is_read_with_what_it_has():
    row = index.parse(b'{"session_id": "old", "project": "/home/dev/widgets", "extra": 1}')
    assert row == index.Entry("old", "", project="/home/dev/widgets")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_line_or_nothing(data):
    row = index.parse(data)
    assert row is None or isinstance(row.session_id, str)


def test_a_file_cut_at_any_byte_gives_the_whole_lines_before_the_cut(tmp_path):
    home = str(tmp_path)
    for number in range(3):
        index.append(home, entry(number, cwd="/é"))
    path = index.path_of(home)
    whole = Path(path).read_bytes()
    for cut in range(len(whole)):
        with open(path, "wb") as out:
            out.write(whole[:cut])
        names = [row.session_id for row in index.read(home)]
        assert names == [f"s{n}" for n in range(3)][: len(names)]
        index.append(home, entry(9))
        assert index.read(home)[-1].session_id == "s9"
