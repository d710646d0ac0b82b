"""What an upgrade does to a home, as named steps: each runs once, in order, and is written down.

``<home>/migrations.json`` gets a row ``{"name", "at", "counts"}`` for each. A step may be killed
anywhere and is then run again, so it has to come to the same end twice. Adding one is a row at
the end of ``STEPS``; a step that ran is never edited, and its name never used again.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.clock import iso
from hooks.context import outbox
from hooks.context.ledger_notes import mend, steps, write_steps
from hooks.errors import HookError, StateError
from hooks.lock import held
from hooks.quick import migrated_note
from scripts.swarm_v2.installation import installation, read
from scripts.swarm_v2.sweep import is_legacy
from scripts.swarm_v2.wire_json import load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

LOCK_WAIT_S = 2.0  # other first hooks of the same moment; the steps need milliseconds
STATE_STEP = "session-state"
MAX_PUBLISHED = 1 << 12
MAX_INDEX = 64 << 20


class Step(NamedTuple):
    """One upgrade step. ``run(home, at)`` returns what it counted.

    ``rewrites`` names durable files, below the home, that it rewrites: they are copied to
    ``<home>/backups/<name>/`` first.
    """

    name: str
    run: Callable[[str, datetime], dict[str, int]]
    rewrites: tuple[str, ...] = ()


def pending(home: str) -> list[Step]:
    """Return the steps that did not run here yet."""
    ran = {row.get("name") for row in steps(home)}
    return [step for step in STEPS if step.name not in ran]


def migrate(home: str, at: datetime) -> list[dict[str, object]]:
    """Run what did not run yet, under the lock; return the rows written now.

    Raises:
        StateError: another process is at it, or a step lost something: it is not written down.
        ValueError: ``installation.json`` breaks its grammar; nothing was changed.
        OSError: the home cannot be written; the next event goes on where this one stopped.
    """
    rows: list[dict[str, object]] = []
    with held(migrations_lock(home), wait_s=LOCK_WAIT_S):
        mend(home, iso(at))
        for step in pending(home):
            back_up(home, step)
            counts = step.run(home, at)
            rows.append({"name": step.name, "at": iso(at), "counts": counts})
            write_down(home, rows[-1])
        note_done(home)
    return rows


def migrations_lock(home: str) -> str:
    """Path of the lock under which ``migrations.json`` is written."""
    return os.path.join(home, "locks", "migrations")


def back_up(home: str, step: Step) -> None:
    """Copy what ``step`` rewrites, once: after a kill the first copy is the unharmed one."""
    for name in step.rewrites:
        path = os.path.join(home, name)
        size = os.path.getsize(path) if os.path.exists(path) else 0
        data = atomic.read(path, size)
        if data is not None:
            atomic.link_new(os.path.join(home, "backups", step.name, name), data)


def write_down(home: str, row: dict[str, object]) -> None:
    """Add one row, under the lock of the caller; a damaged file is put aside, not lost."""
    mend(home, str(row["at"]))
    write_steps(home, [*steps(home), row])


def note_done(home: str) -> None:
    """Leave what the door looks for; without it the next event only reads the list again."""
    atomic.write(migrated_note(home), b"", durable=False)


def found_installation(home: str, at: datetime) -> dict[str, int]:
    """Make the installation record: the cutover between legacy keys and ours."""
    had_one = read(home) is not None
    installation(home, at)
    return {"made": int(not had_one)}


def note_legacy(home: str, _at: datetime) -> dict[str, int]:
    """Count what an older version left. Nothing of it is ever read as current, or rewritten here.

    Caches go with the next stores of the feed, a few each time; outbox files are delivered.
    """
    names = _names(os.path.join(home, "brain", "project-memory"))
    caches = [name for name in names if is_legacy(name)]
    return {
        "legacy_caches": len(caches),
        "undelivered_contexts": sum(name.startswith("pending-") for name in caches),
        "legacy_publish_hash": int(_has_legacy_publish_hash(home)),
        "outbox_files": len(outbox.names(home)),
        "outbox_files_without_key": _without_key(home),
        "backlog_files": len(outbox.backlog_names(home)),
        "session_rows": _session_rows(home),
    }


def begin_state(home: str, _at: datetime) -> dict[str, int]:
    """Note from when on there is a sessions' state, and how many sessions were there before.

    Nothing is taken over: whatever an older version kept of running sessions (in a process of its
    own, in a file, in Redis under keys without the installation) is neither read nor deleted.
    """
    return {"sessions_before": _session_rows(home)}


def keep_as_documents(home: str, _at: datetime) -> dict[str, int]:
    """Bring the embedded brain's file up to documents; whoever opens it before does the same.

    A file that cannot be brought up now stays as it is, and whoever opens it next tries again.
    """
    from hooks.context.brain_adapter import LOCAL_DATABASE
    from hooks.context.brains.local_file import open_file

    path = os.path.join(home, LOCAL_DATABASE)
    if not os.path.exists(path):
        return {"memories": 0}
    try:
        db = open_file(path, create=False)
    except HookError:
        return {"left_as_it_is": 1}
    try:
        return {"memories": db.number("SELECT count(*) FROM memory")}
    finally:
        db.close()


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _has_legacy_publish_hash(home: str) -> bool:
    found = load_object(atomic.read(os.path.join(home, "brain_adapter_hash.json"), MAX_PUBLISHED))
    return found is not None and "namespace" not in found


def _without_key(home: str) -> int:
    """Count the readable ones; what cannot be read has no key either, and is quarantined."""
    count = 0
    for name in outbox.names(home):
        try:
            count += "idempotency_key" not in outbox.read(home, name)
        except (StateError, FileNotFoundError):
            continue
    return count


def _session_rows(home: str) -> int:
    data = atomic.read(os.path.join(home, "brain", "project-sessions.jsonl"), MAX_INDEX) or b""
    return sum(load_object(line) is not None for line in data.split(b"\n") if line)


# In the order they run. hooks.quick.STEPS_KNOWN is their number (a test compares them).
STEPS: tuple[Step, ...] = (
    Step("installation", found_installation),
    Step("legacy-files", note_legacy),
    Step(STATE_STEP, begin_state),
    Step("scoped-memory", keep_as_documents),
)
