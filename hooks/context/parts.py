"""A text longer than a brain takes, in numbered parts that put together give the same text."""

from __future__ import annotations

from scripts.swarm_v2.digest import uuid5_url_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple


class Part(NamedTuple):
    """One piece: its name ``i/n`` ("" for a text that stays whole), and what to send."""

    name: str
    key: str
    text: str
    gap: str = ""  # white space that stood before it: a receiver strips what it is sent


def part_key(key: str, name: str) -> str:
    """Return the key of part ``name`` (``2/3``) of the marker ``key``."""
    return uuid5_url_hex(f"k2-part:{key}:{name}")


def split(text: str, key: str, limit: int) -> list[Part]:
    """Cut ``text`` (stripped) into parts of at most ``limit`` characters; 0 means no limit.

    No cut is beside white space, so that no receiver's strip eats a character of it. Only where
    a whole part has no such place is it cut in the white space, which then goes as ``gap``.
    """
    if not limit or len(text) <= limit:
        return [Part("", key, text)]
    pieces: list[tuple[str, str]] = []
    gap, rest = "", text
    while rest:
        end = _place(rest, limit)
        piece, after = rest[:end].rstrip(), rest[end:]
        between = rest[len(piece) : end] + after[: len(after) - len(after.lstrip())]
        pieces.append((gap, piece))
        gap, rest = between, after.lstrip()
    count = len(pieces)
    names = [f"{number}/{count}" for number in range(1, count + 1)]
    return [
        Part(name, part_key(key, name), piece, before)
        for name, (before, piece) in zip(names, pieces, strict=True)
    ]


def _place(text: str, limit: int) -> int:
    """Return where to cut: the last place with no white space on either side, else ``limit``."""
    if len(text) <= limit:
        return len(text)
    for end in range(limit, 0, -1):
        if not text[end - 1].isspace() and not text[end].isspace():
            return end
    return limit


def join(parts: Sequence[tuple[str, str, str]]) -> str | None:
    """Put (name, gap, text) together in any order; None unless every part is there once."""
    read = [(read_name(name), gap, text) for name, gap, text in parts]
    if any(place is None for place, _, _ in read):
        return None
    ordered = sorted((place, gap, text) for place, gap, text in read if place is not None)
    count = len(ordered)
    if [place for place, _, _ in ordered] != [(number, count) for number in range(1, count + 1)]:
        return None
    return "".join(gap + text for _, gap, text in ordered)


def read_name(name: str) -> tuple[int, int] | None:
    """Read ``2/3``; None for anything that is no part's name."""
    number, slash, count = name.partition("/")
    digits = number + count
    if not slash or not number or not count or not digits.isascii() or not digits.isdigit():
        return None
    if len(digits) > 12 or not 1 <= int(number) <= int(count):
        return None
    return int(number), int(count)
