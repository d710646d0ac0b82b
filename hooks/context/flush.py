"""From the outbox to the brain: one drainer per home, one post at a time, in order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import NamedTuple

    from hooks.settings import Settings
else:
    from hooks.record import NamedTuple


class Drained(NamedTuple):
    """What one run did. ``stopped`` says why it ended early, "" when the outbox is empty."""

    committed: int = 0
    replayed: int = 0
    quarantined: int = 0
    left: int = 0
    stopped: str = ""


def due(settings: Settings, at: datetime) -> bool:
    """Say whether something waits and a drainer may try now; no SQLite is loaded."""
    raise NotImplementedError


def drain(settings: Settings, env: Mapping[str, str], at: datetime) -> Drained:
    """Post what waits, then refresh the caches that changed."""
    raise NotImplementedError
