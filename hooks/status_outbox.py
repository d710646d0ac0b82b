"""What waits for the brain, what the brain refused, and what keeps the rest from going."""

from __future__ import annotations

import os

from hooks.clock import from_epoch, iso
from hooks.context.outbox import backlog_folder, folder, quarantine_folder
from hooks.status_piece import Piece, Problem
from hooks.verbs.wording import count, minute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hooks.status_piece import Look

WAITS_LONG_S = 86_400  # a brain that was away for a night is no news, one away for a day is
_OTHER_BRAIN = "choose another brain; without any setting it is the one on this machine"
_NEXT = {"none": "unset BRAIN_SOURCE_TYPE to use the brain on this machine; nothing is lost so far"}


def outbox(look: Look) -> Piece:
    """Count what waits. What cannot be delivered is yellow at once, and red after a day."""
    home = look.settings.home
    waiting = [*files(backlog_folder(home)).values(), *files(folder(home)).values()]
    refused = len(files(quarantine_folder(home)))
    oldest = min(waiting, default=None)
    age_s = None if oldest is None else max(0, int(look.at.timestamp() - oldest))
    why, again = hindrance(look)
    data: dict[str, Any] = {
        "count": len(waiting),
        "oldest": None if oldest is None else iso(from_epoch(oldest)),
        "oldest_age_s": age_s,
        "quarantined": refused,
        "stopped": why,
        "next_try": again or None,
    }
    problems = [_stuck(look, data)]
    if refused:
        where = quarantine_folder(home)
        verb = (
            "was refused and lies, with its reason,"
            if refused == 1
            else ("were refused and lie, each with its reason,")
        )
        what = f"{count(refused, 'marker')} {verb} in {where}"
        problems.append(Problem("yellow", what, "brainhooks outbox list says why"))
    return Piece(data, tuple(problem for problem in problems if problem is not None))


def hindrance(look: Look) -> tuple[str, str]:
    """Return why what waits cannot be delivered now, and when it is tried again; "" for no reason.

    The last failure counts as long as the brain that failed is the one configured.
    """
    from hooks.context.brain_adapter import brain_id, brain_kind
    from hooks.context.brains import BRAINS, why_not
    from hooks.context.flush import pause
    from hooks.context.outbox import is_empty

    if is_empty(look.settings.home):
        return "", ""
    if not BRAINS[brain_kind(look.settings)].module:
        return why_not(look.settings), ""
    note = pause(look.settings.home)
    if note and note.get("brain") == brain_id(look.settings):
        return str(note.get("why", "")), str(note.get("until", ""))
    return "", ""


def _stuck(look: Look, data: dict[str, Any]) -> Problem | None:
    from hooks.context.brain_adapter import brain_kind
    from hooks.context.brains import BRAINS

    kind = brain_kind(look.settings)
    if not data["count"] or kind == "invalid":  # told with the brain itself
        return None
    one = data["count"] == 1
    many, old = count(data["count"], "marker"), data["oldest_age_s"] > WAITS_LONG_S
    if not data["stopped"]:
        verb = "waits" if one else "wait"
        what = f"{many} {verb} for the brain, the oldest for more than a day"
        return Problem("yellow", what, "brainhooks flush says why") if old else None
    what = f"{many} {'waits' if one else 'wait'} and cannot be delivered: {data['stopped']}"
    todo = _NEXT.get(kind) or ("" if BRAINS[kind].module else _OTHER_BRAIN)
    if not todo:
        todo = "brainhooks flush tries at once and says what is wrong"
        again = data["next_try"]
        todo += f"; by itself it is tried again after {minute(again)}" if again else ""
    return Problem("red" if old else "yellow", what, todo)


def files(place: str) -> dict[str, float]:
    """Return name and time of each document in ``place``; one that just vanished is left out."""
    found = {}
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.name.endswith(".json") and entry.name[0] != ".":
                    try:
                        found[entry.name] = entry.stat().st_mtime
                    except FileNotFoundError:
                        continue
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return found
