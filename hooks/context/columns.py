"""Text for one line of a terminal: pure. Nothing that comes out steers it or is wider than said.

Branches and projects are named by others: control characters, marks that turn the direction,
joiners and variation selectors go; of stacked accents one stays. A wide character counts two.
"""

from __future__ import annotations

CUT = "…"
_MOST = 400  # characters of a text that are looked at


def clean(text: str) -> str:
    """Return ``text`` as one line of printable characters, blanks folded."""
    text = text[:_MOST]
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    plain = "".join(map(_plain, text))
    kept: list[str] = []
    stacked = 0
    for char in plain:
        stacked = 0 if _width(char) else stacked + 1
        if stacked <= 1:
            kept.append(char)
    return " ".join("".join(kept).split())


def _plain(char: str) -> str:
    if "\ufe00" <= char <= "\ufe0f":  # they would change how wide the character before them is
        return ""
    return char if char.isprintable() else " " if char.isspace() else ""


def width(text: str) -> int:
    """Return how many columns a clean text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def fit(text: str, columns: int) -> str:
    """Return ``text``, cut with ``…`` where it is wider than ``columns``."""
    if width(text) <= columns:
        return text
    taken, left = [], columns - 1
    for char in text:
        left -= _width(char)
        if left < 0:
            break
        taken.append(char)
    return ("".join(taken).rstrip() + CUT)[: max(columns, 0)]


def _width(char: str) -> int:
    if char.isascii():
        return 1
    from unicodedata import category, east_asian_width

    if category(char) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(char) in ("W", "F") else 1
