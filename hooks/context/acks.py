"""What a brain acknowledged and the ledger does not say yet: a line each, ``brain/acks.jsonl``.

The receipts of a batch are written in one commit, which costs several syncs. Until then the line
holds the acknowledgement against a kill: the next drainer reads it and never posts that marker
again. It is not synced: a power cut may take the last lines, and those markers are then posted
again under their keys, as every one whose answer never came.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.context.outbox import key_in
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from hooks.context.ledger import Receipt
else:
    from hooks.record import NamedTuple

MOST_BYTES = 8 << 20  # a batch has some tens of lines; anything near this is not ours


class Noted(NamedTuple):
    """One acknowledgement. Every field is text."""

    name: str  # of the outbox file
    key: str
    brain: str
    kind: str  # committed or replayed
    record: str  # the key of the brain's record
    forgotten: str  # "yes" where the record is a tombstone
    note: str  # for the receipt


def path_of(home: str) -> str:
    return os.path.join(home, "brain", "acks.jsonl")


def append(home: str, noted: Noted) -> None:
    """Note one acknowledgement.

    Raises:
        OSError: it could not be noted whole.
    """
    atomic.append_line(path_of(home), dumps(noted._asdict()).encode("ascii"))


def read(home: str) -> list[Noted]:
    """Return what a killed drainer left; torn and foreign lines are none of ours."""
    try:
        data = atomic.read(path_of(home), MOST_BYTES)
    except OSError:
        return []
    lines = map(load_object, (data or b"").split(b"\n"))
    return [noted for found in lines if found is not None and (noted := _noted(found))]


def _noted(found: dict[str, object]) -> Noted | None:
    values = [found.get(name) for name in Noted._fields]
    if found.keys() != set(Noted._fields) or not all(isinstance(value, str) for value in values):
        return None
    noted = Noted(*values)  # type: ignore[arg-type]
    # The name is the key's file in the outbox, whoever wrote the line: no other may go for it.
    plain = os.path.basename(noted.name) == noted.name and "\0" not in noted.name
    fits = plain and noted.key != "" and key_in(noted.name) == noted.key
    return noted if fits and noted.kind in ("committed", "replayed") else None


def still_holds(receipt: Receipt) -> bool:
    """Say whether a note can be about what this receipt waits for: an older one is void.

    It is while the claim stands that it was written under. A receipt that no drainer ever
    claimed is of a ledger that was made anew since the note.
    """
    waits = receipt.state in ("pending", "unknown")
    return waits and (receipt.lease_until != "" or not receipt.attempts)


def clear(home: str) -> None:
    """Drop the lines, after their receipts are committed.

    Lines that cannot go are void all the same (``still_holds``).
    """
    try:
        os.unlink(path_of(home))
    except OSError:
        return
