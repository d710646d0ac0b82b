"""Move what another home could not deliver into this one, keys and all.

Each file is copied here, then its row in the other home says so, then the other file goes: a
kill between any two leaves it here or in both, and the next run goes on. Sent from both, it has
one key, so it is one memory.
"""

from __future__ import annotations

import errno
import os

from hooks import atomic
from hooks.clock import iso
from hooks.context import acks, outbox
from hooks.context.ledger import Ledger
from hooks.context.ledger_notes import Graves
from hooks.context.migrations import migrations_lock, write_down
from hooks.errors import StateError
from hooks.lock import held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

LOCK_WAIT_S = 10.0  # longer than one post may take
PLACES = (outbox.folder, outbox.backlog_folder, outbox.quarantine_folder)


class Adopted(NamedTuple):
    moved: int = 0
    left: int = 0  # no regular files: folders, pipes, what is too large to be a marker


class Move:
    """One file on its way from ``place(other)`` to ``place(home)``, with the reason beside it."""

    def __init__(
        self, home: str, source: str, target: str, ledger: Ledger | None, at: datetime
    ) -> None:
        self.home = home
        self.source, self.target, self.ledger, self.at = source, target, ledger, at
        self.data = atomic.read(source, outbox.MAX_BYTES)
        self.reason = _reason(source)
        self.key = outbox.key_in(os.path.basename(source))


def _reason(source: str) -> bytes | None:
    try:
        return atomic.read(source + outbox.REASON, outbox.MAX_BYTES)
    except OSError as err:
        if err.errno != errno.ENAMETOOLONG:
            raise
        return None  # another program's file: beside so long a name there cannot be a reason


def check(home: str, other: str) -> None:
    """Raises StateError: ``other`` is no other home."""
    if not os.path.isdir(other):
        raise StateError(other, "it is not a folder", hint="name the folder of an older home")
    if os.path.realpath(other) == os.path.realpath(home):
        raise StateError(other, "it is this home", hint="name the folder of an older home")
    marks = ("brain-outbox", "brain-outbox-backlog", "brain", "installation.json", "ledger.db")
    if not any(os.path.exists(os.path.join(other, name)) for name in marks):
        raise StateError(other, "it is not a home", hint="name the folder of an older home")
    for place in PLACES:  # what was copied there would be removed as moved
        if os.path.exists(place(home)) and os.path.realpath(place(home)) == os.path.realpath(
            place(other)
        ):
            raise StateError(place(other), "both homes have this folder: it is here already")


def waiting(other: str) -> int:
    """Return how many files ``adopt`` would look at; what only a ledger row holds is not known."""
    return sum(len(outbox.names_in(place(other))) for place in PLACES)


def adopt(home: str, other: str, at: datetime) -> Adopted:
    """Move the undelivered files of ``other``; no drainer of either home works meanwhile.

    Raises:
        StateError: ``other`` is no other home, or a drainer has one of the two.
        OSError: a file cannot be read, written or removed; those before it are moved.
    """
    check(home, other)
    with (
        held(os.path.join(other, "locks", "drainer"), wait_s=LOCK_WAIT_S),
        held(os.path.join(home, "locks", "drainer"), wait_s=LOCK_WAIT_S),
    ):
        ledger = _ledger(other, at)
        try:
            done = _move_all(home, other, ledger, at)
        finally:
            if ledger is not None:
                ledger.close()
    if done.moved:
        _write_down(home, other, at, done)
    return done


def _ledger(other: str, at: datetime) -> Ledger | None:
    """Open the other home's ledger where it has one, and give its pending rows their files."""
    had = Ledger.read_only(other)
    if had is None:
        return None
    had.close()
    ledger = Ledger.open(other, at)
    for receipt in ledger.waiting():
        if receipt.body:
            outbox.write(other, receipt.document)
    return ledger


def _move_all(home: str, other: str, ledger: Ledger | None, at: datetime) -> Adopted:
    moved = left = 0
    graves, noted = Graves(other), {one.key for one in acks.read(other)}
    for source, target in _pairs(home, other):
        move = Move(home, source, target, ledger, at)
        if move.data is None:
            left += 1
            continue
        if move.key in graves.keys or _is_settled(move, noted):
            remove_there(move)
            continue
        for step in MOVE:
            step(move)
        moved += 1
    return Adopted(moved, left)


def _is_settled(move: Move, noted: set[str]) -> bool:
    """Say whether it was delivered or forgotten there: its file only outlived a kill."""
    receipt = move.ledger.receipt(move.key) if move.ledger is not None and move.key else None
    if move.key in noted and (receipt is None or acks.still_holds(receipt)):
        return True
    return receipt is not None and receipt.state in ("committed", "replayed", "forgotten")


def _pairs(home: str, other: str) -> Iterator[tuple[str, str]]:
    for place in PLACES:
        for name in outbox.names_in(place(other)):
            yield os.path.join(place(other), name), os.path.join(place(home), name)


def carry_attempts(move: Move) -> None:
    """What was posted there and not heard of is asked for here, before it is sent again."""
    receipt = move.ledger.receipt(move.key) if move.ledger is not None and move.key else None
    if receipt is None or receipt.state != "pending" or not receipt.attempts:
        return
    ledger = Ledger.open(move.home, move.at)
    try:
        with ledger.writing():
            ledger.add_receipt(receipt.document, move.at)
            ledger.change(move.key, move.at, attempts=receipt.attempts)
    finally:
        ledger.close()


def copy_here(move: Move) -> None:
    """Same bytes or same key are here already; where only the name is the same, both stay."""
    assert move.data is not None
    place, name = os.path.split(move.target)
    if move.key and any(_has_it(move, place, each) for each in outbox.names_in(place)):
        return
    path = os.path.join(place, outbox.free_name(place, name, move.source))
    if move.reason is not None:
        atomic.write(path + outbox.REASON, move.reason)
    atomic.link_new(path, move.data)


def _has_it(move: Move, place: str, name: str) -> bool:
    """Say whether a file of the key is whole: a power cut may have left only its name."""
    if outbox.key_in(name) != move.key:
        return False
    found = atomic.read(os.path.join(place, name), outbox.MAX_BYTES)
    return outbox.parse(found) is not None or found == move.data


def say_moved(move: Move) -> None:
    """The other home's row must not give the file back to it."""
    if move.ledger is not None and move.key:
        move.ledger.change(move.key, move.at, state="dropped", reason="moved to another home")


def remove_there(move: Move) -> None:
    """An older version's drainer knows no lock of ours: it may have been faster."""
    for path in (move.source, move.source + outbox.REASON)[: 1 + (move.reason is not None)]:
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue


def _write_down(home: str, other: str, at: datetime, done: Adopted) -> None:
    row: dict[str, object] = {"name": "adopt", "at": iso(at), "from": other}
    with held(migrations_lock(home), wait_s=LOCK_WAIT_S):
        write_down(home, {**row, "counts": done._asdict()})


MOVE: tuple[Callable[[Move], None], ...] = (
    carry_attempts,
    copy_here,
    say_moved,
    remove_there,
)
