"""From the outbox to the brain: one drainer per home, one post at a time, in order.

What is written where, in this order, so that a kill between any two steps loses and doubles
nothing: the rows of a batch (from the files, where they are missing) with the claims; for each
file the post and a note of its acknowledgement; the rows' *committed*; and only then the files
go. A second post of one key is the brain's to recognise.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.clock import iso
from hooks.context import outbox
from hooks.lock import try_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import NamedTuple

    from hooks.context.delivery import Told
    from hooks.settings import Settings
else:
    from hooks.record import NamedTuple

FIRST_PAUSE_S, LONGEST_PAUSE_S = 60, 900  # after a failure: doubled each time


class Drained(NamedTuple):
    """What one run did. ``stopped`` says why it ended early, "" when all that could go went."""

    committed: int = 0
    replayed: int = 0
    quarantined: int = 0
    left: int = 0
    stopped: str = ""


def _drainer_lock(home: str) -> str:
    return os.path.join(home, "locks", "drainer")


def _pause_path(home: str) -> str:
    return os.path.join(home, "brain", "drain-pause.json")


def due(settings: Settings, at: datetime) -> bool:
    """Say whether something waits and a drainer may try now; no SQLite is loaded.

    After a failure it may not for a minute, then two, at last a quarter of an hour; another
    brain than the one that failed may at once.
    """
    if outbox.is_empty(settings.home):
        return False
    pause = _pause(settings.home)
    if not pause:
        return True
    from hooks.context.brain_adapter import brain_id

    waits = str(pause.get("since", "~")) <= iso(at) < str(pause.get("until", ""))
    return not waits or pause.get("brain") != brain_id(settings)


def _pause(home: str) -> dict[str, object]:
    from hooks.quick import read_note

    return read_note(_pause_path(home))


def drain(
    settings: Settings, env: Mapping[str, str], at: datetime, told: Told | None = None
) -> Drained:
    """Post what waits, then refresh the caches that changed; ``told`` hears of each file.

    Returns at once where another process drains: it looks again after it let go of the lock,
    so what we left for it is not missed.
    """
    from hooks.context.delivery import deliver_all
    from hooks.context.ledger_damage import healing

    home = settings.home
    total = Drained()
    while True:
        lock = try_lock(_drainer_lock(home))
        if lock is None:
            return total
        with lock:
            done = healing(home, lambda: deliver_all(settings, env, at, told))
            _note_pause(settings, at, done.stopped)
        total = _sum(total, done)
        progress = done.committed + done.replayed + done.quarantined
        if done.stopped or not progress or outbox.is_empty(home):
            return total


def _sum(one: Drained, other: Drained) -> Drained:
    return Drained(
        one.committed + other.committed,
        one.replayed + other.replayed,
        one.quarantined + other.quarantined,
        other.left,
        other.stopped,
    )


def _note_pause(settings: Settings, at: datetime, stopped: str) -> None:
    from datetime import timedelta

    from hooks.context.brain_adapter import brain_id
    from scripts.swarm_v2.wire_json import dumps

    path = _pause_path(settings.home)
    if not stopped:
        if os.path.exists(path):
            os.unlink(path)
        return
    before = _pause(settings.home)
    failures = before.get("failures") if before.get("brain") == brain_id(settings) else 0
    count = failures + 1 if isinstance(failures, int) else 1
    pause_s = min(FIRST_PAUSE_S * 2 ** min(count - 1, 10), LONGEST_PAUSE_S)
    note = {
        "brain": brain_id(settings),
        "failures": count,
        "since": iso(at),
        "until": iso(at + timedelta(seconds=pause_s)),
        "why": stopped,
    }
    try:
        atomic.write(path, dumps(note).encode("ascii"), durable=False)
    except OSError:  # a full disk: why the run stopped is more than that this was not noted
        return


def pause(home: str) -> dict[str, object]:
    """Return {"failures", "since", "until", "why"} of the last failed run; {} when all is well."""
    return _pause(home)
