"""Where a session went, and how a scan is cut into batches."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.context.transcript import BATCH, scan
from tests.support.transcript import SESSION, lesson, line, read, said, sightings, write

REAL = Path(__file__).parents[2] / "transcripts"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "session.jsonl"


def test_moves_are_reported_with_the_lines_own_time(path):
    write(
        path,
        line(cwd="/a", timestamp="2026-11-30T10:00:00Z"),
        line(cwd="/a"),
        line("attachment", cwd=..., gitBranch="elsewhere", hook={"cwd": "/nested"}),
        line(cwd="/b", timestamp="2026-11-30T11:00:00Z"),
        line(cwd="/b", gitBranch="fix", timestamp="2026-11-30T12:00:00Z"),
        line(cwd="/b", gitBranch=..., timestamp="2026-11-30T13:00:00Z"),
        line(cwd="/b", gitBranch="fix", tool={"cwd": "/nested", "gitBranch": "x"}),
        line(cwd="/a", gitBranch="fix", timestamp="2026-11-30T09:00:00Z"),
    )
    moves = [move for batch in scan(str(path), None).batches() for move in batch.moves]
    assert [(m.cwd, m.branch, m.at.hour) for m in moves] == [
        ("/a", "main", 10),
        ("/b", "main", 11),
        ("/b", "fix", 12),
        ("/a", "fix", 9),
    ]
    assert {move.session_id for move in moves} == {SESSION}
    assert [path.read_bytes()[m.offset : m.offset + 2] for m in moves] == [b'{"'] * 4


def test_a_move_without_a_valid_time_takes_that_of_the_dated_line_before(path):
    undated = [line("mode", timestamp=..., pad="x" * 90_000), line(timestamp="yesterday")]
    write(
        path,
        line(cwd="/a", timestamp=...),
        line(cwd="/a", timestamp="2026-11-30T11:00:00Z"),
        *undated,
        line("x", timestamp=..., snapshot={"timestamp": "2020-01-01T00:00:00Z"}),
        line(cwd="/b", timestamp="2026-11-30"),
    )
    moves = [move for batch in scan(str(path), None).batches() for move in batch.moves]
    assert [(m.cwd, m.at and m.at.hour) for m in moves][:2] == [
        ("/a", None),
        ("/home/dev/proj", 11),
    ]
    assert (moves[-1].cwd, moves[-1].at.hour) == ("/b", 11)


def test_moves_are_found_in_every_spelling_of_json(path):
    spaced = b'{ "cwd" : "/b" , "gitBranch": "main", "timestamp": "2026-11-30T10:00:00Z" }'
    escaped = b'{"gitBranch":"main","cwd":"\\/c","type":"user"}'
    early = b'{"cwd":"/d","gitBranch":"main","type":"user","message":{"content":"long"}}'
    quote = b'{"cwd":"/e\\"f","gitBranch":"main"}'
    write(path, line(cwd="/a"), spaced, spaced, escaped, escaped, early, early, quote, quote)
    assert [cwd for cwd, _ in read(path)[1]] == ["/a", "/b", "/c", "/d", '/e"f']


def test_a_known_place_is_not_reported_again(path):
    write(path, line(cwd="/a"), line(cwd="/b"))
    assert read(path, None, "/a", "main")[1] == [("/b", "main")]


def test_batches_are_small_and_their_positions_lose_nothing(path):
    many = "".join(lesson(f"{n}") for n in range(BATCH + 50))
    write(path, *(said(many, f"msg_{n}") for n in range(4)))
    whole = [(s.line.offset, s.ordinal) for s in sightings(path)]
    assert len(whole) == 4 * (BATCH + 50)
    seen = set()
    for batch in scan(str(path), None).batches():
        assert 0 < len(batch.sightings) <= BATCH
        seen |= {(s.line.offset, s.ordinal) for s in batch.sightings}
        again = {(s.line.offset, s.ordinal) for s in sightings(path, batch.position)}
        assert seen | again == set(whole)


@pytest.mark.parametrize("signs", [0, 1, 31, 32, 33, 400])
def test_an_opening_is_found_behind_any_number_of_at_signs(path, signs):
    write(path, line(note="@" * signs + "!-@ - @"), said("@" * signs + "!--@ " + lesson("a")))
    assert read(path)[0] == ["a"]
