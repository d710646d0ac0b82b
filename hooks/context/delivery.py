"""The drainer's work on one outbox, as tables of small steps (a test kills before each)."""

from __future__ import annotations

from hooks.clock import iso
from hooks.context import outbox
from hooks.context.brain_adapter import brain_id
from hooks.context.brains import open_brain
from hooks.context.database import DamagedError, UnfitError
from hooks.context.flush import Drained
from hooks.context.ledger import DONE, Ledger
from hooks.context.ledger_notes import Graves
from hooks.context.lost_records import files_again, send_again
from hooks.context.posting import Post
from hooks.errors import BrainConflict, BrainRefused, BrainUnreachable, OutboxError, StateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from hooks.context.brains import Ack, Brain
    from hooks.settings import Settings

    Told = Callable[[int, int], None]  # this is the n-th file of so many

LEASE_S = 60  # a claim's: twice the longest that one post may take


class Run:
    """One pass over the outbox, under the drainer's lock."""

    def __init__(
        self, settings: Settings, env: Mapping[str, str], at: datetime, told: Told | None = None
    ) -> None:
        self.settings, self.env, self.at, self.home = settings, env, at, settings.home
        self.told, self.place = told, 0
        self.ledger = Ledger.open(self.home, at)
        self.graves = Graves(self.home)
        self.brain: Brain | None = None
        self.stopped = ""
        self.counts = {"committed": 0, "replayed": 0, "quarantined": 0}
        self.changed: set[str] = set()  # projects whose caches are now behind

    def tell(self, left: int) -> None:
        """Say which file of how many it is, to whoever wants to know."""
        self.place += 1
        if self.told is not None:
            self.told(self.place, self.place + left)

    def close(self) -> None:
        if self.brain is not None:
            self.brain.close()
        self.ledger.close()


class Delivery:
    """One outbox file on its way. ``over`` ends the way early."""

    def __init__(self, run: Run, name: str) -> None:
        self.run, self.name = run, name
        self.key = ""
        self.document: dict[str, object] = {}
        self.ack: Ack | None = None
        self.attempts = 0  # of earlier runs
        self.note = ""  # what the receipt says of a delivered one
        self.over = False

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


def deliver_all(
    settings: Settings, env: Mapping[str, str], at: datetime, told: Told | None = None
) -> Drained:
    """Run PREPARE once, DELIVER for each waiting file, FINISH once; the caller holds the lock."""
    run = Run(settings, env, at, told)
    try:
        try:
            for prepare in PREPARE:
                prepare(run)
            deliver_backlog(run)
            names = in_order(run)
            for place, name in enumerate(names, 1):
                run.tell(len(names) - place)
                deliver(Delivery(run, name))
        except DamagedError:
            raise
        except (BrainUnreachable, StateError) as err:
            run.stopped = run.stopped or str(err)
        for finish in FINISH:
            finish(run)
        left = len(outbox.names(run.home)) + len(outbox.backlog_names(run.home))
        return Drained(**run.counts, left=left, stopped=run.stopped)
    finally:
        run.close()


def deliver_backlog(run: Run) -> None:
    """What an older version put aside goes first, one at a time, while there is a brain for it."""
    if run.brain is None:
        return
    backlog = outbox.backlog_folder(run.home)
    names = outbox.backlog_names(run.home)
    for _, name in sorted((outbox.time_in(backlog, name), name) for name in names):
        try:
            taken = outbox.take_in(run.home, name)
        except FileNotFoundError:  # another program took it
            continue
        run.tell(len(outbox.backlog_names(run.home)) + len(outbox.names(run.home)) - 1)
        deliver(Delivery(run, taken))


def in_order(run: Run) -> list[str]:
    """Return the waiting files by the markers' time, those of one message as they stood in it."""
    seq = run.ledger.order()
    place, last = outbox.folder(run.home), len(seq)
    places = [
        (outbox.time_in(place, name), seq.get(outbox.key_in(name), last), name)
        for name in outbox.names(run.home)
    ]
    return [name for _, _, name in sorted(places)]


def deliver(delivery: Delivery) -> None:
    """Take one file as far as it can go; without a brain that is its row in the ledger.

    What cannot be stored or sent as it is never will be: it makes way for those behind it.
    """
    try:
        for step in DELIVER if delivery.run.brain is not None else RECOVER:
            step(delivery)
            if delivery.over:
                return
    except (UnfitError, ValueError) as err:
        delivery.quarantine(str(err))


def restore_files(run: Run) -> None:
    files_again(run.home, run.ledger)


def open_the_brain(run: Run) -> None:
    try:
        run.brain = open_brain(run.settings, run.env)
    except BrainUnreachable as err:
        run.stopped = str(err)


def restore_records(run: Run) -> None:
    if run.brain is not None:
        send_again(run.settings, run.ledger, run.brain, run.graves, run.at)


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


def add_missing_row(delivery: Delivery) -> None:
    """A collector that died between file and row left only the file: make the row, all of it."""
    from hooks.context.keeping import sighting_in

    run, document = delivery.run, delivery.document
    with run.ledger.writing():
        run.ledger.add_receipt(document, run.at)
        sighting = sighting_in(document)
        if sighting is not None:
            run.ledger.add_sighting(sighting)


def settle_known(delivery: Delivery) -> None:
    """Finish what was acknowledged, refused or forgotten before: never post it again."""
    run = delivery.run
    if delivery.key in run.graves.keys:
        run.ledger.change(delivery.key, run.at, state="forgotten", body="", lease_until="")
    receipt = run.ledger.receipt(delivery.key)
    if receipt is None:
        return
    if receipt.state in DONE:
        outbox.remove(run.home, delivery.name)
        delivery.over = True
    elif receipt.state == "quarantined":
        delivery.over = True
        delivery.put_aside(receipt.reason)


def claim(delivery: Delivery) -> None:
    """Say in the receipt that a drainer has it, and until when.

    The lock is the guard: our having it proves that whoever claimed before us is dead, so an
    older claim is taken over at once.
    """
    from datetime import timedelta

    run = delivery.run
    receipt = run.ledger.receipt(delivery.key)
    delivery.attempts = receipt.attempts if receipt else 0
    until = iso(run.at + timedelta(seconds=LEASE_S))
    run.ledger.change(delivery.key, run.at, lease_until=until, attempts=delivery.attempts + 1)


def post(delivery: Delivery) -> None:
    run, brain = delivery.run, delivery.run.brain
    assert brain is not None
    again = delivery.attempts > 0
    one = Post(run, delivery.name, delivery.document, delivery.key, again=again)
    try:
        delivery.ack, delivery.note = one.send(brain), one.note
    except (BrainRefused, BrainConflict) as err:
        delivery.quarantine(err.reason)


def record(delivery: Delivery) -> None:
    run, ack = delivery.run, delivery.ack
    assert ack is not None
    said: dict[str, object] = {"brain": brain_id(run.settings), "record": ack.key}
    if ack.forgotten:
        said["body"] = ""
    state = "forgotten" if ack.forgotten else ack.kind
    said |= {"state": state, "reason": delivery.note, "lease_until": ""}
    run.ledger.change(delivery.key, run.at, **said)
    run.counts[ack.kind] += 1
    attrs = delivery.document["attrs"]
    if ack.kind == "committed" and isinstance(attrs, dict):
        run.changed.add(attrs.get("project_id", ""))


def remove_file(delivery: Delivery) -> None:
    outbox.remove(delivery.run.home, delivery.name)


def tell_forgotten(run: Run) -> None:
    """A service hears of what was forgotten even where nothing else waits for it."""
    if run.brain is None or run.stopped:
        return
    from hooks.context.forgetting import tell

    try:
        tell(run.settings, run.brain)
    except (BrainUnreachable, StateError) as err:
        run.stopped = str(err)


def refresh_caches(run: Run) -> None:
    """A worktree beside this one learns within a second what was just delivered."""
    if run.brain is None or not run.changed:
        return
    from hooks.context.refresh import refresh

    try:
        refresh(run.settings, run.brain, run.at, sorted(run.changed))
    except (BrainUnreachable, StateError) as err:
        run.stopped = run.stopped or str(err)


PREPARE: tuple[Callable[[Run], None], ...] = (restore_files, open_the_brain, restore_records)
RECOVER: tuple[Callable[[Delivery], None], ...] = (
    read_file,
    give_key,
    add_missing_row,
    settle_known,
)
DELIVER: tuple[Callable[[Delivery], None], ...] = (*RECOVER, claim, post, record, remove_file)
FINISH: tuple[Callable[[Run], None], ...] = (tell_forgotten, refresh_caches)
