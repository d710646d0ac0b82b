"""One word of a shell script, put together from its pieces."""

from __future__ import annotations

_PATTERN = frozenset("*?[")
_NO_PATTERNS = ("[", "[[", "{", "{}")  # a command, keywords, and what find and xargs fill in
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_HEX = {"x": 2, "u": 4, "U": 8}


class Word:
    __slots__ = ("equals", "pattern", "plain", "text", "unsure")

    def __init__(self, text: str, unsure: int, plain: bool, equals: int, pattern: bool) -> None:
        self.text = text
        self.unsure = unsure  # where the last unknown expansion ends in ``text``; 0: there is none
        self.plain = plain  # nothing quoted or expanded: it can be a keyword
        self.equals = equals  # where the "=" of an assignment is, or -1
        self.pattern = pattern  # file names or braces may make another word of it


class Maker:
    """Puts one word together; an unquoted expansion may make several, or none, of it."""

    def __init__(self) -> None:
        self.done: list[Word] = []
        self._begin()

    def _begin(self) -> None:
        self.parts: list[str] = []
        self.size = self.unsure_to = 0
        self.plain, self.pattern, self.begun, self.equals = True, False, False, -1

    def add(self, text: str) -> None:
        """Add what is neither quoted nor expanded."""
        if not self.begun and "=" in text:
            self.equals = _assignment(text)
        self.pattern = self.pattern or not _PATTERN.isdisjoint(text) or "{" in text
        self._put(text)

    def quoted(self, text: str) -> None:
        self.plain = False
        self._put(text)

    def unsure(self, text: str) -> None:
        self.quoted(text)
        self.unsure_to = self.size

    def split(self, value: str) -> None:
        """Add the value of an unquoted expansion: blanks in it end words."""
        self.plain = False
        if self.equals >= 0:
            self._put(value)
            return
        fields = value.split()
        for index, field in enumerate(fields):
            if index or value[0].isspace():
                self._end()
            self._put(field)
            self.plain = False
        if fields and value[-1].isspace():
            self._end()

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.size += len(text)
        self.begun = True

    def _end(self) -> None:
        if self.begun:
            text = "".join(self.parts)
            pattern = self.pattern and text not in _NO_PATTERNS
            self.done.append(Word(text, self.unsure_to, self.plain, self.equals, pattern))
        self._begin()

    def words(self) -> list[Word]:
        self._end()
        return self.done


def _assignment(text: str) -> int:
    """Return where the "=" of ``name=``, ``name+=`` or ``name[…]=`` is, else -1."""
    at = text.index("=")
    name = text[:at].removesuffix("+").partition("[")[0]
    return at if name.isidentifier() and name.isascii() else -1


def ansi(text: str, at: int) -> tuple[str, int]:
    """Read the rest of ``$'…'`` from ``at``: what it says, and where it ends."""
    out: list[str] = []
    while at < len(text):
        char = text[at]
        at += 1
        if char == "'":
            break
        if char == "\\":
            char, at = _escape(text, at)
        out.append(char)
    return "".join(out), at


def _escape(text: str, at: int) -> tuple[str, int]:
    char = text[at : at + 1]
    if char in _HEX:
        return _number(text, at + 1, _HEX[char], 16)
    if char and char in "01234567":
        return _number(text, at, 3, 8)
    return _ANSI.get(char, char), at + 1


def _number(text: str, at: int, most: int, base: int) -> tuple[str, int]:
    start, digits = at, "0123456789abcdefABCDEF" if base == 16 else "01234567"
    while at < len(text) and at - start < most and text[at] in digits:
        at += 1
    number = int(text[start:at] or "0", base)
    return (chr(number) if 0 < number < 0x110000 else ""), at
