"""What a person sees of the outbox and does with it: look, try again, take out.

The drainer's lock is held for every change, so that nothing is delivered and dropped at once.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.context import outbox
from hooks.context.ledger import Ledger
from hooks.errors import NotOneMemory, OutboxError
from hooks.lock import held
from scripts.swarm_v2.digest import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Literal, NamedTuple

    from hooks.lock import Lock
    from hooks.settings import Settings

    Place = Literal["backlog", "waiting", "quarantine"]
else:
    from hooks.record import NamedTuple

LOCK_WAIT_S = 10.0  # longer than one post may take
DELIVERED = ("committed", "replayed")  # what a brain has is never sent again
MOST_REASON = 1 << 16
FOLDERS = {
    "backlog": outbox.backlog_folder,
    "waiting": outbox.folder,
    "quarantine": outbox.quarantine_folder,
}


class Entry(NamedTuple):
    """One file that no brain has acknowledged."""

    place: Place
    name: str
    key: str  # "" where the file records none that could be sent
    type: str
    content: str
    at: str
    reason: str  # why it is in quarantine, or cannot be delivered
    path: str

    @property
    def id(self) -> str:
        """What a person names it by: the key, else the file's name."""
        return self.key or self.name


def entries(home: str) -> list[Entry]:
    """Return what waits, in the order of delivery, then what is in quarantine."""
    found = []
    for place, folder in FOLDERS.items():
        rows = [(outbox.time_in(folder(home), n), n) for n in outbox.names_in(folder(home))]
        found += [_entry(place, folder(home), name) for _, name in sorted(rows)]  # type: ignore[arg-type]
    return found


def _entry(place: Place, folder: str, name: str) -> Entry:
    path = os.path.join(folder, name)
    document, fault = _look(path)
    key = document.get("idempotency_key", "")
    said = outbox.key_in(f"-{key}.json") if document else outbox.key_in(name)
    return Entry(
        place,
        name,
        said,
        str(document.get("type", "")),
        str(document.get("content", "")),
        str(document.get("ts", "")),
        _reason(path) or fault,
        path,
    )


def _look(path: str) -> tuple[dict[str, object], str]:
    try:
        document = outbox.parse(atomic.read(path, outbox.MAX_BYTES))
    except OSError as err:
        return {}, err.strerror or "unreadable"
    return (document, "") if document else ({}, "not a marker in JSON")


def _reason(path: str) -> str:
    try:
        found = atomic.read(path + outbox.REASON, MOST_REASON) or b""
    except OSError:
        return ""
    return found.decode("utf-8", "replace").strip()


def pick(home: str, wanted: str) -> Entry:
    """Return the one entry whose key begins with ``wanted``, or whose file is named so.

    ``quarantine/…`` looks in that place only: another one may have a file of the same name.

    Raises:
        NotOneMemory: none, or several.
    """
    place, _, rest = wanted.partition("/")
    name = rest if place in FOLDERS else wanted
    everything = [one for one in entries(home) if name and (name == wanted or one.place == place)]
    named = [one for one in everything if name == one.name]
    found = named or [one for one in everything if one.key.startswith(name)]
    found = found or [one for one in everything if one.name.startswith(name)]
    if len(found) != 1:
        raise _not_one(wanted, len(found))
    return found[0]


def _not_one(wanted: str, count: int) -> NotOneMemory:
    err = NotOneMemory(wanted, count)
    err.hint = "take an id from brainhooks outbox list; the file's name will do as well"
    if count > 1:
        err.hint += ", and so will its place before it: quarantine/ID"
    return err


def _drainer(home: str) -> Lock:
    return held(os.path.join(home, "locks", "drainer"), wait_s=LOCK_WAIT_S)


def retry(home: str, at: datetime, chosen: Iterable[Entry]) -> int:
    """Put quarantined files back among those that wait; return how many.

    File first, then the reason, then the row: a kill in between leaves a file that waits and
    whose row says *quarantined*. A drain puts it back there; a second retry ends the first.
    """
    count = 0
    with _drainer(home):
        ledger = Ledger.open(home, at)
        try:
            for entry in chosen:
                receipt = ledger.receipt(entry.key)
                half_done = receipt is not None and receipt.state == "quarantined"
                if not (half_done if entry.place == "waiting" else _put_back(home, entry)):
                    continue
                _remove_reason(home, entry.name)
                if receipt is not None and receipt.state not in DELIVERED:
                    ledger.change(entry.key, at, state="pending", reason="", lease_until="")
                count += 1
        finally:
            ledger.close()
    return count


def _put_back(home: str, entry: Entry) -> bool:
    if entry.place != "quarantine":
        return False
    target = outbox.free_name(outbox.folder(home), entry.name, entry.path)
    try:
        atomic.move(entry.path, os.path.join(outbox.folder(home), target))
    except FileNotFoundError:  # somebody was faster
        return False
    atomic.sync_folder(outbox.folder(home))
    return True


def _remove_reason(home: str, name: str) -> None:
    """Remove the reason of a file that is not in quarantine any more."""
    path = os.path.join(outbox.quarantine_folder(home), name)
    if not os.path.lexists(path):
        _remove(path + outbox.REASON)


def drop(settings: Settings, at: datetime, entry: Entry) -> str:
    """Take one file out of the outbox for good; return the key of its receipt.

    The receipt comes first. It keeps the words of a marker, as every receipt does until its
    memory is forgotten; of what was no marker it keeps the file's name and why it was refused.
    The file goes last: killed before that, the same word ends it.

    Raises:
        OutboxError: it is a folder, which we did not make and do not empty; or it went meanwhile.
    """
    if os.path.isdir(entry.path) and not os.path.islink(entry.path):
        raise OutboxError(entry.path, "it is a folder: look into it, then remove it by hand")
    home = settings.home
    document = _document(settings, at, entry)
    key = str(document["idempotency_key"])
    reason = "dropped by hand" + (f"; {entry.reason}" if entry.reason else "")
    with _drainer(home):
        if not os.path.lexists(entry.path):
            raise OutboxError(entry.path, "it is gone: it was delivered or put aside meanwhile")
        ledger = Ledger.open(home, at)
        try:
            with ledger.writing():
                ledger.add_receipt(document, at)
                receipt = ledger.receipt(key)
                if receipt is not None and receipt.state not in (*DELIVERED, "dropped"):
                    ledger.change(key, at, state="dropped", reason=reason, lease_until="")
        finally:
            ledger.close()
        _remove(entry.path + outbox.REASON)
        _remove(entry.path)
    return key


def _document(settings: Settings, at: datetime, entry: Entry) -> dict[str, object]:
    """Return what the receipt is made of; a file without a key gets the one it would have had."""
    found, _ = _look(entry.path)
    if found and entry.key:
        return found
    if found and "idempotency_key" not in found:
        from hooks.context.older import with_key

        return with_key(found, settings, at)
    # Not the reason: it goes before the file, and the same word said again means the same receipt.
    data = os.fsencode(entry.name) + b"\n" + _bytes(entry.path)
    named = os.fsencode(entry.name).decode("utf-8", "replace")
    return {
        "type": "unreadable",
        "content": f"the file {named}",
        "attrs": {},
        "idempotency_key": short_digest(data),
    }


def _bytes(path: str) -> bytes:
    try:
        return atomic.read(path, outbox.MAX_BYTES) or b""
    except OSError:
        return b""


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def settle_unknown(home: str, at: datetime, session: str, *, resend: bool) -> int:
    """Say for the receipts in state *unknown* what only a person can know; return how many.

    ``resend`` sends them again under their keys, otherwise they count as delivered. A row that
    is to be sent has its file first: a kill in between leaves it to be said again.
    """
    ledger = Ledger.open(home, at)
    try:
        found = ledger.unknown(session)
        for receipt in found:
            if resend:
                outbox.write(home, receipt.document)
                ledger.change(receipt.key, at, state="pending", reason="", lease_until="")
            else:
                said = "taken for delivered, by a person's word"
                ledger.change(receipt.key, at, state="committed", reason=said)
        return len(found)
    finally:
        ledger.close()
