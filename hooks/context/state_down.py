"""The short-lived mark that the sessions' state cannot be reached: nobody pays for that twice."""

from __future__ import annotations

import os

from hooks import atomic
from hooks.clock import iso
from hooks.quick import read_note
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from hooks.settings import Settings

PAUSE_S = 30


def path_of(home: str) -> str:
    return os.path.join(home, "brain", "state-down.json")


def is_marked(settings: Settings, at: datetime) -> bool:
    """Say whether the configured state failed within the last ``PAUSE_S`` seconds."""
    note = read_note(path_of(settings.home))
    if not note or note.get("of") != _configured(settings):
        return False
    return str(note.get("since", "~")) <= iso(at) < str(note.get("until", ""))


def mark(settings: Settings, at: datetime, why: str) -> None:
    """Leave the mark, and one line in the log. ``why`` must hold no secret."""
    from datetime import timedelta

    from hooks.log import log

    until = iso(at + timedelta(seconds=PAUSE_S))
    note = {"of": _configured(settings), "since": iso(at), "until": until, "why": why}
    log(settings.home, iso(at), "state", "", f"the sessions' state is down: {why}")
    try:
        atomic.write(path_of(settings.home), dumps(note).encode("ascii"), durable=False)
    except OSError:  # then the next event tries again
        return


def last(settings: Settings) -> dict[str, object]:
    """Return {"since", "until", "why"} of the configured state's last failure; {} for none."""
    note = read_note(path_of(settings.home))
    return note if note.get("of") == _configured(settings) else {}


def _configured(settings: Settings) -> str:
    from scripts.swarm_v2.digest import short_digest

    return short_digest(settings.redis.url.encode("utf-8", "surrogateescape"))
