"""The person's memory switch: stretches of time in which nothing is captured or injected.

``<home>/memory-switch.json`` is ``{"off": [{"what", "from", "until"}]}``; ``what`` is ``all``,
``project:<id>`` or ``session:<id>``, ``until`` null for an open end. Ended stretches stay, so
that a later catch-up knows which part of a transcript it must never capture.

A file that cannot be read means everything is off: capturing against the person's word cannot
be taken back, a missed capture can (the transcript still has it).
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

ALL = "all"
DAMAGED = "damaged"  # the `what` of the stretch that stands for an unreadable file
HISTORY_DAYS = 400  # an ended stretch is forgotten then; clients delete transcripts after 30
LOCK_WAIT_S = 2.0
_NEVER = "~"  # sorts behind every ISO instant: an open end
_KINDS = ("project:", "session:")


class Off(NamedTuple):
    """One stretch, ``since`` included and ``until`` excluded, as ISO texts; "" is an open end."""

    what: str
    since: str
    until: str = ""

    @property
    def end(self) -> str:
        return self.until or _NEVER


class Switches(NamedTuple):
    stretches: tuple[Off, ...] = ()
    damaged: str = ""  # why the file cannot be believed, "" when it can

    def off(self, at: datetime, project: str, session: str) -> Off | None:
        """Return the stretch that forbids remembering now, at ``at``; the longest one, or None."""
        if self.damaged:
            return Off(DAMAGED, "")
        return self.holding(at, (ALL, "project:" + project, "session:" + session))

    def forbade(self, when: datetime, at: datetime, project: str, session: str) -> bool:
        """Say whether what was written at ``when`` must not be kept ``at`` this time.

        While a stretch that holds now began in the future, no line's time can be compared to it.
        """
        if not self.stretches:
            return bool(self.damaged)
        from hooks.clock import iso

        stretch = self.off(at, project, session)
        if self.damaged or (stretch is not None and stretch.since > iso(at)):
            return True
        names, then = (ALL, "project:" + project, "session:" + session), iso(when)
        return any(s.what in names and s.since <= then < s.end for s in self.stretches)

    def holding(self, at: datetime, names: tuple[str, ...]) -> Off | None:
        """Return the longest stretch of one of ``names`` that holds now, at ``at``, or None.

        Nothing is switched off ahead of time: where one begins in the future, the clock was set
        back, and it holds.
        """
        if not self.stretches:
            return None
        from hooks.clock import iso

        now = iso(at)
        holding = [s for s in self.stretches if s.what in names and now < s.end]
        return max(holding, key=_end, default=None)


def path(home: str) -> str:
    return os.path.join(home, "memory-switch.json")


def load(home: str) -> Switches:
    """Read the switch; never raises. No file, or no home, means nothing is off (one ``stat``)."""
    file = path(home)
    try:
        os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return Switches()
    except OSError as err:
        return Switches(damaged=err.strerror or "unreadable")
    from hooks.atomic import read
    from scripts.swarm_v2.wire_json import load_object

    try:
        data = read(file)
    except OSError as err:
        return Switches(damaged=err.strerror or "unreadable")
    stretches = decode(load_object(data))
    if stretches is None:
        return Switches(damaged="it is not the JSON document we wrote")
    return Switches(stretches)


def turn(home: str, on: bool, what: str, at: datetime, until: datetime | None = None) -> Switches:
    """Decide for ``what`` from ``at`` on: on, or off until ``until`` (None: until turned on).

    The newest word wins for the whole future, what lies before ``at`` is kept as it was.

    Raises:
        StateError: the file cannot be read, or another process holds it for two seconds.
        ValueError: ``what`` is not ``all``, ``project:<id>`` or ``session:<id>``.
    """
    from hooks.atomic import write
    from hooks.clock import iso
    from hooks.errors import StateError
    from hooks.lock import held
    from scripts.swarm_v2.wire_json import dumps

    if not _known(what):
        msg = f"{what!r} cannot be switched"
        raise ValueError(msg)
    file = path(home)
    with held(os.path.join(home, "locks", "switch"), wait_s=LOCK_WAIT_S):
        found = load(home)
        if found.damaged:
            hint = "repair or remove the file; until then nothing is captured or shown"
            raise StateError(file, found.damaged, hint=hint)
        now = iso(at)
        kept = [_cut(s, now) if s.what == what else s for s in found.stretches]
        if not on:
            kept.append(Off(what, now, "" if until is None else iso(until)))
        stretches = tuple(_folded(kept, _oldest(at)))
        if stretches != found.stretches:
            write(file, (dumps(encode(stretches)) + "\n").encode("ascii"))
    return Switches(stretches)


def decode(document: dict[str, object] | None) -> tuple[Off, ...] | None:
    """Return the document's stretches; None when any part of it is not as ``encode`` writes it."""
    rows = document.get("off") if document is not None else None
    if not isinstance(rows, list):
        return None
    stretches = [_row(row) for row in rows]
    good = tuple(s for s in stretches if s is not None)
    return good if len(good) == len(rows) else None


def encode(stretches: Iterable[Off]) -> dict[str, object]:
    return {"off": [{"what": s.what, "from": s.since, "until": s.until or None} for s in stretches]}


def _row(row: object) -> Off | None:
    from hooks.clock import iso, parse_iso

    if not isinstance(row, dict):
        return None
    what, since, until = row.get("what"), parse_iso(row.get("from")), parse_iso(row.get("until"))
    if not isinstance(what, str) or not _known(what) or since is None:
        return None
    if until is None and row.get("until") is not None:
        return None
    return Off(what, iso(since), iso(until) if until else "")


def _known(what: str) -> bool:
    return what == ALL or any(what.startswith(kind) and what != kind for kind in _KINDS)


def _end(stretch: Off) -> str:
    return stretch.end


def _cut(stretch: Off, now: str) -> Off:
    return stretch if stretch.end <= now else Off(stretch.what, stretch.since, now)


def _oldest(at: datetime) -> str:
    from datetime import timedelta

    from hooks.clock import iso

    try:
        return iso(at - timedelta(days=HISTORY_DAYS))
    except OverflowError:
        return ""


def _folded(stretches: list[Off], oldest: str) -> list[Off]:
    """Drop empty and long ended stretches and join those of one ``what`` that touch."""
    out: list[Off] = []
    last: dict[str, int] = {}
    for stretch in sorted(stretches, key=lambda s: (s.since, s.what)):
        if stretch.end <= stretch.since or stretch.end < oldest:
            continue
        index = last.get(stretch.what)
        if index is not None and stretch.since <= out[index].end:
            if out[index].end < stretch.end:
                out[index] = out[index]._replace(until=stretch.until)
            continue
        last[stretch.what] = len(out)
        out.append(stretch)
    return out
