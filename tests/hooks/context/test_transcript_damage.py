"""Lines that are half there, or say impossible things: what is whole in them still counts."""

from __future__ import annotations

import json

import pytest

from hooks.context.transcript_lines import MAX_BLOCK, parse
from tests.support.session import compact
from tests.support.transcript import lesson, read, said, sightings, write

WHOLE = said(lesson("whole"), "msg_2").rstrip(b"\n")
TORN = said("before", "msg_1", cwd="/a", toolUseResult={"a": [{"type": "x"}, {"b": {"c": "d"}}]})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "session.jsonl"


def test_a_whole_line_behind_a_half_one_counts_almost_wherever_that_was_torn(path):
    given_up = 0
    for cut in range(1, len(TORN)):
        write(path, TORN[:cut] + WHOLE)
        texts, _, found = read(path)
        if texts:
            assert texts == ["whole"], cut
            assert (found.counts.unparsed, found.counts.resumed) == (1, 1), cut
        else:  # it may be a part of the half one
            assert TORN[:cut].endswith((b":", b"[", b"},")), cut
            given_up += 1
    assert given_up < len(TORN) / 12


def test_a_line_torn_inside_a_text_hides_none_behind_it(path):
    for end in (b"note:", b"a, b,", b"[", b'say \\"', b"\\\\"):
        write(path, TORN[: TORN.index(b"before")] + end + WHOLE)
        assert read(path)[0] == ["whole"], end


def test_several_whole_lines_behind_a_half_one_count(path):
    other = said(lesson("other"), "msg_3").rstrip(b"\n")
    write(path, TORN[:60] + WHOLE + other)
    assert read(path)[0] == ["whole", "other"]


def test_what_stands_inside_a_half_line_is_no_line(path):
    inner = json.loads(said(lesson("inside"), "msg_1"))
    outer = compact({"type": "assistant", "message": {"input": inner}, "uuid": "u"}).rstrip(b"\n")
    for cut in range(1, len(outer)):
        write(path, outer[:cut])
        assert read(path)[0] == [], cut
        write(path, outer[:cut] + WHOLE)
        assert "inside" not in read(path)[0], cut


@pytest.mark.parametrize(
    "raw",
    [
        b'{"' * 200_000,
        b'{"a":[1,' * 50_000,
        b'{"a":"x' * 50_000,
        b'{"a":{}' * 50_000,
        b'{"a":1}x' * 9,
    ],
    ids=["keys", "nested", "quotes", "objects", "whole"],
)
def test_damage_without_a_whole_line_behind_it_is_given_up(raw):
    found = parse(raw)
    assert not found.whole
    assert not found.resumed


@pytest.mark.parametrize("index", [10**30, MAX_BLOCK + 1, -1, True, "1", None, 1.5])
def test_a_block_index_that_is_none_counts_as_the_first(path, index):
    write(path, said(lesson("x"), apiBlockIndex=index))
    assert [seen.block for seen in sightings(path)] == [0]


@pytest.mark.parametrize("name", ["sessionId", "uuid", "gitBranch", "cwd", "requestSessionId"])
def test_a_lone_surrogate_in_any_field_becomes_a_replacement(path, name):
    line = json.loads(said(lesson("x"), ""))
    line |= {name: "a\ud800"}
    path.write_bytes(json.dumps(line).encode() + b"\n")
    (seen,) = sightings(path)
    assert not any("\ud800" in text for text in seen.line if isinstance(text, str))
    _, moves, _ = read(path)
    assert not any("\ud800" in text for move in moves for text in move)
