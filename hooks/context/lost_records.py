"""What a brain was given and does not have any more: given again, from the receipts.

The embedded brain is one file. Where that was deleted, or an older copy of it was put back, the
receipts still say *committed*; without this nothing would ever be shown again, and all be green.
"""

from __future__ import annotations

from hooks.context import outbox
from hooks.context.brain_adapter import brain_id, brain_kind
from hooks.context.ledger import Ledger
from hooks.context.ledger_notes import Graves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Protocol

    from hooks.context.ledger import Receipt
    from hooks.settings import Settings

    class Knowing(Protocol):
        def unknown_keys(self, keys: list[str]) -> list[str]: ...


MOST = 256  # sent again in one run; the rest with the next ones
REASON = "sent again: the brain had lost it"


def lost(ledger: Ledger, brain: object, settings: Settings, graves: Graves) -> list[str]:
    """Return the keys that ``brain`` acknowledged and does not know, the first kept one first.

    What a person forgot is not lost: not under its key, not in the record it was folded into,
    not as the same thought.
    """
    if not hasattr(brain, "unknown_keys"):
        return []
    knowing: Knowing = brain
    keys = knowing.unknown_keys(ledger.delivered(brain_id(settings)))
    return [key for key in keys if not _is_buried(ledger.receipt(key), graves)]


def _is_buried(receipt: Receipt | None, graves: Graves) -> bool:
    if receipt is None or not receipt.body:
        return True
    if receipt.key in graves.keys or receipt.record in graves.keys:
        return True
    document = receipt.document
    attrs = document.get("attrs")
    said = attrs if isinstance(attrs, dict) else {}
    if said.get("class") == "person":  # said again after it was forgotten, it is meant
        return False
    digest = str(document.get("digest", ""))
    return graves.holds(receipt.key, str(said.get("message_id", "")), receipt.session, digest)


def send_again(
    settings: Settings, ledger: Ledger, brain: object, graves: Graves, at: datetime
) -> int:
    """Put at most ``MOST`` lost records back among what waits; return how many.

    File first, as ever: a kill in between leaves a file whose row says that it is done, and
    the next run finds the record still lost.
    """
    keys = lost(ledger, brain, settings, graves)[:MOST]
    for key in keys:
        receipt = ledger.receipt(key)
        assert receipt is not None
        outbox.write(settings.home, receipt.document)
        ledger.change(key, at, state="pending", reason=REASON, lease_until="")
    return len(keys)


def files_again(home: str, ledger: Ledger) -> None:
    """Give a pending row without a file its file again: the row holds the body.

    Not synced: what a power cut takes is given again. Thousands would hold the drainer's lock
    for minutes.
    """
    keys = {outbox.key_in(name) for name in outbox.names(home)}
    for receipt in ledger.waiting():
        if receipt.key not in keys and receipt.body:
            outbox.write_new(home, receipt.document, durable=False)


def restore(settings: Settings, env: Mapping[str, str], at: datetime) -> int:
    """See to both, for a home whose outbox looks empty; return how many records were lost.

    Raises:
        BrainUnreachable: the brain cannot be asked; files were made all the same.
    """
    had = Ledger.read_only(settings.home)
    if had is None:
        return 0
    had.close()
    ledger = Ledger.open(settings.home, at)
    try:
        files_again(settings.home, ledger)
        if brain_kind(settings) != "local":
            return 0
        from hooks.context.brains import open_brain

        brain = open_brain(settings, env)
        try:
            return send_again(settings, ledger, brain, Graves(settings.home), at)
        finally:
            brain.close()
    finally:
        ledger.close()


def count(settings: Settings, env: Mapping[str, str]) -> int:
    """Return how many records the local brain has lost; nothing is made or changed."""
    import os

    from hooks.context.brain_adapter import LOCAL_DATABASE

    ledger = Ledger.read_only(settings.home)
    if ledger is None or brain_kind(settings) != "local":
        return 0
    try:
        graves = Graves(settings.home)
        if not os.path.exists(os.path.join(settings.home, LOCAL_DATABASE)):
            keys = ledger.delivered(brain_id(settings))
            return sum(not _is_buried(ledger.receipt(key), graves) for key in keys)
        from hooks.context.brains import open_brain

        brain = open_brain(settings, env)
        try:
            return len(lost(ledger, brain, settings, graves))
        finally:
            brain.close()
    finally:
        ledger.close()
