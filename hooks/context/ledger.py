"""Receipts, sightings and positions: what became of every marker, and how far we have read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NamedTuple

    State = Literal[
        "pending", "committed", "replayed", "quarantined", "unknown", "forgotten"
    ]
else:
    from hooks.record import NamedTuple


class Receipt(NamedTuple):
    """What became of one marker key."""

    key: str
    state: State
    type: str
    body: str  # the outbox document as JSON text; "" once forgotten
    session: str
    project: str
    at: str  # the marker's own time, ISO; "" when it had none
    created_at: str
    changed_at: str
    brain: str  # identity of the brain that acknowledged it
    record: str  # the key of the brain's record; differs when it folded a second sighting
    reason: str  # why it is quarantined or unknown
    redacted: tuple[str, ...]
    attempts: int
    lease_until: str  # a drainer claimed it and has until then
    prompt_id: str  # of a marker not yet seen in a transcript


class Sighting(NamedTuple):
    """One place where a marker, or what looks like one, stood."""

    message_id: str
    block: int
    ordinal: int
    type: str
    digest: str
    key: str  # "" when it was ignored for ``reason``
    reason: str
    session: str
    path: str
    offset: int
    at: str


class Ledger:
    """An open ledger. ``open(home)`` makes it on first use; ``close`` it."""

    @classmethod
    def open(cls, home: str) -> Ledger:
        raise NotImplementedError

    @classmethod
    def read_only(cls, home: str) -> Ledger | None:
        """Open without creating; None when there is none yet."""
        raise NotImplementedError

    def receipt(self, key: str) -> Receipt | None:
        raise NotImplementedError

    def receipts(self, session: str = "", limit: int = 200) -> list[Receipt]:
        """Return the newest receipts first."""
        raise NotImplementedError

    def counts(self) -> dict[str, int]:
        """Return the number of receipts by state, and of ``ignored`` sightings."""
        raise NotImplementedError

    def ignored(self, session: str = "", limit: int = 200) -> list[Sighting]:
        raise NotImplementedError

    def sightings_of(self, key: str) -> list[Sighting]:
        """Return the places where the marker of ``key`` stood, the first one first."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError
