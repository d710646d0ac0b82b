"""From what the agent wrote to durable rows: nothing lost, nothing doubled, whatever dies when.

A Stop whose new bytes hold no candidate and no move ends here, with a scan mark: the ledger,
SQLite and the grammar are loaded only for something to keep (``gather``).
"""

from __future__ import annotations

import os

from hooks.context import marks
from hooks.context.position import encode_position, parse_position
from hooks.context.sources import sources
from hooks.context.transcript import scan
from hooks.errors import StateError
from hooks.lock import held
from hooks.quick import signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import NamedTuple

    from hooks.context.gather import Gatherer
    from hooks.context.position import Position
    from hooks.context.sources import Source
    from hooks.context.transcript import Moved, Scan
    from hooks.payload import Event
    from hooks.settings import Settings
else:
    from hooks.record import NamedTuple

LOCK_WAIT_S = 2.0  # another hook of ours reads the same transcript; it needs milliseconds
HINT = "!-- @"
# Without a scan mark a transcript is read from its start: at 1 GB/s that is cheaper than opening
# the ledger for its position, up to about this size.
READ_WHOLE_BYTES = 4 << 20


class Kept(NamedTuple):
    """One marker that became durable now."""

    key: str
    type: str
    text: str
    redacted: tuple[str, ...] = ()  # kinds of secrets that were taken out
    homeless: bool = False  # it belongs to no project, so no session is told of it


class Collected(NamedTuple):
    """What one event found. ``note`` is for the log, "" when there is nothing to say."""

    kept: tuple[Kept, ...] = ()
    ignored: int = 0
    note: str = ""
    spawn_needed: bool = False  # something waits in the outbox and a drainer is due
    held: int = 0  # proposals that wait for the person's review


def collect(event: Event, settings: Settings, env: Mapping[str, str], at: datetime) -> Collected:
    """Keep the markers that ``event``'s transcripts gained since they were last read.

    A transcript that another process holds is left to that process and the next event, an
    installation that breaks its grammar leaves everything where it is: both are in the note.
    """
    task = Task(settings, env, at, event.cwd)
    said = event.last_assistant_message if HINT in event.last_assistant_message else ""
    for source in sources(event, env):
        task.read(source, said, event.prompt_id)
    return task.result()


class Start(NamedTuple):
    """Where a transcript is read on from; no position means its first byte."""

    position: Position | None = None
    cwd: str = ""
    branch: str = ""


class Task:
    """One event's, or one catch-up's, collecting over any number of transcripts."""

    def __init__(
        self, settings: Settings, env: Mapping[str, str], at: datetime, cwd: str = ""
    ) -> None:
        self.settings, self.env, self.at, self.home = settings, env, at, settings.home
        self.cwd = cwd  # the event's; a catch-up has none
        self.kept: list[Kept] = []
        self.ignored = self.held = 0
        self.notes: list[str] = []
        self._gatherer: Gatherer | None = None
        self._no_ledger: StateError | None = None

    def read(self, source: Source, said: str = "", prompt_id: str = "") -> None:
        """Read one transcript on from where it was left, then the last message if it has more."""
        if not source.path and not said:
            return
        name = source.path or f"session:{source.session}"
        ident = marks.transcript_id(name)
        try:
            with held(os.path.join(self.home, "locks", ident), wait_s=LOCK_WAIT_S):
                self._read(source, ident, said, prompt_id)
        except (StateError, OSError) as err:
            self.notes.append(f"{os.path.basename(source.path) or 'no transcript'}: {err}")

    def _read(self, source: Source, ident: str, said: str, prompt_id: str) -> None:
        """Read it, once more from the start where the ledger turns out damaged on the way."""
        file = marks.ledger_file(self.home)
        before = (tuple(self.kept), self.ignored, self.held)
        try:
            self._read_once(source, ident, said, prompt_id)
        except StateError as err:
            if self._gatherer is None:
                raise
            from hooks.context.ledger_damage import is_ledgers, put_aside

            if not is_ledgers(self.home, err):
                raise
            self._close()
            put_aside(self.home, file)
            self.kept[:], self.ignored, self.held = before
            self._read_once(source, ident, said, prompt_id)

    def _read_once(self, source: Source, ident: str, said: str, prompt_id: str) -> None:
        if source.path:
            self._scan(source, ident)
        if said:
            self.gatherer.believe(source, said, prompt_id)

    def _close(self) -> None:
        if self._gatherer is not None:
            self._gatherer.close()
            self._gatherer = None

    @property
    def gatherer(self) -> Gatherer:
        """What keeps; opened once, and not tried again where that failed (it may have waited)."""
        if self._no_ledger is not None:
            raise self._no_ledger
        if self._gatherer is None:
            from hooks.context.gather import Gatherer

            try:
                self._gatherer = Gatherer(self)
            except StateError as err:
                self._no_ledger = err
                raise
        return self._gatherer

    @property
    def has_gathered(self) -> bool:
        return self._gatherer is not None

    def _scan(self, source: Source, ident: str) -> None:
        seen = signature(source.path)
        mark = marks.load(self.home, ident)
        if mark is not None and mark.seen == seen:
            return
        start, ledger = self._start(source, ident, mark)
        found = scan(source.path, start.position, cwd=start.cwd, branch=start.branch)
        stood = (found.cwd, found.branch)
        for batch in found.batches():
            if batch.moves:
                stood = (batch.moves[-1].cwd, batch.moves[-1].branch)
                if source.main:
                    record_moves(self, batch.moves)
            if batch.sightings:
                self.gatherer.take(source, ident, batch, stood)
                ledger = True
        if found.restarted and not self._gatherer:
            ledger = False  # read again from its start, and nothing was there
        before = mark.damage if mark is not None and not found.restarted else None
        save_mark(self, ident, seen, found, before, stands_on_ledger=ledger)

    def _start(self, source: Source, ident: str, mark: marks.Mark | None) -> tuple[Start, bool]:
        """Return where to read on from, and whether that place is the ledger's word."""
        if mark is not None:
            position = parse_position(mark.position)
            return Start(position, mark.cwd, mark.branch), bool(mark.ledger)
        long = os.stat(source.path).st_size > READ_WHOLE_BYTES
        if long and marks.ledger_identity(self.home):
            return self.gatherer.start(ident), True
        return Start(), False

    def result(self) -> Collected:
        from hooks.context.flush import due

        self._close()
        return Collected(
            tuple(self.kept),
            self.ignored,
            "; ".join(self.notes),
            due(self.settings, self.at),
            self.held,
        )


def record_moves(task: Task, moves: list[Moved]) -> None:
    """Note in the scope log where the session went, each at its own line's time."""
    from hooks.context.project import resolve
    from hooks.context.scope_log import record, scope_from

    settings = task.settings
    if not settings.session_scope:
        return
    for move in moves:
        if move.at is None or not move.cwd:
            continue
        project = resolve(move.cwd, settings, task.env, task.at)
        if move.branch:  # what it was then; git's own files know only what it is now
            project = project._replace(branch=move.branch)
        record(task.home, move.session_id, move.at, scope_from(project, settings.swarm))
    if task.has_gathered:
        task.gatherer.keeper.forget_logs()


def save_mark(
    task: Task,
    ident: str,
    seen: str,
    found: Scan,
    damage: Mapping[str, int] | None,
    *,
    stands_on_ledger: bool,
) -> None:
    """Leave the mark, after everything before it is durable: it may be lost, never be ahead.

    ``damage`` was counted before ``found`` began.
    """
    if found.position is None:
        return
    ledger = marks.ledger_identity(task.home) if stands_on_ledger else ""
    if any(found.counts):
        known = damage or {}
        counted = found.counts._asdict().items()
        damage = {kind: known.get(kind, 0) + number for kind, number in counted}
    place = encode_position(found.position)
    mark = marks.Mark(seen, place, ledger, found.cwd, found.branch, damage)
    marks.save(task.home, ident, mark)
