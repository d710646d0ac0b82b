"""What outlives the ledger: that there was one, and what a person had forgotten.

``<home>/migrations.json`` is ``{"steps": [{"name", "at", …}]}``; the step ``ledger`` says that a
ledger was made here, so a home without one has lost it. ``<home>/brain/tombstones.jsonl`` has a
line ``{"key", "message_id", "session", "digest", "at"}`` for each forgotten memory, and never
its text: a forgotten marker that is still in a transcript stays away even when ledger and brain
are made anew.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.clock import iso
from hooks.context.marks import TOMBSTONES, ledger_identity
from hooks.lock import held
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import NamedTuple

    from hooks.context.ledger import Ledger
else:
    from hooks.record import NamedTuple

STEP = "ledger"
_LOCK_WAIT_S = 5.0


class Tombstone(NamedTuple):
    """What identifies a forgotten thought; its text is gone."""

    key: str
    message_id: str = ""
    session: str = ""
    digest: str = ""
    at: str = ""


def migrations_path(home: str) -> str:
    return os.path.join(home, "migrations.json")


def steps(home: str) -> list[dict[str, object]]:
    """Return the upgrade steps that ran here; [] for a fresh home and for a damaged file."""
    found = load_object(atomic.read(migrations_path(home))) or {}
    rows = found.get("steps")
    return [row for row in rows if _is_step(row)] if isinstance(rows, list) else []


def _is_step(row: object) -> bool:
    return isinstance(row, dict) and isinstance(row.get("name"), str)


def damaged(home: str) -> bytes | None:
    """Return what the file holds where not all of it is steps; None for a whole or absent one."""
    data = atomic.read(migrations_path(home))
    rows = (load_object(data) or {}).get("steps")
    if data is None or (isinstance(rows, list) and all(_is_step(row) for row in rows)):
        return None
    return data


def mend(home: str, at: str) -> None:
    """Keep a damaged file aside and go on with what can be read of it. Under its lock.

    The copy comes first, so that a kill loses no row. What the file said of the ledger is said
    again, or a ledger lost later would pass for a first one.
    """
    data = damaged(home)
    if data is None:
        return
    aside = f"{migrations_path(home)}.damaged-{short_digest(data)[:8]}"
    atomic.link_new(aside, data)
    ran = steps(home)
    if ledger_identity(home) and all(row["name"] != STEP for row in ran):
        ran.append({"name": STEP, "at": at})
    write_steps(home, ran)


def write_steps(home: str, rows: list[dict[str, object]]) -> None:
    """Write the whole list. Under its lock."""
    atomic.write(migrations_path(home), dumps({"steps": rows}).encode("ascii") + b"\n")


def begin(ledger: Ledger, at: datetime) -> None:
    """Settle once whether a new ledger is the first, and write down that there is one.

    The ledger exists before the file says so and notes after it that this is done: a kill in
    between repeats it and never makes a first ledger look like a replaced one.
    """
    home = ledger.home
    with held(os.path.join(home, "locks", "migrations"), wait_s=_LOCK_WAIT_S):
        if ledger.note("begun"):
            return
        ran = steps(home)
        lost = any(row.get("name") == STEP for row in ran) and not ledger.note("first")
        if lost:
            ledger.set_note("lost", iso(at))
            mend(home, iso(at))
        else:
            mend(home, iso(at))
            ledger.set_note("first", iso(at))
            ran = [row for row in steps(home) if row.get("name") != STEP]
            write_steps(home, [*ran, {"name": STEP, "at": iso(at)}])
        ledger.set_note("begun", iso(at))


def tombstones_path(home: str) -> str:
    return os.path.join(home, TOMBSTONES)


def bury(home: str, *tombstones: Tombstone) -> None:
    """Add them in one write: a kill leaves all of them or none."""
    path = tombstones_path(home)
    atomic.make_folder(os.path.dirname(path))
    rows = dict.fromkeys(dumps(tombstone._asdict()) for tombstone in tombstones)
    atomic.append_line(path, "\n".join(rows).encode("ascii"), durable=True)


class Graves:
    """The forgotten thoughts of a home, read once."""

    def __init__(self, home: str) -> None:
        self.keys: set[str] = set()
        self.seen: set[tuple[str, str]] = set()  # (message id or session, digest)
        self._path = tombstones_path(home)
        self._size = self._size_now()
        data = atomic.read(self._path, 64 << 20) or b""
        for line in data.split(b"\n"):
            row = load_object(line) if line else None
            if row is not None:
                self._add(row)

    def is_behind(self) -> bool:
        """Say whether more was forgotten since."""
        return self._size != self._size_now()

    def _size_now(self) -> int:
        try:
            return os.stat(self._path).st_size
        except OSError:
            return 0

    def _add(self, row: dict[str, object]) -> None:
        key, digest = row.get("key"), row.get("digest")
        if not isinstance(key, str):
            return
        self.keys.add(key)
        for name in ("message_id", "session"):
            where = row.get(name)
            if isinstance(where, str) and where and isinstance(digest, str) and digest:
                self.seen.add((where, digest))

    def holds(self, key: str, message_id: str, session: str, digest: str) -> bool:
        """Say whether the thought was forgotten, whichever way it is recognised."""
        return key in self.keys or not self.seen.isdisjoint(
            {(message_id, digest), (session, digest)}
        )
