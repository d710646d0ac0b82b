"""How long a memory counts: ``7d``, ``12h``, a number of seconds, or the instant it ends. Pure."""

from __future__ import annotations

from hooks.clock import iso, parse_iso

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600}
_LONGEST_S = 1_000 * 31_557_600


def instant(text: str) -> str:
    """Return an instant, or the beginning (UTC) of a day, as ISO 8601; "" for anything else."""
    text = text.strip()
    found = parse_iso(text) or (parse_iso(text + "T00:00:00Z") if len(text) == 10 else None)
    return iso(found) if found else ""


def until(at: str, ttl: str) -> str:
    """Return when a memory from ``at`` ends, as ISO 8601; "" for never.

    What cannot be read ends nothing: showing a memory too long is better than losing it.
    """
    ttl = ttl.strip()
    lasting_s = _seconds(ttl)
    if lasting_s is None:
        return instant(ttl)
    start = parse_iso(instant(at))
    if start is None or lasting_s > _LONGEST_S:
        return ""
    from datetime import timedelta

    try:
        return iso(start + timedelta(seconds=lasting_s))
    except OverflowError:
        return ""


def _seconds(ttl: str) -> int | None:
    unit = _UNITS_S.get(ttl[-1:].lower(), 0)
    number = ttl[:-1].rstrip() if unit else ttl
    if not number.isascii() or not number.isdigit() or len(number) > 12:
        return None
    return int(number) * (unit or 1) or None


def is_over(end: str, now: str) -> bool:
    """Say whether a memory that ends at ``end`` has; both as ``clock.iso`` writes them."""
    return bool(end) and end <= now
