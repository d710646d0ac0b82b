"""The drainer's run over one outbox, as tables of small steps (a test kills before each)."""

from __future__ import annotations

from hooks.context import acks, batch, outbox
from hooks.context.brain_adapter import brain_id
from hooks.context.brains import open_brain
from hooks.context.database import DamagedError
from hooks.context.flush import Drained
from hooks.context.ledger import Ledger
from hooks.context.ledger_notes import Graves
from hooks.context.lost_records import files_again, send_again
from hooks.errors import BrainUnreachable, StateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from hooks.context.acks import Noted
    from hooks.context.brains import Brain
    from hooks.settings import Settings

    Told = Callable[[int, int], None]  # this is the n-th file of so many


class Run:
    """One pass over the outbox, under the drainer's lock."""

    def __init__(
        self, settings: Settings, env: Mapping[str, str], at: datetime, told: Told | None = None
    ) -> None:
        self.settings, self.env, self.at, self.home = settings, env, at, settings.home
        self.told, self.place, self.total = told, 0, 0
        self.ledger = Ledger.open(self.home, at)
        self.lost_at = self.ledger.note("lost")
        self.graves = Graves(self.home)
        self.brain: Brain | None = None
        self.brain_id = brain_id(settings)
        self.stopped = ""
        self.counts = {"committed": 0, "replayed": 0, "quarantined": 0}
        self.claimed: set[str] = set()  # keys
        self.acked: list[Noted] = []  # and not in the receipts yet
        self.changed: set[str] = set()  # projects whose caches are now behind

    def is_buried(self, key: str) -> bool:
        """Say whether a person forgot it, be it after this run began."""
        if self.graves.is_behind():
            self.graves = Graves(self.home)
        return key in self.graves.keys

    def may_have_been_posted(self, document: Mapping[str, object]) -> bool:
        """Say whether it is older than this ledger, which was made in a lost one's place."""
        return str(document.get("ts", "")) < self.lost_at

    def tell(self) -> None:
        """Say which file of how many it is, to whoever wants to know."""
        self.place += 1
        if self.told is not None:
            self.told(self.place, max(self.place, self.total))

    def close(self) -> None:
        if self.brain is not None:
            self.brain.close()
        self.ledger.close()


def deliver_all(
    settings: Settings, env: Mapping[str, str], at: datetime, told: Told | None = None
) -> Drained:
    """Run PREPARE once, the waiting files in batches, FINISH once; the caller holds the lock."""
    run = Run(settings, env, at, told)
    try:
        try:
            for prepare in PREPARE:
                prepare(run)
            run.total = _left(run)
            deliver_backlog(run)
            for names in in_batches(run.home, in_order(run)):
                batch.deliver(run, names)
        except DamagedError:
            raise
        except (BrainUnreachable, StateError) as err:
            run.stopped = run.stopped or str(err)
        for finish in FINISH:
            finish(run)
        return Drained(**run.counts, left=_left(run), stopped=run.stopped)
    finally:
        run.close()


def _left(run: Run) -> int:
    return len(outbox.names(run.home)) + len(outbox.backlog_names(run.home))


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
        except OSError as err:  # what waits beside it still goes
            run.stopped = f"the backlog cannot be emptied: {err.strerror}"
            return
        batch.deliver(run, [taken])


def in_order(run: Run) -> list[str]:
    """Return the waiting files by the markers' time, those of one message as they stood in it."""
    seq = run.ledger.order()
    place, last = outbox.folder(run.home), len(seq)
    places = [
        (outbox.time_in(place, name), seq.get(outbox.key_in(name), last), name)
        for name in outbox.names(run.home)
    ]
    return [name for _, _, name in sorted(places)]


def in_batches(home: str, names: list[str]) -> Iterator[list[str]]:
    """Cut ``names`` into batches of few files and, but for a single large one, of few bytes.

    A batch is in memory whole, and hooks wait for the transaction that claims it.
    """
    some: list[str] = []
    total = 0
    for name in names:
        size = outbox.size(home, name)
        if some and (len(some) >= batch.MOST or total + size > batch.MOST_BYTES):
            yield some
            some, total = [], 0
        some.append(name)
        total += size
    if some:
        yield some


def settle_noted(run: Run) -> None:
    """Finish what a killed drainer had acknowledged, before anything is taken for unposted.

    Where the ledger was lost since then, the files that still wait give it their rows again.
    No note outlives this: an old one says nothing of what comes after it.
    """
    noted = {one.key: one for one in acks.read(run.home)}
    if not noted:
        return
    with run.ledger.writing():
        for key in run.ledger.without_receipt(noted):
            batch.add_row_of_file(run, noted[key].name, key)
    receipts = [run.ledger.receipt(key) for key in noted]
    held = [receipt.key for receipt in receipts if receipt and acks.still_holds(receipt)]
    run.acked += [noted[key] for key in held]
    batch.settle(run)
    acks.clear(run.home)


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


PREPARE: tuple[Callable[[Run], None], ...] = (
    settle_noted,
    restore_files,
    open_the_brain,
    restore_records,
)
FINISH: tuple[Callable[[Run], None], ...] = (tell_forgotten, refresh_caches)
