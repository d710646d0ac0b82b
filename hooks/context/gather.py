"""Keep what a transcript shows, as tables of small steps (a test kills before each).

The write lock of the ledger is held from the first question to the commit, so two processes
that meet one thought in two files decide one after the other. A new marker's outbox file is
made before the commit: a kill in between leaves a file, from which the row is made again.
"""

from __future__ import annotations

import os

from hooks.clock import iso
from hooks.context import memory_off, outbox, switch
from hooks.context.attribution import HOMELESS
from hooks.context.collect import Kept, Start
from hooks.context.database import UnfitError
from hooks.context.keeping import Keeper, Origin, sighting, sighting_in
from hooks.context.ledger import Ledger, Read, Sighting
from hooks.context.marks import TOMBSTONES
from hooks.context.position import encode_position, parse_position, valid
from hooks.context.proposals import HELD, is_proposal
from hooks.context.thought import Thought, think
from hooks.errors import OutboxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.context.collect import Task
    from hooks.context.database import Transaction
    from hooks.context.ledger_notes import Graves
    from hooks.context.scope_log import Transition
    from hooks.context.sources import Source
    from hooks.context.transcript import Batch, Sighted

MEMORY_OFF, FORGOTTEN = "memory-off", "forgotten"  # reasons, beside those of the grammar


class Gatherer:
    """What one task needs once it has something to keep."""

    def __init__(self, task: Task) -> None:
        self.task, self.home, self.at = task, task.home, task.at
        self.keeper = Keeper(task.settings, task.at)
        self.switches = switch.load(task.home)
        self.graves = _graves(task.home)
        self.ledger = Ledger.open(task.home, task.at)
        self.lost_at = self.ledger.note("lost")
        self.asks_first = bool(self.lost_at) and not _remembers_keys(task)

    def close(self) -> None:
        self.ledger.close()

    def start(self, ident: str) -> Start:
        """Return where the ledger says that a transcript was left."""
        read = self.ledger.position(ident)
        if read is None:
            return Start()
        return Start(parse_position(read.document), read.cwd, read.branch)

    def take(self, source: Source, ident: str, batch: Batch, stood: tuple[str, str]) -> None:
        """Keep one batch of sightings and move the position, in one transaction."""
        run_batch(Work(self, source, ident, batch, stood))

    def believe(self, source: Source, said: str, prompt_id: str) -> None:
        """Keep the markers of the agent's last message that no transcript line shows yet."""
        from hooks.context.last_message import believe

        believe(self, source, said, prompt_id)

    def forbidden(self, origin: Origin, scope: Transition | None, cwd: str = "") -> bool:
        """Say whether the person had memory off where and when the marker was written.

        ``cwd`` is what its line says. Where nothing else knows the project, that folder's and
        the one of the event are asked: a session can be one that is stored nowhere.
        """
        switches = self.switches
        if not switches.stretches:
            return bool(switches.damaged)
        when = origin.at or memory_off.dated_before(origin.path, origin.at_byte) or self.at
        places = [scope.project_id] if scope else memory_off.projects(self.task, origin, cwd)
        return any(switches.forbade(when, self.at, place, origin.session) for place in places)

    def is_forgotten(self, thought: Thought, origin: Origin, key: str) -> bool:
        return self.graves is not None and self.graves.holds(
            key, origin.message_id, origin.session, thought.digest
        )

    def must_ask(self, origin: Origin) -> bool:
        """Say whether only the person can know if the brain has it.

        The ledger was lost after it was written, and the brain does not know keys for ever.
        """
        return self.asks_first and origin.at is not None and iso(origin.at) < self.lost_at


def _graves(home: str) -> Graves | None:
    """Return the forgotten thoughts; None, and nothing loaded, where none ever was."""
    if not os.path.exists(os.path.join(home, TOMBSTONES)):
        return None
    from hooks.context.ledger_notes import Graves

    return Graves(home)


def _remembers_keys(task: Task) -> bool:
    from hooks.context.brains import remembers_keys

    return remembers_keys(task.settings)


class Work:
    """One batch on its way. ``item`` is the sighting at hand, the rest of it what was decided."""

    def __init__(
        self,
        gatherer: Gatherer,
        source: Source,
        ident: str,
        batch: Batch,
        stood: tuple[str, str],
    ) -> None:
        self.gatherer, self.ledger = gatherer, gatherer.ledger
        self.source, self.ident, self.batch, self.stood = source, ident, batch, stood
        self.transaction: Transaction | None = None
        self.item: Sighted | None = None
        self.sighting: Sighting | None = None  # None: it is known already
        self.document: dict[str, object] | None = None  # of a marker that is new
        self.filed: set[str] = set()  # keys that have an outbox file
        self.kept: list[Kept] = []
        self.ignored = 0


def run_batch(work: Work) -> None:
    try:
        for step in BATCH:
            step(work)
    finally:
        if work.transaction is not None:
            work.transaction.rollback()
    work.gatherer.task.kept += work.kept
    work.gatherer.task.ignored += work.ignored


def begin(work: Work) -> None:
    work.transaction = work.ledger.writing().__enter__()


def add_orphans(work: Work) -> None:
    """Make the rows of files that a killed collector left, before anything is compared to rows."""
    work.filed = adopt_files(work.gatherer)


def adopt_files(gatherer: Gatherer) -> set[str]:
    """Inside a transaction: give every keyed outbox file its row and its sighting.

    Returns the keys that have a file. One that cannot be read or kept is the drainer's to deal
    with, and holds up nothing here.
    """
    home, ledger = gatherer.home, gatherer.ledger
    named = {key: name for name in outbox.names(home) if (key := outbox.key_in(name))}
    for key in ledger.without_receipt(named):
        try:
            document = outbox.read(home, named[key])
            if document.get("idempotency_key") == key:
                ledger.add_receipt(document, gatherer.at)
                seen = sighting_in(document)
                if seen is not None:
                    ledger.add_sighting(seen)
        except (OutboxError, UnfitError, FileNotFoundError):
            continue
    return set(named)


def keep_all(work: Work) -> None:
    for item in work.batch.sightings:
        work.item, work.sighting, work.document = item, None, None
        for step in KEEP:
            step(work)


def judge(work: Work) -> None:
    """Decide what the sighting at hand is: known, ignored, an earlier marker's, or new."""
    item = work.item
    assert item is not None
    line, marker = item.line, item.candidate.marker
    origin = Origin(
        session=line.session_id or work.source.session,
        at=line.at,
        message_id=line.message_id,
        block=item.block,
        ordinal=item.ordinal,
        path=work.source.path,
        at_byte=line.offset,
    )
    if marker is None:
        thought = Thought(item.candidate.type, "", "space", {}, (), "")
        _ignore(work, thought, origin, item.candidate.reason)
        return
    thought = think(marker.type, marker.content, marker.attrs)
    place = (origin.message_id, origin.block, origin.ordinal, thought.type, thought.digest)
    if work.ledger.sighting(place) is None:
        _judge_new(work, thought, origin)


def _judge_new(work: Work, thought: Thought, origin: Origin) -> None:
    gatherer, ledger = work.gatherer, work.ledger
    cwd = work.item.line.cwd if work.item else ""
    scope = gatherer.keeper.scope(origin.session, origin.at)
    key = gatherer.keeper.key(thought, origin, scope)
    stood = gatherer.keeper.home_of(origin, work.source.session)
    if gatherer.forbidden(origin, stood, cwd):
        _ignore(work, thought, origin, MEMORY_OFF)
    elif gatherer.is_forgotten(thought, origin, key):
        _ignore(work, thought, origin, FORGOTTEN)
    elif known := _known_as(work, thought, origin, key):
        first = not ledger.sightings_of(known)
        work.sighting = sighting(thought, origin, known, "" if first else f"same as {known}")
    else:
        work.sighting = sighting(thought, origin, key)
        work.document = gatherer.keeper.document(thought, origin, stood, key)


def _known_as(work: Work, thought: Thought, origin: Origin, key: str) -> str:
    """Return the key of the record that this sighting belongs to, "" for a new one.

    A marker that so far only the hook's payload had is adopted by its first line in the
    transcript: same key, or same session, type and content after the prompt it answered. A
    copy under another session may be read first; it repeats the prompt, whose id is nobody
    else's.
    """
    if work.ledger.receipt(key) is not None:
        return key
    for receipt in work.ledger.unseen(thought.type, thought.digest):
        from hooks.context.last_message import answers

        copied = receipt.session != origin.session
        if answers(origin.path, origin.at_byte, receipt.prompt_id, surely=copied):
            return receipt.key
    return ""


def _ignore(work: Work, thought: Thought, origin: Origin, reason: str) -> None:
    work.sighting = sighting(thought, origin, "", reason)


def write_file(work: Work) -> None:
    """Write a new marker's file; its name is its own, so a repeat makes no second one.

    Not synced: its row is, and a file that a power cut takes is made again from that. Before
    the row is there, the transcript is read again.
    """
    document = work.document
    if document is None or is_proposal(document):
        return
    key = str(document["idempotency_key"])
    if key not in work.filed and not work.gatherer.must_ask(_origin_of(work)):
        outbox.write_new(work.gatherer.home, document, durable=False)
        work.filed.add(key)


def _origin_of(work: Work) -> Origin:
    assert work.item is not None
    return Origin(session="", at=work.item.line.at)


def add_rows(work: Work) -> None:
    seen, document, gatherer = work.sighting, work.document, work.gatherer
    if seen is None:
        return
    if work.ledger.add_sighting(seen) and seen.reason:
        work.ignored += 1
    if document is None:
        if seen.key:
            work.ledger.adopt(seen.key)
        return
    if is_proposal(document):
        work.ledger.add_receipt(document, gatherer.at, "held", HELD)
        gatherer.task.held += 1
        return
    if gatherer.must_ask(_origin_of(work)):
        reason = "the ledger was lost, and the brain may have it already"
        work.ledger.add_receipt(document, gatherer.at, "unknown", reason)
        return
    work.ledger.add_receipt(document, gatherer.at)
    work.kept.append(kept_of(document))


def kept_of(document: dict[str, object]) -> Kept:
    redacted, attrs = document["redacted"], document["attrs"]
    assert isinstance(redacted, list)
    assert isinstance(attrs, dict)
    return Kept(
        str(document["idempotency_key"]),
        str(document["type"]),
        str(document["content"]),
        tuple(redacted),
        attrs.get("attribution") in HOMELESS,
    )


def move_position(work: Work) -> None:
    """Forward only, unless the file itself is no longer the one that was read."""
    reached = work.batch.position
    before = parse_position(_document(work.ledger.position(work.ident)))
    if before is not None and before.offset > reached.offset:
        fd = os.open(work.source.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            if valid(before, fd):
                return
        finally:
            os.close(fd)
    read = Read(encode_position(reached), *work.stood)
    work.ledger.move(work.ident, work.source.path, read, work.gatherer.at)


def _document(read: Read | None) -> dict[str, object] | None:
    return read.document if read else None


def commit(work: Work) -> None:
    assert work.transaction is not None
    work.transaction.commit()


BATCH: tuple[Callable[[Work], None], ...] = (begin, add_orphans, keep_all, move_position, commit)
KEEP: tuple[Callable[[Work], None], ...] = (judge, write_file, add_rows)
