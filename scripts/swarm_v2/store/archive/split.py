"""Cut a transcript into segments that a fork's copy of it cuts alike. Pure.

A fork repeats its origin's lines under a new ``sessionId`` and, on user lines, a new
``promptId``; its copied assistant lines end in ``requestSessionId``; the client's bookkeeping
lines, which have no ``uuid``, are not repeated. Those parts are taken out of the *body*; what
was taken and where is the *own*. Putting back goes by position, so any bytes come back as they
were: a wrong guess costs sharing, never a byte. Lines written with blanks behind the colons
share nothing.
"""

from __future__ import annotations

import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

PIECE = 1 << 20  # bytes; a longer line is cut there
MOST = 1 << 20  # raw bytes after which a segment ends wherever the next piece does
SMALLEST, LARGEST = 16 << 10, 512 << 10  # body bytes of a usual segment: see _target
_GROWTH = 3  # a segment's size is an eighth of what is before it
_UUID = b'"uuid":"'
_ONE = tuple(bytes((number,)) for number in range(128))
_ID = 36  # a UUID as text
_START, _END = 512, 1024  # bytes of a line in which the client writes these; others stay
_SESSION, _PROMPT, _REQUEST = b'"sessionId":"', b'"promptId":"', b',"requestSessionId":"'


class Segment(NamedTuple):
    """A stretch of a transcript: ``join(body, own)`` is its ``size`` raw bytes."""

    body: bytes
    own: bytes
    size: int
    crc: int  # CRC-32 of the raw bytes


class SplitError(ValueError):
    """Body and own do not belong together, or one of them is damaged."""


def pieces(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines with their newline; of a line longer than ``PIECE`` parts of that size.

    The last one may have no newline. ``blocks`` may be cut anywhere; the pieces are the same.
    """
    rest = b""
    for block in blocks:
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        for line in lines:
            if len(line) < PIECE:
                yield line + b"\n"
            else:
                yield from _parts(line + b"\n")
        while len(rest) > PIECE:
            yield rest[:PIECE]
            rest = rest[PIECE:]
    if rest:
        yield rest


def _parts(line: bytes) -> Iterator[bytes]:
    while len(line) > PIECE:
        yield line[:PIECE]
        line = line[PIECE:]
    yield line


class Splitter:
    """Feed pieces in order; a whole segment comes back when a piece ends one.

    ``before`` is how many body bytes the transcript's earlier segments have.
    """

    def __init__(self, before: int = 0) -> None:
        self._before = before
        self._start()

    def _start(self) -> None:
        self._body: list[bytes] = []
        self._own: list[bytes] = []
        self._length = self._gap = self._size = self._crc = 0

    @property
    def empty(self) -> bool:
        return not self._size

    def feed(self, piece: bytes) -> Segment | None:
        self._size += len(piece)
        self._crc = zlib.crc32(piece, self._crc)
        ends = False
        if piece.rfind(_UUID) >= 0:  # from its end: that is where it stands
            kept = self._take(piece)
            ends = self._ends(kept)
        else:
            self._note(piece)
        return self.flush() if ends or self._size >= MOST else None

    def flush(self) -> Segment:
        """End the segment here, whatever it holds."""
        body = b"".join(self._body)
        segment = Segment(body, b"".join(self._own), self._size, self._crc)
        self._before += len(body)
        self._start()
        return segment

    def _take(self, piece: bytes) -> bytes:
        cuts = _cuts(piece)
        parts, done = [], 0
        for start, end in cuts:
            parts.append(piece[done:start])
            self._gap += start - done
            self._note(piece[start:end])
            done = end
        self._gap += len(piece) - done
        parts.append(piece[done:])
        kept = b"".join(parts)
        self._body.append(kept)
        self._length += len(kept)
        return kept

    def _note(self, own: bytes) -> None:
        self._own += (_varint(self._gap), _varint(len(own)), own)
        self._gap = 0

    def _ends(self, kept: bytes) -> bool:
        target = _target(self._before)
        # Every line begins with its parent's id, so its beginning is enough to tell it apart.
        return self._length >= target // 4 and zlib.crc32(kept[:_START]) % target < len(kept)


def _cuts(piece: bytes) -> list[tuple[int, int]]:
    """Return where a line has what a fork changes, in order, never overlapping."""
    found = []
    at = piece.find(_PROMPT, 0, _START)
    if at >= 0:
        found.append((at + len(_PROMPT), at + len(_PROMPT) + _ID))
    late = max(len(piece) - _END, 0)
    at = piece.rfind(_SESSION, late)
    if at >= 0:
        found.append((at + len(_SESSION), at + len(_SESSION) + _ID))
    at = piece.rfind(_REQUEST, max(late, len(piece) - 2 * len(_REQUEST) - _ID))
    if at >= 0:
        found.append((at, at + len(_REQUEST) + _ID + 1))
    done, cuts = 0, []
    for start, end in sorted(found):
        last = end if piece[end - 1 : end] != b'"' else end - 1
        if start >= done and piece[last : last + 1] == b'"':
            cuts.append((start, end))
            done = end
    return cuts


def _target(before: int) -> int:
    """Return the usual body size of the segment that begins behind ``before`` body bytes.

    Small at the start, so that short sessions share with their forks; a power of two, so that
    two files that differ by a few lines at the start agree nearly everywhere.
    """
    wanted = 1 << max(before >> _GROWTH, 1).bit_length()
    return min(max(wanted, SMALLEST), LARGEST)


def join(body: bytes, own: bytes) -> bytes:
    """Return the raw bytes of a segment.

    Raises:
        SplitError: ``own`` reaches behind the end of ``body`` or of itself.
    """
    parts: list[bytes] = []
    at = place = 0
    while place < len(own):
        gap, place = _read_varint(own, place)
        length, place = _read_varint(own, place)
        if at + gap > len(body) or place + length > len(own):
            raise SplitError("the parts of a segment do not fit together")
        parts += (body[at : at + gap], own[place : place + length])
        at, place = at + gap, place + length
    parts.append(body[at:])
    return b"".join(parts)


def _varint(number: int) -> bytes:
    if number < 128:
        return _ONE[number]
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while place < len(data) and shift < 64:
        byte = data[place]
        number |= (byte & 0x7F) << shift
        place += 1
        if byte < 0x80:
            return number, place
        shift += 7
    raise SplitError("the parts of a segment do not fit together")
