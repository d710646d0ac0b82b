"""What a session was working on, and when: one append-only file of transitions per session.

A marker belongs to the project that was in force when it was written, which is neither the
current folder's nor the one the session started in. Lines that are torn, undecodable or of
another session are skipped: half a line is no evidence.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.clock import iso, parse_iso
from hooks.context.attribution import Attribution, attribute
from hooks.context.scope import Scope, Transition, scope_from, transition_id, valid_session
from hooks.lock import held
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from typing import Literal

    Recorded = Literal[
        "recorded",
        "unchanged",
        "replayed",
        "refused-older",
        "refused-time",
        "refused-revision",
        "refused-session",
    ]

__all__ = [
    "Attribution",
    "Scope",
    "Transition",
    "attribute",
    "grants",
    "in_force",
    "in_force_near",
    "load",
    "note_grants",
    "parse_line",
    "path_of",
    "record",
    "scope_at",
    "scope_from",
    "transition_id",
    "valid_session",
]

FOLDER = os.path.join("brain", "session-scopes")
MAX_BYTES = 64 << 20  # far above any session: a transition is about 500 bytes
WAIT_S = 2.0
LAUNCH_TOLERANCE_S = 2  # how much earlier than the launch a marker of it may say it was
_MAX_REVISION_DIGITS = 18


# The folder below a worktree is no change, nor are names that only describe. The swarm and the
# revision are parts of which task it is.
_DECIDES = ("project_id", "worktree", "branch", "swarm", "task", "task_revision", "lane")


def path_of(home: str, session_id: str) -> str:
    return os.path.join(home, FOLDER, session_id + ".jsonl")


def record(home: str, session_id: str, at: datetime | str, scope: Scope) -> Recorded:
    """Append the transition to ``scope`` at ``at``, unless a rule says no.

    Not synced: after a power cut the transcript that it explains is as young. What was already
    kept has its key in the ledger, and a session without a log files markers unattributed.

    Raises:
        StateError: another process held the log for ``WAIT_S`` seconds.
        OSError: it cannot be read or written.
    """
    moment = parse_iso(at) if isinstance(at, str) else at
    if not valid_session(session_id):
        return "refused-session"
    if moment is None:
        return "refused-time"
    path = path_of(home, session_id)
    # The log is only ever appended to, so it can be its own lock: no second file per session.
    with held(path, wait_s=WAIT_S):
        log = load(home, session_id)
        text = iso(moment)
        digest = transition_id(session_id, text, scope)
        refusal = _judge(log, text, digest, scope)
        if refusal is not None:
            return refusal
        sequence = log[-1].sequence + 1 if log else 1
        row = Transition(session_id, sequence, text, digest, *scope)
        atomic.append_line(path, dumps(row._asdict()).encode("ascii"))
    return "recorded"


def _judge(log: Sequence[Transition], at: str, digest: str, scope: Scope) -> Recorded | None:
    if any(row.transition_id == digest for row in log):
        return "replayed"
    if not log:
        return None
    if at < log[-1].at:
        return "refused-older"
    if _is_lower_revision(log, scope):
        return "refused-revision"
    latest = log[-1]
    changed = any(getattr(latest, name) != getattr(scope, name) for name in _DECIDES)
    return None if changed else "unchanged"


def _is_lower_revision(log: Iterable[Transition], scope: Scope) -> bool:
    wanted = _number(scope.task_revision)
    return wanted is not None and any(
        (row.swarm, row.task) == (scope.swarm, scope.task)
        and (_number(row.task_revision) or 0) > wanted
        for row in log
    )


def _number(text: str) -> int | None:
    numeric = text.isascii() and text.isdigit() and len(text) <= _MAX_REVISION_DIGITS
    return int(text) if numeric else None


def load(home: str, session_id: str) -> list[Transition]:
    """Return what the log holds, by sequence; [] for an absent log or an unusable id.

    Raises:
        OSError: it is there and cannot be read.
    """
    if not valid_session(session_id):
        return []
    data = atomic.read(path_of(home, session_id), MAX_BYTES) or b""
    rows = [row for line in data.split(b"\n") if (row := parse_line(line, session_id))]
    return sorted(rows, key=_sequence)


def _sequence(row: Transition) -> int:
    return row.sequence


def parse_line(line: bytes, session_id: str) -> Transition | None:
    """Read one line of ``session_id``'s log; None for anything but a whole transition of it."""
    found = load_object(line)
    if found is None or found.get("session_id") != session_id:
        return None
    sequence, at = found.get("sequence"), parse_iso(found.get("at"))
    if type(sequence) is not int or sequence < 1 or at is None:
        return None
    texts = [found.get(name, "") for name in ("transition_id", *Scope._fields)]
    if not texts[0] or not all(isinstance(text, str) for text in texts):
        return None
    return Transition(session_id, sequence, iso(at), *map(str, texts))


def scope_at(home: str, session_id: str, at: datetime) -> Transition | None:
    """Return the transition that was in force at ``at``; None before the first.

    Raises:
        OSError: the log is there and cannot be read.
    """
    return in_force(load(home, session_id), at)


def in_force(log: Iterable[Transition], at: datetime) -> Transition | None:
    """Return the latest of ``log`` not after ``at``; of equal times the highest sequence."""
    text = iso(at)
    past = [(row.at, row.sequence, row) for row in log if row.at <= text]
    return max(past)[2] if past else None


def in_force_near(log: Sequence[Transition], at: datetime) -> Transition | None:
    """As ``in_force``, for a marker: shortly before the first transition that one counts.

    The launch scope is noted at SessionStart's own clock, the marker by the client's, which may
    write whole seconds, and either clock may be stepped. The log is only ever appended to, in
    order of time, so its first transition and with it the answer never change.
    """
    found = in_force(log, at)
    if found is None and log:
        from datetime import timedelta

        return in_force(log[:1], at + timedelta(seconds=LAUNCH_TOLERANCE_S))
    return found


def note_grants(home: str, session_id: str, grants: Sequence[str]) -> None:
    """Keep, in the session's log, which project ids its markers may name from now on.

    Raises:
        StateError, OSError: as ``record``.
    """
    if not valid_session(session_id) or tuple(grants) == _grants(home, session_id):
        return
    path = path_of(home, session_id)
    with held(path, wait_s=WAIT_S):
        line = dumps({"session_id": session_id, "grants": list(grants)})
        atomic.append_line(path, line.encode("ascii"))


def grants(home: str, session_id: str) -> tuple[str, ...]:
    """Return the project ids noted last; none for a session that noted none.

    Raises:
        OSError: the log is there and cannot be read.
    """
    return _grants(home, session_id)


def _grants(home: str, session_id: str) -> tuple[str, ...]:
    if not valid_session(session_id):
        return ()
    data = atomic.read(path_of(home, session_id), MAX_BYTES) or b""
    for line in reversed(data.split(b"\n")):
        found = load_object(line) if b'"grants"' in line else None
        noted = found.get("grants") if found and found.get("session_id") == session_id else None
        if isinstance(noted, list) and all(isinstance(one, str) for one in noted):
            return tuple(noted)
    return ()
