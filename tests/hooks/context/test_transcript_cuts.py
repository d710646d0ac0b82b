"""A transcript may end anywhere when we read it, and be anything when we read it again."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hooks.context.hint import HINT
from hooks.context.known_place import KnownPlace
from hooks.context.line_window import CHUNK, LineWindow
from hooks.context.position import position_at, valid
from hooks.context.transcript import scan
from tests.support.transcript import lesson, line, said

FILE = b"".join(
    part + b"\n"
    for part in [
        line("user", cwd="/a", timestamp="2026-11-30T10:00:00Z"),
        said("é " + lesson("one") + " 😀 " + lesson("two"), n=1),
        said(lesson("glued")) + said("`" + lesson("no") + "`", "msg_2", cwd="/b"),
        b"{torn " + HINT,
        b"\0" * 9,
        b"",
        said(
            [{"type": "text", "text": lesson("b1")}, {"type": "text", "text": lesson("b2")}], "m3"
        ),
        line("user", cwd="/b", gitBranch="fix", timestamp=...),
        said("<!-- @lesson -->open", "m4", cwd="/b", gitBranch="fix"),
        said("close<!-- @/lesson -->", "m5", cwd="/b", gitBranch="fix", timestamp="no"),
    ]
)


class Reader:
    """Scans the same file again and again as an event would, from what the last one left."""

    def __init__(self, path):
        self.path, self.position, self.cwd, self.branch = path, None, "", ""
        self.sightings: list[object] = []
        self.moves: list[object] = []

    def scan(self):
        found = scan(str(self.path), self.position, cwd=self.cwd, branch=self.branch)
        for batch in found.batches():
            self.sightings += batch.sightings
            self.moves += batch.moves
        self.position, self.cwd, self.branch = found.position, found.cwd, found.branch
        return self


def once(items):
    """Drop repetitions, which only a last line without a newline may give."""
    return list(dict.fromkeys(map(repr, items)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "t.jsonl"
    path.write_bytes(FILE)
    found = Reader(path).scan()
    assert len(found.sightings) == 8
    places = [f"{move.cwd} {move.branch}" for move in found.moves]
    assert places == ["/a main", "/home/dev/proj main", "/b main", "/home/dev/proj main", "/b fix"]
    return found


def grow(path, cuts):
    reader = Reader(path)
    path.write_bytes(b"")
    reader.scan()
    for low, high in zip([0, *cuts], [*cuts, len(FILE)], strict=True):
        with path.open("ab") as file:
            file.write(FILE[low:high])
        reader.scan()
    return reader


def test_cut_at_every_byte_it_gives_the_same_sightings_and_moves(tmp_path, whole):
    for cut in range(len(FILE) + 1):
        found = grow(tmp_path / "t.jsonl", [cut])
        assert once(found.sightings) == once(whole.sightings), cut
        assert once(found.moves) == once(whole.moves), cut
        assert found.position.offset == len(FILE), cut
        if FILE[:cut].endswith(b"\n"):
            assert len(found.sightings) == len(whole.sightings), cut


@given(st.lists(st.integers(0, len(FILE)), max_size=8).map(sorted))
@settings(deadline=None, max_examples=100)
def test_any_sequence_of_cuts_gives_the_same(tmp_path_factory, whole, cuts):
    found = grow(tmp_path_factory.mktemp("cuts") / "t.jsonl", cuts)
    assert once(found.sightings) == once(whole.sightings)
    assert once(found.moves) == once(whole.moves)


def test_whatever_is_written_over_it_a_scan_ends_with_all_that_is_there(tmp_path):
    rng = random.Random(20261130)
    path = tmp_path / "t.jsonl"
    reader = Reader(path)
    for _ in range(300):
        path.write_bytes(_mangled(rng))
        if rng.random() < 0.2:
            path.unlink()
        reader.scan()
        assert reader.position == Reader(path).scan().position


def _mangled(rng):
    data = bytearray(FILE * rng.randrange(1, 4))
    for _ in range(rng.randrange(6)):
        at = rng.randrange(len(data))
        what = rng.randrange(4)
        if what == 0:
            del data[at : at + rng.randrange(200)]
        elif what == 1:
            data[at : at + 3] = rng.randbytes(3)
        elif what == 2:
            data[at:at] = rng.choice([b"\n", b"\0" * 50, b'"', b"{", b"\xff", HINT])
        else:
            del data[max(at, 1) :]
    return bytes(data)


def test_every_change_of_the_first_or_last_4_kib_voids_a_position(tmp_path):
    path = tmp_path / "t"
    data = bytes(range(256)) * 64
    path.write_bytes(data)
    with path.open("rb") as file:
        position = position_at(file.fileno(), len(data))
        assert valid(position, file.fileno())
        for at in (0, 1, 4095, len(data) - 4096, len(data) - 1):
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
            assert not valid(position, file.fileno()), at
        path.write_bytes(data[:5000] + b"?" + data[5001:])
        assert valid(position, file.fileno())  # what it cannot see, as it says


@given(st.lists(st.integers(0, 3 * CHUNK), max_size=6), st.booleans())
@settings(deadline=None, max_examples=50)
def test_a_window_gives_every_line_once_in_order(tmp_path_factory, sizes, ends):
    lines = [bytes([65 + n]) * size for n, size in enumerate(sizes)]
    path = tmp_path_factory.mktemp("window") / "t"
    path.write_bytes(b"\n".join(lines) + (b"\n" if ends else b""))
    seen = b""
    with path.open("rb", buffering=0) as file:
        window = LineWindow(file, 0)
        while window.advance():
            assert window.base == len(seen)
            seen += window.buffer[: window.end]
        assert window.base == len(seen)
        seen += window.unfinished()
        assert len(window.buffer) <= 10 * CHUNK
    assert seen == path.read_bytes()


def test_a_line_is_passed_over_only_where_it_proves_that_nothing_moved():
    place = KnownPlace()
    known = line(cwd="/a", gitBranch="main")
    assert place.may_move(known, 0, len(known))
    place.learn(known, "/a", "main")
    assert place.tails == (place.usual,)
    assert known.endswith(place.usual)
    for moved in (
        line(cwd="/b", gitBranch="main"),
        line(cwd="/ab", gitBranch="main"),
        line(cwd="/a", gitBranch="fix"),
        line(cwd="/a", gitBranch="main", tool={"cwd": "/c"}),
    ):
        assert place.may_move(moved, 0, len(moved))
    for same in (known, line(cwd=...), line(cwd="/a", gitBranch=...)):
        assert not place.may_move(same, 0, len(same))


def test_a_branch_written_before_the_folder_is_never_proven_by_the_tail():
    place = KnownPlace()
    place.learn(b'{"gitBranch":"main","cwd":"/a"}', "/a", "main")
    assert place.tails == ()
    moved = b'{"gitBranch":"fix","cwd":"/a"}'
    assert place.may_move(moved, 0, len(moved))
