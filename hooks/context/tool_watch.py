"""What lets a tool's event end at the door: which tools a guard cares about now, and what moved.

The note of a session names the tools that need a look (``PostToolUse:Read``; the tools of which
something has failed) and the files whose change needs one: the settings, and git's HEAD for
each folder that the session worked in.
A lost note costs one full look.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.context.branch import EDITS, look
from hooks.context.signals import latest, texts
from hooks.quick import read_note, signature, tools_note
from hooks.settings import SETTINGS_FILE
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.branch import Head
    from hooks.context.session_state import Document
    from hooks.ctx import Ctx

READING = ("PreToolUse:Read", "PostToolUse:Read")
EDITING = tuple(f"PostToolUse:{tool}" for tool in EDITS)  # while the default branch is to be told


def rewrite(ctx: Ctx, *, breaker: Document, signals: Document) -> None:
    """Write the session's note. ``breaker`` is what was counted for it.

    ``signals`` is what the session was told of branches: a branch that it does not know yet is
    noted so that the next event looks again.
    """
    from hooks.context.scope_log import valid_session

    home, session = ctx.settings.home, ctx.event.session_id
    if not valid_session(session):
        return
    guards = ctx.settings.guards
    cares = [*(READING if guards.read_cache else ())]
    if breaker:
        from hooks.context.breaker import cares as counting

        cares += counting(breaker, denies=guards.breaker_deny)
    head, path = look(ctx.event.cwd), tools_note(home, session)
    untold = head is not None and head.default and not signals.get("default")
    if untold:
        cares += EDITING
    settings = os.path.join(home, SETTINGS_FILE)
    note = {
        "cares": cares,
        # A commit on the default branch; where several working copies are known, a switch in
        # another than the folder's.
        "git": untold or len(texts(signals.get("heads"))) > 1,
        "folders": latest(
            texts(read_note(path).get("folders")), ctx.event.cwd, _seen(head, signals)
        ),
        "watch": {settings: signature(settings)},
    }
    atomic.write(path, dumps(note).encode("ascii"), durable=False)


def _seen(head: Head | None, signals: Document) -> str:
    """Return the signature of HEAD and its path; "" outside a repository."""
    if head is None:
        return ""
    told = texts(signals.get("heads")).get(head.key) == head.name
    return f"{head.signature if told else '?'} {head.path}"
