"""Any bytes go through the split and come back; a fork is cut as its origin was."""

from __future__ import annotations

import itertools
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.store.archive.split import (
    PIECE,
    SplitError,
    Splitter,
    join,
    pieces,
)
from tests.support.archive import as_bytes, conversation, fork_of

UUID = b"0ab96787-666b-4423-b983-6a30353e01f6"
FRAGMENTS = [
    b'"sessionId":"' + UUID + b'"',
    b'"promptId":"' + UUID + b'"',
    b',"requestSessionId":"' + UUID + b'"',
    b'"sessionId":""',
    b'"sessionId":"short"',
    b'"uuid":"x"',
    b',"requestSessionId":"',
    b'{"a":1}\n',
    b"\n",
    b"\0\0\0",
    b"\xff\xfe",
    b"\r\n",
    b'"',
]
BYTES = st.lists(st.sampled_from(FRAGMENTS) | st.binary(max_size=60), max_size=40).map(b"".join)


def split(blocks, before=0):
    splitter = Splitter(before)
    found = [segment for piece in pieces(blocks) if (segment := splitter.feed(piece))]
    return found if splitter.empty else [*found, splitter.flush()]


def joined(segments):
    return b"".join(join(segment.body, segment.own) for segment in segments)


@settings(deadline=None, max_examples=200)
@given(BYTES)
def test_any_bytes_come_back_as_they_were(data):
    assert joined(split([data])) == data


@settings(deadline=None, max_examples=100)
@given(BYTES, st.lists(st.integers(0, 2000), max_size=6))
def test_blocks_cut_anywhere_give_the_same_segments(data, cuts):
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    blocks = [data[a:b] for a, b in itertools.pairwise(edges)]
    assert split(blocks) == split([data])


@pytest.mark.parametrize("size", [PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7])
@pytest.mark.parametrize("end", [b"", b"\n", b"\nmore"])
def test_a_line_of_any_length_comes_back(size, end):
    data = b'{"uuid":"1"}\n' + b"x" * size + end
    assert joined(split([data])) == data
    assert all(len(piece) <= PIECE for piece in pieces([data]))


def test_a_fork_s_copied_lines_are_the_bodies_of_its_origin():
    lines = conversation(1, 800, str(uuid.uuid4()))
    fork = fork_of(lines, str(uuid.uuid4())) + conversation(2, 5, "later")
    one, other = split([as_bytes(lines)]), split([as_bytes(fork)])
    bodies = {segment.body for segment in one}
    shared = sum(len(segment.body) for segment in other if segment.body in bodies)
    assert len(one) > 10
    assert shared > 0.8 * sum(len(segment.body) for segment in one)
    assert joined(other) == as_bytes(fork)


def test_what_two_sessions_never_share_stands_outside_the_body():
    session = str(uuid.uuid4())
    for segment in split([as_bytes(conversation(3, 50, session))]):
        assert session.encode() not in segment.body
        assert b"last-prompt" not in segment.body


@pytest.mark.parametrize("own", [b"\x80", b"\x05", b"\x09\x01a", b"\x00\x05abc", b"\xff" * 12])
def test_an_own_that_does_not_fit_is_refused(own):
    with pytest.raises(SplitError):
        join(b"body", own)
