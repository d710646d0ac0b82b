r"""The grammar of markers: what an agent writes in its own prose to be kept.

``<!-- @TYPE attr=value attr="two words" -->text<!-- @/TYPE -->``; the closer may also be
``<!-- /@TYPE -->``. Decisions, each of which loses the least:

- An opener begins with exactly ``<!-- @`` (the byte search looks for it) and its comment ends
  at the first ``-->`` of the same line, quoted or not; a header longer than ``MAX_HEADER``
  characters, or one that holds ``<!--``, is none.
- The text may hold newlines, quotes, ``-->`` and other HTML comments, also markers of unknown
  types. Markers never nest: an opener inside an open marker makes the first *unclosed* and
  counts itself; the closer of another type ends the open marker as *mismatched-close*.
- What stands in code or quotation (``prose``) is inert: it neither opens nor closes.
- Types and attribute names are folded to lower case; the first of two equal attributes wins.
- A value is bare (up to a blank or quote) or in double quotes, where ``\"`` and ``\\`` stand
  for a quote and a backslash and every other backslash for itself. Words without ``=`` are
  dropped.
"""

from __future__ import annotations

from hooks.context import prose
from hooks.context.hint import EXAMPLE
from hooks.context.hint import HINT as HINT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

OPENING = "<" + HINT.decode("ascii")
MAX_HEADER = 4096


class MarkerType(NamedTuple):
    """One kind of thought worth keeping. Adding one is a row and its samples."""

    name: str
    meaning: str


MARKER_TYPES = (
    MarkerType("lesson", "something learned that will be true next time"),
    MarkerType("decision", "a choice that was made, and why"),
    MarkerType("signal", "something that others should hear about"),
    MarkerType("milestone", "something that is finished"),
)
TYPES = {row.name: row for row in MARKER_TYPES}
SCOPES = frozenset({"user", "session", "project"})

# Only the sender sets these: what the model writes under such a name is dropped.
RESERVED = frozenset(
    {
        *("ts", "class", "source", "attribution", "session", "session_id", "message_id"),
        *("prompt_id", "transition_id", "sequence", "project", "repo", "worktree", "cwd"),
        *("remote", "branch", "swarm", "task", "task_revision", "lane", "principal"),
        *("agent_name", "key", "idempotency_key", "namespace", "installation", "brain"),
        *("accepted", "state"),
    }
)


class Marker(NamedTuple):
    """A marker that counts: clean text (stripped, no lone surrogate), kept attributes."""

    type: str
    content: str
    attrs: dict[str, str]


class Candidate(NamedTuple):
    """One place that looks like a marker: ``text[start:end]``.

    ``reason`` is empty when it is taken (then, and only then, ``marker`` is set), else
    ``in-code-fence``, ``indented-code``, ``inline-code``, ``quoted``, ``unclosed``,
    ``mismatched-close``, ``close-without-open``, ``empty``, ``example`` or
    ``unknown-type``.
    """

    type: str
    start: int
    end: int
    reason: str
    marker: Marker | None


class Survey(NamedTuple):
    """What a text holds, and where a marker is still open at its end (-1: nowhere)."""

    candidates: list[Candidate]
    open_at: int


# ``re`` costs as much as an interpreter start, so tokens and attributes are read by hand.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_IN_TYPE = frozenset(_LETTERS + "0123456789_-")
_IN_ATTRIBUTE = _IN_TYPE | {"."}
_STARTS_ATTRIBUTE = frozenset(_LETTERS + "_")
_ENDS_BARE = frozenset(' \t\n\r\f\v"')


_TICKS, _CLOSE, _OPEN, _TORN = "ticks", "close", "open", "torn"  # kinds of tokens


class Token(NamedTuple):
    """What the scanner stops at: a run of backticks, the closer of a type, or an opener.

    ``text`` is the type that a closer closes, or what an opener has before its ``-->``. An
    opener without a good end is *torn*: only its ``<!-- @`` is the token.
    """

    start: int
    end: int
    kind: str
    text: str


def tokens(line: str) -> Iterator[Token]:
    """Yield the tokens of one line from left to right.

    No token reaches over the next ``<!--``, so each piece between two is read once.
    """
    at = 0
    for piece in line.split("<!--"):
        stop = at + len(piece)
        if at:
            token = _comment(piece, at)
            if token is not None:
                yield token
                at = token.end
        for start, end in prose.runs(line, at, stop):
            yield Token(start, end, _TICKS, "")
        at = stop + 4


def _comment(piece: str, at: int) -> Token | None:
    """Read the closer or opener whose ``<!--`` stands before ``piece``, which begins at ``at``."""
    end = piece.find("-->")
    said = piece[:end].strip(" \t") if end >= 0 else ""
    if said[:2] in ("@/", "/@"):
        name = said[2:]
        if name[:1] in _LETTERS and name and _IN_TYPE.issuperset(name):
            return Token(at - 4, at + end + 3, _CLOSE, name.lower())
    if not piece.startswith(" @"):
        return None
    # one letter and MAX_HEADER characters
    if piece[2:3] in _LETTERS and 3 <= end <= MAX_HEADER + 3:
        return Token(at - 4, at + end + 3, _OPEN, piece[2:end])
    return Token(at - 4, at + 2, _TORN, "")


def clean(text: str) -> str:
    """Return ``text`` with every lone surrogate made U+FFFD, so that it can be stored."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in text)
    return text


def find(text: str) -> list[Candidate]:
    """Return every candidate of one assistant text block, in order, never overlapping."""
    return survey(text).candidates


def survey(text: str) -> Survey:
    """Find, and say whether the text ends inside a marker. Linear in the text's length."""
    if "<!--" not in text:
        return Survey([], -1)
    finder = _Finder(text)
    rules = prose.LineRules()
    start = 0
    while start <= len(text):
        stop = text.find("\n", start)
        stop = len(text) if stop < 0 else stop
        line = text[start:stop]
        reason = rules.reason(line)
        if "<!--" in line:
            finder.read_line(line, start, reason)
        start = stop + 1
    return finder.finish()


def attributes(header: str) -> dict[str, str]:
    """Read the attributes behind a type; reserved ones and scopes we do not know are dropped."""
    attrs: dict[str, str] = {}
    at = header.find("=")
    start = 0  # nothing before it belongs to a name
    while at >= 0:
        first = at
        while first > start and header[first - 1] in _IN_ATTRIBUTE:
            first -= 1
        start = at + 1
        if first < at and header[first] in _STARTS_ATTRIBUTE:
            name = header[first:at].lower()
            value, start = _value(header, start)
            if name not in RESERVED and (name != "scope" or value in SCOPES):
                attrs.setdefault(name, clean(value))
        at = header.find("=", start)
    return attrs


def _value(header: str, start: int) -> tuple[str, int]:
    """Return the value that begins at ``start``, and where what follows it begins."""
    end = start + 1
    if header.startswith('"', start):
        while end < len(header) and header[end] != '"':
            end += 2 if header[end] == "\\" else 1
        if end < len(header):
            pairs = header[start + 1 : end].split("\\\\")
            return "\\".join(pair.replace('\\"', '"') for pair in pairs), end + 1
    end = start
    while end < len(header) and header[end] not in _ENDS_BARE:
        end += 1
    return header[start:end], end


class _Open(NamedTuple):
    type: str
    header: str
    start: int
    end: int


class _Finder:
    """The state of one pass: the marker that is open, if any, and what was decided."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[Candidate] = []
        self._inert: list[Candidate] = []
        self._inert_open = False  # the last of them may still get its closer
        self._open: _Open | None = None

    def read_line(self, line: str, offset: int, reason: str) -> None:
        """Take the tokens of one line; ``reason`` is why nothing on it counts, or empty."""
        spans = {} if reason else prose.closing_runs(line)
        code_until = 0
        for token in tokens(line):
            inert = reason or (prose.INLINE if token.start < code_until else "")
            if token.kind == _TICKS:
                code_until = max(code_until, self._span_end(token, spans, inert))
            elif inert:
                self._note_inert(token, offset, inert)
            else:
                self._take(token, offset)
        if reason not in (prose.IN_FENCE, prose.INDENTED, prose.QUOTED):
            self._inert_open = False  # inline code ends with its line

    def _take(self, token: Token, offset: int) -> None:
        self._inert_open = False
        if token.kind == _CLOSE:
            self._close(token.text, offset + token.start, offset + token.end)
        else:
            self._opener(token, offset)

    @staticmethod
    def _span_end(token: Token, spans: dict[int, int], inert: str) -> int:
        if inert:
            return 0
        return spans.get(token.start, spans.get(token.start + 1, 0))

    def _opener(self, token: Token, offset: int) -> None:
        start, end = offset + token.start, offset + token.end
        name, header = _split(token, self._text, end)
        if name not in TYPES:
            if self._open is None and name and token.kind == _OPEN:
                self._add(name, start, end, "unknown-type")
            return  # inside an open marker it is part of the text
        if token.kind == _TORN:
            if self._open is None:
                self._add(name, start, end + len(name), "unclosed")
            return
        self._abandon()
        self._open = _Open(name, header, start, end)

    def _close(self, name: str, start: int, end: int) -> None:
        if name not in TYPES:
            return
        opened, self._open = self._open, None
        if opened is None:
            self._add(name, start, end, "close-without-open")
        elif opened.type != name:
            self._add(opened.type, opened.start, end, "mismatched-close")
        else:
            content = clean(self._text[opened.end : start]).strip()
            if content == EXAMPLE:
                self._add(name, opened.start, end, "example")
            elif content:
                marker = Marker(name, content, attributes(opened.header))
                self._found.append(Candidate(name, opened.start, end, "", marker))
            else:
                self._add(name, opened.start, end, "empty")

    def _note_inert(self, token: Token, offset: int, reason: str) -> None:
        """Note an opener in code; the next token there, if it closes it, completes it."""
        start, end = offset + token.start, offset + token.end
        before, self._inert_open = self._inert_open, False
        if token.kind != _CLOSE:
            name, _ = _split(token, self._text, end)
            if name in TYPES or token.kind == _OPEN:
                self._inert.append(Candidate(name, start, end, reason, None))
                self._inert_open = True
        elif before:
            last = self._inert[-1]
            if (last.type, last.reason) == (token.text, reason):
                self._inert[-1] = last._replace(end=end)

    def _abandon(self) -> None:
        if self._open is not None:
            self._add(self._open.type, self._open.start, self._open.end, "unclosed")

    def _add(self, name: str, start: int, end: int, reason: str) -> None:
        self._found.append(Candidate(name, start, end, reason, None))

    def finish(self) -> Survey:
        self._abandon()
        open_at = -1 if self._open is None else self._open.start
        merged = sorted(self._found + self._inert, key=lambda item: item.start)
        kept: list[Candidate] = []
        for item in merged:  # what stands inside another candidate is part of its text
            if not kept or item.start >= kept[-1].end:
                kept.append(item)
        return Survey(kept, open_at)


def _split(token: Token, text: str, end: int) -> tuple[str, str]:
    """Return the lower-case type of an opener and the rest of its header."""
    if token.kind == _TORN:
        stop = end
        while text[stop : stop + 1] in _IN_TYPE:
            stop += 1
        return (text[end:stop].lower() if text[end:stop][:1] in _LETTERS else "", "")
    word, _, rest = token.text.replace("\t", " ").partition(" ")
    return word.lower(), " " + rest
