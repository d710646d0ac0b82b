"""Some outbox files on their way, as tables of small steps (a test kills before each).

One commit claims all of them, one writes all their receipts; in between each is posted by
itself, and its acknowledgement noted (``acks``) before the next one goes.
"""

from __future__ import annotations

import time

from hooks.clock import iso
from hooks.context import acks, outbox
from hooks.context.acks import Noted
from hooks.context.database import UnfitError
from hooks.context.ledger import DONE
from hooks.context.posting import Post
from hooks.errors import BrainConflict, BrainRefused, OutboxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.context.delivery import Run

MOST = 64  # files of one batch
MOST_BYTES = 4 << 20  # and bytes: hooks wait a second for the ledger, which gets all of them
LEASE_S = 60  # what a receipt shows of a claim; the drainer's lock is the guard
SETTLE_S = 1.0  # a slow brain's acknowledgements stand in the receipts at most this much later


class Delivery:
    """One outbox file on its way. ``over`` ends the way early."""

    def __init__(self, run: Run, name: str) -> None:
        self.run, self.name = run, name
        self.key = ""
        self.document: dict[str, object] = {}
        self.attempts = 0  # of earlier runs
        self.claimed = False
        self.over = False
        self.then: Callable[[], None] | None = None  # for the file, once the claims are committed

    def quarantine(self, reason: str) -> None:
        """Row first: a kill before the move leaves a file whose row says where it belongs."""
        run = self.run
        if self.key:
            run.ledger.change(self.key, run.at, state="quarantined", reason=reason, lease_until="")
        self.over = True
        self.put_aside(reason)
        run.counts["quarantined"] += 1

    def put_aside(self, reason: str) -> None:
        """Move the file to the quarantine; where that cannot be, those behind it still go."""
        try:
            outbox.quarantine(self.run.home, self.name, reason)
        except OSError as err:
            self.run.stopped = f"{self.name} cannot be put aside: {err.strerror}"

    def leave(self, err: OSError) -> None:
        """Let the file wait, as it is: a full disk or a missing right holds up no other."""
        self.over = True
        _say_left(self.run, self.name, err)

    def end(self, then: Callable[[], None]) -> None:
        self.over, self.then = True, then


def _say_left(run: Run, name: str, err: OSError) -> None:
    run.stopped = f"{name} cannot be read, written or removed: {err.strerror}"


def deliver(run: Run, names: list[str]) -> None:
    """Take these files as far as they can go; without a brain that is their rows in the ledger.

    What cannot be stored or sent as it is never will be: it makes way for those behind it.

    Raises:
        BrainUnreachable, StateError: those behind it wait as they did; what was acknowledged
            is in the receipts, or at least noted.
    """
    ready = claim_all(run, [Delivery(run, name) for name in names])
    run.place += len(names) - len(ready)
    try:
        since = time.monotonic()
        for delivery in ready:
            run.tell()
            _walk(delivery, POST)
            if time.monotonic() - since > SETTLE_S:
                settle(run)
                since = time.monotonic()
    finally:
        release(run, ready)
        settle(run)


def claim_all(run: Run, batch: list[Delivery]) -> list[Delivery]:
    """Claim in one commit what can be posted, then see to the files of the others."""
    for delivery in batch:
        _walk(delivery, READ)
    with run.ledger.writing():
        for delivery in batch:
            if not delivery.over:
                _claim_one(delivery)
    for delivery in batch:
        if delivery.then is not None:
            try:
                delivery.then()
            except OSError as err:
                delivery.leave(err)
    return [delivery for delivery in batch if not delivery.over]


def _walk(delivery: Delivery, steps: tuple[Callable[[Delivery], None], ...]) -> None:
    try:
        for step in steps:
            if not delivery.over:
                step(delivery)
    except (UnfitError, ValueError) as err:
        delivery.quarantine(str(err))
    except OSError as err:
        delivery.leave(err)


def _claim_one(delivery: Delivery) -> None:
    try:
        for step in CLAIM:
            if not delivery.over:
                step(delivery)
    except (UnfitError, ValueError) as err:
        reason = str(err)
        delivery.end(lambda: delivery.quarantine(reason))


# One file: what it says, and its key.


def read_file(delivery: Delivery) -> None:
    try:
        delivery.document = outbox.read(delivery.run.home, delivery.name)
    except FileNotFoundError:  # a person forgot it, or another program drained it
        delivery.over = True
    except OutboxError as err:
        document = _in_row(delivery)
        if not document:
            delivery.quarantine(err.what)
            return
        outbox.write_again(delivery.run.home, delivery.name, document)
        delivery.document = document


def _in_row(delivery: Delivery) -> dict[str, object]:
    """Return what the receipt of a file holds that a power cut tore; {} for any other."""
    run, key = delivery.run, outbox.key_in(delivery.name)
    receipt = run.ledger.receipt(key) if key else None
    if receipt is None or receipt.state != "pending" or not outbox.is_torn(run.home, delivery.name):
        return {}
    return receipt.document


def give_key(delivery: Delivery) -> None:
    """See that the file records its key and is named by it, as other programs' are not.

    One of an older installation lacks the key: it gets one, for good. A key that is none of
    ours could name any path, and is refused.
    """
    run = delivery.run
    if "idempotency_key" not in delivery.document:
        from hooks.context.older import with_key

        delivery.document = with_key(delivery.document, run.settings, run.at)
    key = str(delivery.document["idempotency_key"])
    if outbox.key_in(f"-{key}.json") != key:
        delivery.quarantine("its idempotency key is not 32 lower-case hex digits")
        return
    delivery.key = key
    if outbox.key_in(delivery.name) != key:
        outbox.write(run.home, delivery.document)
        outbox.remove(run.home, delivery.name)
        delivery.name = outbox.files_of(run.home, key)[0]


# Its row, in the transaction of the batch.


def add_missing_row(delivery: Delivery) -> None:
    """A collector that died between file and row left only the file: make the row, all of it."""
    _add_row(delivery.run, delivery.document)


def _add_row(run: Run, document: dict[str, object]) -> None:
    from hooks.context.keeping import sighting_in

    run.ledger.add_receipt(document, run.at)
    sighting = sighting_in(document)
    if sighting is not None:
        run.ledger.add_sighting(sighting)


def add_row_of_file(run: Run, name: str, key: str) -> None:
    """Inside a transaction: make the row of a file that holds ``key``, if there is one."""
    try:
        document = outbox.read(run.home, name)
        if document.get("idempotency_key") == key:
            _add_row(run, document)
    except (FileNotFoundError, OutboxError, UnfitError):
        return


def settle_known(delivery: Delivery) -> None:
    """Finish what was acknowledged, refused or forgotten before: never post it again."""
    run = delivery.run
    if run.is_buried(delivery.key):
        run.ledger.change(delivery.key, run.at, state="forgotten", body="", lease_until="")
    receipt = run.ledger.receipt(delivery.key)
    if receipt is None:
        return
    delivery.attempts = receipt.attempts
    if receipt.state in DONE:
        delivery.end(lambda: outbox.remove(run.home, delivery.name))
    elif receipt.state == "quarantined":
        reason = receipt.reason
        delivery.end(lambda: delivery.put_aside(reason))


def claim(delivery: Delivery) -> None:
    """Say in the receipt that a drainer has it, and until when.

    The lock is the guard: our having it proves that whoever claimed before us is dead, so an
    older claim is taken over at once.
    """
    from datetime import timedelta

    run = delivery.run
    # Two files of one key (an older version's, and ours of the same marker) go one after the
    # other: the second finds its receipt done when the outbox is looked at next.
    if run.brain is None or delivery.key in run.claimed:
        delivery.over = True
        return
    run.claimed.add(delivery.key)
    until = iso(run.at + timedelta(seconds=LEASE_S))
    run.ledger.change(delivery.key, run.at, lease_until=until, attempts=delivery.attempts + 1)
    delivery.claimed = True


# To the brain.


def post(delivery: Delivery) -> None:
    run, brain = delivery.run, delivery.run.brain
    assert brain is not None
    # Claimed a while ago: a person may have forgotten it, another program drained it, since then.
    # The tombstone comes first; where a brain could not be asked, the file is still there.
    if run.is_buried(delivery.key) or not outbox.exists(run.home, delivery.name):
        delivery.over = True
        return
    delivery.claimed = False  # from here on it may have been heard
    again = delivery.attempts > 0 or run.may_have_been_posted(delivery.document)
    one = Post(run, delivery.name, delivery.document, delivery.key, again=again)
    try:
        ack = one.send(brain)
    except (BrainRefused, BrainConflict) as err:
        delivery.quarantine(err.reason)
        return
    forgotten = "yes" if ack.forgotten else ""
    note = Noted(delivery.name, delivery.key, run.brain_id, ack.kind, ack.key, forgotten, one.note)
    run.acked.append(note)


def note_ack(delivery: Delivery) -> None:
    run = delivery.run
    if not run.acked or run.acked[-1].key != delivery.key:
        return
    try:
        acks.append(run.home, run.acked[-1])
    except OSError:  # a full disk: then its receipt at once, which may have room yet
        settle(run)


# Into the receipts.


def release(run: Run, batch: list[Delivery]) -> None:
    """Give back the claims on what was not posted: nobody may take it for heard."""
    rest = [delivery for delivery in batch if delivery.claimed]
    if not rest:
        return
    with run.ledger.writing():
        for delivery in rest:
            run.ledger.change(delivery.key, run.at, lease_until="", attempts=delivery.attempts)


def settle(run: Run) -> None:
    """Write down what was acknowledged, and only then let the files and the notes go."""
    if run.acked:
        for step in SETTLE:
            step(run)
        run.acked.clear()


def record(run: Run) -> None:
    with run.ledger.writing():
        for noted in run.acked:
            said: dict[str, object] = {"brain": noted.brain, "record": noted.record}
            if noted.forgotten:
                said["body"] = ""
            state = "forgotten" if noted.forgotten else noted.kind
            said |= {"state": state, "reason": noted.note, "lease_until": ""}
            run.ledger.change(noted.key, run.at, **said)
    for noted in run.acked:
        run.counts[noted.kind] += 1
        receipt = run.ledger.receipt(noted.key)
        if noted.kind == "committed" and receipt is not None:
            run.changed.add(receipt.project)


def remove_files(run: Run) -> None:
    for noted in run.acked:
        try:
            outbox.remove(run.home, noted.name)
        except OSError as err:  # its receipt says what it is: the next run removes it
            _say_left(run, noted.name, err)


def clear_notes(run: Run) -> None:
    acks.clear(run.home)


READ: tuple[Callable[[Delivery], None], ...] = (read_file, give_key)
CLAIM: tuple[Callable[[Delivery], None], ...] = (add_missing_row, settle_known, claim)
POST: tuple[Callable[[Delivery], None], ...] = (post, note_ack)
SETTLE: tuple[Callable[[Run], None], ...] = (record, remove_files, clear_notes)
