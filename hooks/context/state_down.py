"""The short-lived mark that the sessions' state cannot be reached: nobody pays for that twice."""

from __future__ import annotations

import os

from hooks import atomic
from hooks.clock import iso
from hooks.quick import read_note
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hooks.settings import Settings

PAUSE_S = 30


def path_of(home: str) -> str:
    return os.path.join(home, "brain", "state-down.json")


def is_marked(settings: Settings, at: datetime) -> bool:
    """Say whether the configured state failed within the last ``PAUSE_S`` seconds."""
    return stands(last(settings), at)


def stands(note: Mapping[str, object], at: datetime) -> bool:
    """Say whether ``note``, which ``last`` returned, keeps everybody from trying at ``at``."""
    return bool(note) and str(note.get("since", "~")) <= iso(at) < str(note.get("until", ""))


def mark(settings: Settings, at: datetime, why: str) -> None:
    """Leave the mark, and a line in the log once an outage. ``why`` must hold no secret."""
    from datetime import timedelta

    from hooks.log import log

    until = iso(at + timedelta(seconds=PAUSE_S))
    note = {"of": _configured(settings), "since": iso(at), "until": until, "why": why}
    if last(settings).get("why") != why:  # else it is still down, and the log has it
        log(settings.home, iso(at), "state", "", f"the sessions' state is down: {why}")
    try:
        atomic.write(path_of(settings.home), dumps(note).encode("ascii"), durable=False)
    except OSError:  # then the next event tries again
        return


def last(settings: Settings) -> dict[str, object]:
    """Return {"since", "until", "why"} of the configured state's last failure.

    {} where it never failed, or has served a hook since.
    """
    note = read_note(path_of(settings.home))
    return note if note and note.get("of") == _configured(settings) else {}


def end(settings: Settings) -> None:
    """Take the mark away: the state serves again."""
    try:
        os.unlink(path_of(settings.home))
    except OSError:  # another hook was first, or the next one tries again
        return


def _configured(settings: Settings) -> str:
    from scripts.swarm_v2.digest import short_digest

    return short_digest(settings.redis.url.encode("utf-8", "surrogateescape"))
