"""Obey what another home forgot in a shared folder: its words go from this home too.

The worker's part. The tombstone itself keeps the memory away; here goes what this home noted of
it: caches, what sessions were told, answers, the receipt's copy, and a file that waits.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.context import folder_seen, injections, outbox, project_cache
from hooks.context.brains import open_brain
from hooks.context.claims import drop_answers
from hooks.context.ledger import Ledger
from hooks.context.scrub import drop_cached, scrub_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hooks.settings import Settings


def obey(settings: Settings, env: Mapping[str, str], at: datetime) -> int:
    """Take away what this home holds of the folder's forgotten memories; return how many it held.

    Nothing is read where the tombstones are those that were obeyed last.

    Raises:
        BrainUnreachable: the folder is away; the next run goes on.
        StateError: the ledger cannot be written; the next run goes on.
    """
    home = settings.home
    named = folder_seen.buried(settings)
    if folder_seen.is_obeyed(settings, named, at):
        return 0
    brain = open_brain(settings, env)
    try:
        keys = named | brain.forgotten()  # type: ignore[attr-defined]  # a file brain
    finally:
        brain.close()
    received = _received(home, keys)
    held = keys & _noted(home) | set(received)
    for key in held:
        drop_cached(home, key)
        scrub_notes(home, key)
    if held:
        drop_answers(home, at)
    if received:
        _clear(home, received, at)
    folder_seen.note_obeyed(settings, named, at)
    return len(held)


def _noted(home: str) -> set[str]:
    """Return every word that stands quoted in caches and notes, ids among them: one look at all."""
    found: set[str] = set()
    folders = (project_cache.FOLDER, os.path.dirname(injections.path_of("", "any")))
    for folder in folders:
        place = os.path.join(home, folder)
        try:
            names = os.listdir(place)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name in names:
            data = atomic.read(os.path.join(place, name), injections.MAX_BYTES) or b""
            found.update(data.decode("ascii", "replace").split('"'))
    return found


def _received(home: str, keys: frozenset[str]) -> list[str]:
    """Return the keys of receipts that still hold words of ``keys``, or of what became them."""
    ledger = Ledger.read_only(home)
    if ledger is None:
        return []
    try:
        ours = dict.fromkeys(one for key in keys for one in (key, *ledger.folded_into(key)))
        rows = [ledger.receipt(key) for key in ours]
    finally:
        ledger.close()
    return [row.key for row in rows if row is not None and row.state != "forgotten"]


def _clear(home: str, keys: list[str], at: datetime) -> None:
    ledger = Ledger.open(home, at)
    try:
        for key in keys:
            outbox.remove_key(home, key)
            gone = {"state": "forgotten", "body": "", "reason": "", "lease_until": ""}
            ledger.change(key, at, **gone)
    finally:
        ledger.close()
