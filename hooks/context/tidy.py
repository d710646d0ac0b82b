"""Remove the small notes of sessions that are over; everything here can be made again."""

from __future__ import annotations

import os
import shutil

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

MOST = 500  # removals a run; the rest goes next time
_HOUR_S = 3_600
_DAY_S = 86_400


class Notes(NamedTuple):
    """A folder of notes, and after how long without a change one of them is nobody's."""

    folder: str
    max_age_s: int


# A message is on the screen for minutes, a twin hook starts within seconds, the agent keeps a
# transcript for 30 days and may resume it until then.
NOTES = (
    Notes("display", _HOUR_S),
    Notes(os.path.join("brain", "claims"), 2 * _DAY_S),
    Notes(os.path.join("brain", "door"), 45 * _DAY_S),
    Notes(os.path.join("brain", "injected"), 45 * _DAY_S),
    Notes(os.path.join("brain", "positions"), 45 * _DAY_S),
    Notes(os.path.join("logs", "transcripts"), 30 * _DAY_S),
)

# Where a writer that was killed leaves `*.tmp`; its source still has what it wrote.
ASIDE = (
    "",
    "brain",
    "brain-outbox",
    os.path.join("brain-outbox", "quarantine"),
    os.path.join("brain", "project-memory"),
    os.path.join("brain", "session-scopes"),
    "archive",
    os.path.join("archive", "chunks"),
    os.path.join("archive", "tails"),
)
ASIDE_MAX_AGE_S = _DAY_S


def tidy(home: str, at: datetime) -> int:
    """Remove what is older than its row allows; return how many files and folders went."""
    old = [path for row in NOTES for path in _older(home, row.folder, row.max_age_s, at)]
    for folder in ASIDE:
        aside = _older(home, folder, ASIDE_MAX_AGE_S, at)
        old += [path for path in aside if path.endswith(".tmp")]
    for path in old[:MOST]:
        _remove(path)
    return len(old[:MOST])


def _older(home: str, folder: str, max_age_s: int, at: datetime) -> list[str]:
    inside = os.path.join(home, folder)
    paths = [os.path.join(inside, name) for name in _names(inside)]
    return [path for path in paths if _age_s(path, at) > max_age_s]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _age_s(path: str, at: datetime) -> float:
    try:
        return at.timestamp() - os.lstat(path).st_mtime
    except FileNotFoundError:  # another worker was faster
        return 0.0


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
