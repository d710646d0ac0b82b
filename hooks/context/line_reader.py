"""The inner loop of a scan: pass the lines that cannot matter, read the others."""

from __future__ import annotations

from hooks.context.hint import HINT
from hooks.context.known_place import KnownPlace
from scripts.swarm_v2.wire_json import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from hooks.context.line_window import LineWindow
    from hooks.context.transcript import Counts, Moved, Sighted

_BRACE = ord("}")
_LAST, _BEFORE = HINT[-1:], len(HINT) - 1
_AT_SIGNS = 32


class LineReader:
    """Reads one window of lines at a ``step``; what it finds waits in two lists."""

    def __init__(self, window: LineWindow, fd: int, cwd: str, branch: str) -> None:
        self.sightings: list[Sighted] = []
        self.moves: list[Moved] = []
        self.cwd, self.branch = cwd, branch
        self.known = (cwd, branch)  # at ``done``: without an unfinished last line's
        self._window = window
        self._fd = fd
        self._place = KnownPlace()
        self._unparsed = self._nul = self._glued = self._bad_utf8 = self._resumed = 0

    @property
    def done(self) -> int:
        """The offset before which every line was read."""
        return self._window.base + self._window.end

    def counts(self) -> Counts:
        from hooks.context.transcript import Counts

        return Counts(
            self._unparsed,
            self._window.oversized,
            self._nul,
            self._glued,
            self._bad_utf8,
            self._resumed,
        )

    def step(self) -> bool:
        """Read the next lines; False after the file's end.

        There a last line without a newline is read when it is whole JSON, and again next
        time, as it may still grow.
        """
        window = self._window
        if window.advance():
            self._pass_over(window.buffer, window.end)
            return True
        raw = window.unfinished()
        self.known = (self.cwd, self.branch)
        if raw:
            self._consider(raw, 0, len(raw), hinted=HINT in raw, whole_only=True)
        return False

    def _pass_over(self, buffer: bytearray, end: int) -> None:
        find = buffer.find
        hint, nul = _next_hint(buffer, 0, end), _or_end(find(b"\0", 0, end), end)
        start = 0
        while (odd := min(hint, nul)) < end:
            line = max(buffer.rfind(b"\n", start, odd) + 1, start)
            self._skim(buffer, start, line)
            stop = find(b"\n", odd, end)
            before = self._unparsed
            self._consider(buffer, line, stop, hinted=hint < stop)
            self._nul += nul < stop and self._unparsed == before  # a line counts once
            start = stop + 1
            hint = _next_hint(buffer, start, end)
            nul = _or_end(find(b"\0", start, end), end)
        self._skim(buffer, start, end)

    def _skim(self, buffer: bytearray, start: int, end: int) -> None:
        """Pass the lines that hold no opening; the loop of a cold scan, where each call counts.

        Most lines end like one that we know; of the others most are whole and name no folder.
        """
        find, ends, place = buffer.find, buffer.endswith, self._place
        usual = place.usual
        while start < end:
            stop = find(b"\n", start, end)
            if (
                not ends(usual, start, stop)
                and (buffer[stop - 1] != _BRACE or find(b'"cwd"', start, stop) >= 0)
                and not ends(place.tails, start, stop)
            ):
                self._consider(buffer, start, stop, hinted=False)
                usual = place.usual
            start = stop + 1

    def _consider(
        self,
        buffer: bytearray | bytes,
        start: int,
        stop: int,
        *,
        hinted: bool,
        whole_only: bool = False,
    ) -> None:
        """Read one line if it may hold a marker or a move; note whether it is damaged."""
        hinted = hinted and buffer.find(b'"assistant"', start, stop) >= 0
        if hinted or self._place.may_move(buffer, start, stop):
            self._read(bytes(buffer[start:stop]), self._window.base + start, hinted, whole_only)
        elif stop > start and buffer[stop - 1] != _BRACE and not whole_only:
            from hooks.context.transcript_lines import BLANK

            raw = bytes(buffer[start:stop]).strip(BLANK)
            self._unparsed += bool(raw) and not raw.endswith(b"}")

    def _read(self, raw: bytes, offset: int, hinted: bool, whole_only: bool) -> None:
        from hooks.context.transcript_lines import parse

        parsed = parse(raw)
        if not parsed.whole:
            if whole_only:
                return
            self._unparsed += 1
            self._resumed += parsed.resumed
        self._glued += len(parsed.objects) > 1
        self._bad_utf8 += parsed.bad_utf8
        for line in parsed.objects:
            self._follow(line, raw, offset)
            if hinted:
                self._sight(line, offset)

    def _follow(self, line: dict[str, object], raw: bytes, offset: int) -> None:
        cwd, branch = line.get("cwd"), line.get("gitBranch")
        if not isinstance(cwd, str) or not cwd:
            return
        cwd, branch = clean(cwd), clean(branch) if isinstance(branch, str) else self.branch
        if (cwd, branch) != (self.cwd, self.branch):
            from hooks.context.transcript import Moved
            from hooks.context.transcript_lines import session_of

            self.cwd, self.branch = cwd, branch
            at = self._time_of(line, offset)
            self.moves.append(Moved(at, cwd, branch, offset, session_of(line)))
        self._place.learn(raw, cwd, branch)

    def _time_of(self, line: dict[str, object], offset: int) -> datetime | None:
        from hooks.clock import parse_iso
        from hooks.context.lookback import lines_before

        at = parse_iso(line.get("timestamp"))
        if at is None:
            for before in lines_before(self._fd, offset, b'"timestamp"'):
                at = parse_iso(before.get("timestamp"))
                if at is not None:
                    break
        return at

    def _sight(self, line: dict[str, object], offset: int) -> None:
        from hooks.context.markers import OPENING, find
        from hooks.context.transcript import Sighted
        from hooks.context.transcript_lines import describe, text_blocks, why_not

        if why_not(line):
            return
        for block, text in text_blocks(line):
            if OPENING in text:
                found = enumerate(find(text))
                where = describe(line, offset)
                self.sightings.extend(Sighted(where, block, n, item) for n, item in found)


def _next_hint(buffer: bytearray, start: int, end: int) -> int:
    """Return where the next ``HINT`` begins, or ``end``.

    A single byte is searched for five times faster than five, and ``@`` is rare in most texts;
    where it is not, the plain search takes over.
    """
    find, ends = buffer.find, buffer.endswith
    low = start
    for _ in range(_AT_SIGNS):
        at = find(_LAST, start, end)
        if at < 0:
            return end
        start = at + 1
        if ends(HINT, low, start):
            return at - _BEFORE
    return _or_end(find(HINT, start, end), end)


def _or_end(index: int, end: int) -> int:
    return index if index >= 0 else end
