"""Scan marks: how far a transcript was read, so that a Stop with nothing new loads no SQLite.

Not durable and not the truth (the ledger's position is): a lost or damaged mark costs one more
read. A mark that stands on a ledger's position names that ledger by its identity, so a lost
ledger voids it; one that reached its place from the file's start finding nothing names none.
"""

from __future__ import annotations

import os

from hooks.quick import read_note, signature
from scripts.swarm_v2.digest import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

LEDGER = "ledger.db"
TOMBSTONES = os.path.join("brain", "tombstones.jsonl")  # see ledger_notes
_IDENTITY_AT = 68  # offset of PRAGMA application_id in the header of an SQLite file


class Mark(NamedTuple):
    """Up to ``position`` everything is in ``ledger`` ("": there was nothing to be in it)."""

    seen: str  # the file's signature before it was read
    position: dict[str, object]
    ledger: str
    cwd: str = ""
    branch: str = ""
    damage: Mapping[str, int] | None = None  # its damaged lines so far, by kind; see Counts


def transcript_id(path: str) -> str:
    """Name a transcript wherever it is reached from: its lock, its mark, its position."""
    return short_digest(os.path.realpath(path).encode("utf-8", "surrogateescape"))


def mark_path(home: str, ident: str) -> str:
    return os.path.join(home, "brain", "positions", f"{ident}.json")


def ledger_identity(home: str) -> str:
    """Return the ledger's own random identity as 8 hex digits; "" where there is no ledger.

    A ledger that was lost and made again has another one. Never call it inside a transaction:
    closing a descriptor of the file drops every POSIX lock that this process has on it, those
    of its SQLite connection too.
    """
    try:
        fd = os.open(os.path.join(home, LEDGER), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        found = os.pread(fd, 4, _IDENTITY_AT)
    finally:
        os.close(fd)
    return found.hex() if len(found) == 4 and any(found) else ""


def ledger_file(home: str) -> int:
    """Tell the ledger's file from one that may stand in its place later; 0 for none.

    Unlike its identity it can be asked of a damaged one, and inside a transaction.
    """
    try:
        return os.stat(os.path.join(home, LEDGER)).st_ino
    except OSError:
        return 0


def nothing_new(home: str, path: str) -> bool:
    """Say whether the transcript is byte for byte what was read last; False when in doubt."""
    mark = load(home, transcript_id(path))
    return mark is not None and mark.seen == signature(path)


def load(home: str, ident: str) -> Mark | None:
    """Return the mark that may be believed under the present ledger, or None."""
    raw = read_note(mark_path(home, ident))
    texts = [raw.get(name) for name in ("seen", "ledger", "cwd", "branch")]
    position = raw.get("position")
    if not isinstance(position, dict) or not all(isinstance(text, str) for text in texts):
        return None
    seen, ledger, cwd, branch = (str(text) for text in texts)
    if ledger and ledger != ledger_identity(home):
        return None
    return Mark(seen, position, ledger, cwd, branch, _counted(raw.get("damage")))


def damage(home: str) -> dict[str, int]:
    """Return how many damaged lines the transcripts of the marks held, by kind; only kinds met."""
    folder = os.path.join(home, "brain", "positions")
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    sums: dict[str, int] = {}
    for name in names:
        found = _counted(read_note(os.path.join(folder, name)).get("damage"))
        for kind, number in (found or {}).items():
            sums[kind] = sums.get(kind, 0) + number
    return sums


def _counted(raw: object) -> dict[str, int] | None:
    if not isinstance(raw, dict):
        return None
    return {str(kind): number for kind, number in raw.items() if type(number) is int and number > 0}


def save(home: str, ident: str, mark: Mark) -> None:
    from hooks.atomic import write
    from scripts.swarm_v2.wire_json import dumps

    data = dumps(mark._asdict()).encode("ascii")
    write(mark_path(home, ident), data, durable=False)
