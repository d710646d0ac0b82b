"""An event that could not be served because of a setting: its transcript is noted for later.

Once the setting is mended, the worker of the next session start reads what is noted.
"""

from __future__ import annotations

from hooks.clock import iso
from hooks.context.session_index import Entry, append, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hooks.payload import Event

UNSERVED = "unserved"  # the source of such an entry: nobody could say whose session it is


def note(home: str, event: Event, env: Mapping[str, str], at: datetime) -> None:
    """Remember the event's transcript; one that is known already keeps its entry.

    Raises:
        StateError, OSError: it could not be noted.
    """
    from hooks.context.scope_log import valid_session

    session = event.session_id
    if event.name == "MessageDisplay" or not event.transcript_path or not valid_session(session):
        return
    if any(entry.session_id == session for entry in read(home)):
        return
    entry = Entry(
        session,
        iso(at),
        cwd=event.cwd,
        transcript_path=event.transcript_path,
        source=UNSERVED,
        client_pid=env.get("CLAUDE_PID", ""),
    )
    append(home, entry)
