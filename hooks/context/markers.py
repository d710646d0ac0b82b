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

import re

from hooks.context import prose
from hooks.context.hint import HINT as HINT

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    ``mismatched-close``, ``close-without-open``, ``empty`` or ``unknown-type``.
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


_NAME = r"[A-Za-z][A-Za-z0-9_-]*"
_TOKEN = re.compile(
    rf"(?P<ticks>`+)|<!--[ \t]*(?:@/|/@)(?P<close>{_NAME})[ \t]*-->"
    rf"|<!-- @(?:(?P<head>[A-Za-z](?:(?!-->|<!--).){{0,{MAX_HEADER}}})-->)?"
)
# Compiled where they are needed: most texts need neither.
_ATTRIBUTE = r'(?a)(?<![\w.-])([A-Za-z_][\w.-]*)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))'
_SURROGATE = "[\ud800-\udfff]"


def clean(text: str) -> str:
    """Return ``text`` with every lone surrogate made U+FFFD, so that it can be stored."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub(_SURROGATE, "\ufffd", text)
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
    if "=" not in header:
        return attrs
    for found in re.finditer(_ATTRIBUTE, header):
        name = found[1].lower()
        value = found[3] if found[2] is None else re.sub(r'\\(["\\])', r"\1", found[2])
        if name not in RESERVED and (name != "scope" or value in SCOPES):
            attrs.setdefault(name, clean(value))
    return attrs


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
        for token in _TOKEN.finditer(line):
            inert = reason or (prose.INLINE if token.start() < code_until else "")
            if token["ticks"]:
                code_until = max(code_until, self._span_end(token, spans, inert))
            elif inert:
                self._note_inert(token, offset, inert)
            else:
                self._take(token, offset)
        if reason not in (prose.IN_FENCE, prose.INDENTED, prose.QUOTED):
            self._inert_open = False  # inline code ends with its line

    def _take(self, token: re.Match[str], offset: int) -> None:
        self._inert_open = False
        if token["close"]:
            self._close(token["close"].lower(), offset + token.start(), offset + token.end())
        else:
            self._opener(token, offset)

    @staticmethod
    def _span_end(token: re.Match[str], spans: dict[int, int], inert: str) -> int:
        if inert:
            return 0
        return spans.get(token.start(), spans.get(token.start() + 1, 0))

    def _opener(self, token: re.Match[str], offset: int) -> None:
        start, end = offset + token.start(), offset + token.end()
        name, header = _split(token, self._text, end)
        if name not in TYPES:
            if self._open is None and name and token["head"]:
                self._add(name, start, end, "unknown-type")
            return  # inside an open marker it is part of the text
        if token["head"] is None:
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
            if content:
                marker = Marker(name, content, attributes(opened.header))
                self._found.append(Candidate(name, opened.start, end, "", marker))
            else:
                self._add(name, opened.start, end, "empty")

    def _note_inert(self, token: re.Match[str], offset: int, reason: str) -> None:
        """Note an opener in code; the next token there, if it closes it, completes it."""
        start, end = offset + token.start(), offset + token.end()
        before, self._inert_open = self._inert_open, False
        if not token["close"]:
            name, _ = _split(token, self._text, end)
            if name in TYPES or token["head"]:
                self._inert.append(Candidate(name, start, end, reason, None))
                self._inert_open = True
        elif before:
            last = self._inert[-1]
            if (last.type, last.reason) == (token["close"].lower(), reason):
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


def _split(token: re.Match[str], text: str, end: int) -> tuple[str, str]:
    """Return the lower-case type of an opener and the rest of its header."""
    head = token["head"]
    if head is None:
        found = re.compile(_NAME).match(text, end)
        return (found[0].lower() if found else "", "")
    word, _, rest = head.replace("\t", " ").partition(" ")
    return word.lower(), " " + rest
