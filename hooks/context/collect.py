"""From what the agent wrote to durable rows: nothing lost, nothing doubled, whatever dies when."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import NamedTuple

    from hooks.payload import Event
    from hooks.settings import Settings
else:
    from hooks.record import NamedTuple


class Kept(NamedTuple):
    """One marker that became durable now."""

    key: str
    type: str
    text: str
    redacted: tuple[str, ...] = ()  # kinds of secrets that were taken out


class Collected(NamedTuple):
    """What one event found. ``note`` is for the log, "" when there is nothing to say."""

    kept: tuple[Kept, ...] = ()
    ignored: int = 0
    note: str = ""
    spawn_needed: bool = False  # something waits in the outbox and a drainer is due


def collect(
    event: Event, settings: Settings, env: Mapping[str, str], at: datetime
) -> Collected:
    """Keep the markers that ``event``'s transcripts gained since they were last read."""
    raise NotImplementedError
