"""What lets a tool's event end at the door: which tools a guard cares about now, and what moved.

The note of a session names the tools that need a look (``PostToolUse:Read``; ``PostToolUse:*``
while something has failed) and the files whose change needs one: git's HEAD and the settings.
A lost note costs one full look.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.quick import signature, tools_note
from hooks.settings import SETTINGS_FILE
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.dispatch import Ctx

READING = ("PreToolUse:Read", "PostToolUse:Read")
AFTER_FAILURE = "PostToolUse:*"  # a success, or an edit, may end what failed
BEFORE_DENIAL = "PreToolUse:*"


def rewrite(ctx: Ctx, *, failures: bool) -> None:
    """Write the session's note. ``failures``: the breaker has counted something for it."""
    from hooks.context.scope_log import valid_session

    home, session = ctx.settings.home, ctx.event.session_id
    if not valid_session(session):
        return
    guards = ctx.settings.guards
    cares = [*(READING if guards.read_cache else ())]
    if failures:
        cares += [AFTER_FAILURE, *([BEFORE_DENIAL] if guards.breaker_deny else [])]
    watched = [os.path.join(home, SETTINGS_FILE), *_heads(ctx)]
    note = {"cares": cares, "watch": {path: signature(path) for path in watched}}
    atomic.write(tools_note(home, session), dumps(note).encode("ascii"), durable=False)


def _heads(ctx: Ctx) -> list[str]:
    from hooks.context.branch import head_file

    head = head_file(ctx.project)
    return [head] if head else []
