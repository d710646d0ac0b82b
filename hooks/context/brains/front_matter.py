"""Markdown with front matter, as one pure pair: ``encode`` writes it, ``parse`` reads it.

The front matter is the part of YAML that people write there: between two ``---`` lines one
``name: value`` a line, ``#`` comments, values plain, ``'single'`` or ``"double"`` quoted. Lists,
maps and block texts of names that are not ours are kept and not read (``Page.odd``). A text that
would not come back from a Markdown body as it was (blanks around it, carriage returns, control
characters, lines like git's conflict marks) stands quoted in the field ``text`` instead.
"""

from __future__ import annotations

from scripts.swarm_v2.wire_json import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

FENCE = "---"
TEXT = "text"
NO_FRONT_MATTER = "no front matter"
CONFLICT = "git conflict marks in it"
_BOM = b"\xef\xbb\xbf"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset("0123456789")
_HEX = _DIGITS | frozenset("abcdefABCDEF")
_NAME = _LETTERS | _DIGITS | frozenset("_-")
_PLAIN = _NAME | frozenset("./@+,() :")
# Other YAML readers take these words for something that is no text.
_WORDS = frozenset(["null", "yes", "no", "on", "off", "y", "n"])
_NOTHING = frozenset(["null", "Null", "NULL", "~"])  # bare: as if nothing stood there
_NO_TEXT = frozenset("[{|>&*!%@`")  # what begins a list, a map, a block, a tag
_UNSEEN = frozenset("\x7f\u2028\u2029\ufeff") | {chr(code) for code in range(0x80, 0xA0)}
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_MEANINGS = {
    **{letter: letter for letter in '"\\/ '},
    **{"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"},
    **{"e": "\x1b", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"},
}
_WIDTHS = {"x": 2, "u": 4, "U": 8}


class Page(NamedTuple):
    """A file, read. ``odd`` names what has another value than one text; it is not in ``fields``."""

    fields: dict[str, str]
    odd: tuple[str, ...]
    body: str  # without the blanks around it


class _FlawError(ValueError):
    """Why a page cannot be read, in words."""

    def __init__(self, where: int | str, what: str) -> None:
        super().__init__(f"line {where} {what}" if isinstance(where, int) else f"{where} {what}")


def parse(data: bytes) -> Page | str:
    """Return the page, or in words why it is none. A byte order mark and CRLF are tolerated."""
    try:
        lines = _lines(data)
    except UnicodeDecodeError:
        return "not UTF-8"
    if has_conflict_marks(lines):
        return CONFLICT
    if lines[0].rstrip() != FENCE:
        return NO_FRONT_MATTER
    end = _end(lines)
    if end < 0:
        return "its front matter has no end"
    try:
        fields, odd = _fields(lines[1:end])
    except _FlawError as flaw:
        return str(flaw)
    quoted = fields.pop(TEXT, "")
    return Page(fields, odd, "\n".join(lines[end + 1 :]).strip() or quoted)


def encode(fields: Mapping[str, str], body: str) -> bytes:
    """Return the file that ``parse`` reads as these fields and this body; ``text`` is no field."""
    body = clean(body)
    if not _stands_as_it_is(body):
        fields, body = {**fields, TEXT: body}, ""
    lines = [FENCE, *(f"{_name(name)}: {_value(value)}" for name, value in fields.items()), FENCE]
    lines += ["", body] if body else []
    return ("\n".join(lines) + "\n").encode("utf-8")


def set_fields(data: bytes, changes: Mapping[str, str | None]) -> bytes:
    """Return ``data`` with these fields set, or None: gone; every other byte stays as it was.

    A name that stands there with capitals is the one meant, unless the name itself does too.

    Raises:
        ValueError: it is no page, or one of them has more than one line there.
    """
    found = parse(data)
    if isinstance(found, str):
        raise ValueError(found)
    if any(name in changes or name.lower() in changes for name in found.odd):
        raise ValueError("a field of several lines")
    mark = data[: len(data) - len(data.removeprefix(_BOM))]
    lines = data[len(mark) :].decode("utf-8").split("\n")
    ending = "\r" if lines[0].endswith("\r") else ""
    end = _end([line.removesuffix("\r") for line in lines])
    at = {_name_on(lines[number]): number for number in range(1, end)}
    at = {**{name.lower(): number for name, number in at.items()}, **at}
    new = [f"{_name(n)}: {_value(v)}{ending}" for n, v in changes.items() if v and n not in at]
    lines[end:end] = new
    for name, value in changes.items():
        if name in at:
            lines[at[name]] = f"{_name(name)}: {_value(value)}{ending}" if value else ""
    gone = {at[name] for name, value in changes.items() if name in at and not value}
    kept = [line for number, line in enumerate(lines) if number not in gone]
    return mark + "\n".join(kept).encode("utf-8")


def has_conflict_marks(lines: Sequence[str]) -> bool:
    """Say whether lines stand there as git leaves them where a merge failed, in their order."""
    wanted = ["<<<<<<< ", "=======", ">>>>>>> "]
    for line in lines:
        if line.startswith(wanted[0]):
            del wanted[0]
            if not wanted:
                return True
    return False


def _lines(data: bytes) -> list[str]:
    text = data.removeprefix(_BOM).decode("utf-8")
    return [line.removesuffix("\r") for line in text.split("\n")]


def _end(lines: Sequence[str]) -> int:
    for number in range(1, len(lines)):
        if lines[number].rstrip() in (FENCE, "..."):
            return number
    return -1


def _stands_as_it_is(body: str) -> bool:
    if body != body.strip() or has_conflict_marks(body.split("\n")):
        return False
    return not any(letter < " " and letter not in "\n\t" for letter in body)


# Reading.


def _fields(lines: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    fields: dict[str, str] = {}
    odd: dict[str, None] = {}
    last = ""
    for number, line in enumerate(lines, 2):
        if _is_aside(line):
            continue
        if _goes_on(line):
            if not last:
                raise _FlawError(number, "belongs to no name")
            fields.pop(last, None)
            odd[last] = None
            continue
        last, raw = _split(line, number)
        if last in fields or last in odd:
            raise _FlawError(last, "stands there twice")
        if raw[:1] in _NO_TEXT and raw:
            odd[last] = None
        else:
            fields[last] = _read(raw, number)
    return fields, tuple(odd)


def _is_aside(line: str) -> bool:
    return not line.strip() or line.lstrip()[0] == "#"


def _goes_on(line: str) -> bool:
    """Say whether the line belongs to the name above it."""
    return line[0] in " \t]}" or line == "-" or line.startswith("- ")


def _split(line: str, number: int) -> tuple[str, str]:
    """Return the name and the raw value of ``name: value``."""
    if line[0] in "\"'":
        name, rest = _quoted(line, number)
        rest = rest.lstrip()
    else:
        name, colon, rest = line.partition(":")
        name, rest = name.rstrip(), colon + rest
    if not name or not rest.startswith(":") or rest[1:2] not in ("", " ", "\t"):
        raise _FlawError(number, "is not `name: value`")
    return name, rest[1:].strip()


def _name_on(line: str) -> str:
    """Return the name that a line of a readable front matter begins with, "" for none."""
    line = line.removesuffix("\r")
    return "" if _is_aside(line) or _goes_on(line) else _split(line, 0)[0]


def _read(raw: str, number: int) -> str:
    if raw[:1] not in ('"', "'"):
        if raw.startswith("#"):
            return ""
        bare = raw.partition(" #")[0].rstrip()
        return "" if bare in _NOTHING else bare
    value, rest = _quoted(raw, number)
    if rest.strip() and not (rest[0] in " \t" and rest.lstrip()[0] == "#"):
        raise _FlawError(number, "has something behind its quotes")
    return value


def _quoted(raw: str, number: int) -> tuple[str, str]:
    """Return the text inside the quotes that ``raw`` begins with, and what stands behind them."""
    if raw[0] == "'":
        parts: list[str] = []
        rest = raw[1:]
        while True:
            part, quote, rest = rest.partition("'")
            parts.append(part)
            if not quote:
                raise _FlawError(number, "has quotes that do not end")
            if not rest.startswith("'"):
                return "".join(parts), rest
            parts.append("'")
            rest = rest[1:]
    return _double(raw, number)


def _double(raw: str, number: int) -> tuple[str, str]:
    end = raw.find('"', 1)
    if end > 0 and raw.find("\\", 1, end) < 0:  # nearly every one: nothing is escaped
        return clean(raw[1:end]), raw[end + 1 :]
    out: list[str] = []
    at = 1
    while at < len(raw):
        letter = raw[at]
        at += 1
        if letter == '"':
            return clean("".join(out)), raw[at:]
        if letter == "\\":
            letter, at = _escape(raw, at, number)
        out.append(letter)
    raise _FlawError(number, "has quotes that do not end")


def _escape(raw: str, at: int, number: int) -> tuple[str, int]:
    sign = raw[at : at + 1]
    if sign in _MEANINGS:
        return _MEANINGS[sign], at + 1
    width = _WIDTHS.get(sign, 0)
    digits = raw[at + 1 : at + 1 + width]
    if not width or len(digits) < width or not _HEX.issuperset(digits):
        raise _FlawError(number, "has an escape that means nothing")
    code = int(digits, 16)
    return (chr(code) if code <= 0x10FFFF else "\ufffd"), at + 1 + width


# Writing.


def _name(name: str) -> str:
    return name if name[:1] in _LETTERS and name and _NAME.issuperset(name) else _quote(name)


def _value(value: str) -> str:
    return value if _is_plain(value) else _quote(value)


def _is_plain(value: str) -> bool:
    """Say whether every reader of YAML takes the bare value for this text (or small number)."""
    if _DIGITS.issuperset(value):
        return 0 < len(value) < 10 and (value[0] != "0" or value == "0")
    if value[0] not in _LETTERS or not _PLAIN.issuperset(value) or value[-1] in " :":
        return False
    return ": " not in value and value.lower() not in _WORDS


def _quote(value: str) -> str:
    out = []
    for letter in clean(value):
        if letter in _ESCAPES:
            out.append(_ESCAPES[letter])
        elif letter < " " or letter in _UNSEEN:
            out.append(f"\\u{ord(letter):04x}")
        else:
            out.append(letter)
    return '"' + "".join(out) + '"'
