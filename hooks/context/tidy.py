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
)


def tidy(home: str, at: datetime) -> int:
    """Remove what is older than its row allows; return how many notes went."""
    gone = 0
    for row in NOTES:
        folder = os.path.join(home, row.folder)
        for name in _names(folder):
            path = os.path.join(folder, name)
            if gone < MOST and _age_s(path, at) > row.max_age_s:
                _remove(path)
                gone += 1
    return gone


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
