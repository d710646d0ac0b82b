"""Instants: made once at the door, written as ISO 8601 with offset and microseconds."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import UTC as UTC
    from datetime import datetime as datetime
else:
    try:
        from _datetime import UTC, datetime  # the same classes; 3.11's datetime.py costs 0.2 F
    except ImportError:  # an interpreter without the accelerator
        from datetime import UTC, datetime


def from_epoch(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def iso(at: datetime) -> str:
    """Write ``2026-11-30T10:08:50.726000+00:00``; always the same width, so text order is time."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def compact(at: datetime) -> str:
    """Write ``20261130T100850726000`` (UTC), for file names that sort by time."""
    text = iso(at)[:26]  # not strftime: its %Y has as many digits as the platform likes
    return text.replace("-", "").replace(":", "").replace(".", "")


def parse_iso(text: object) -> datetime | None:
    """Read an ISO 8601 instant; without an offset it is UTC. None for anything else.

    A bare date and a week date are refused: they name a day, not an instant.
    """
    if not isinstance(text, str) or "T" not in text.upper().replace(" ", "T", 1):
        return None
    try:
        at = datetime.fromisoformat(text)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
        return at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
