"""Deny what has failed too often without an edit in between; off unless it was asked for.

It falls open: without state, or where the document does not prove it, the tool runs.
"""

from __future__ import annotations

from hooks.context.guard import state_of
from hooks.context.session_state import Key, document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    event = ctx.event
    if not ctx.settings.guards.breaker_deny:
        return ()
    state = state_of(ctx)
    known = document(state.read([Key("breaker", event.session_id)])[0]) if state else {}
    if not known:
        return ()
    from hooks.context import breaker
    from hooks.context.operation import OURS, operation
    from hooks.context.target import target
    from hooks.reply import Deny

    what = operation(event.tool_name, event.tool_input)
    aim = target(event.tool_name, event.tool_input, event.cwd)
    failure = breaker.denied(known, what, aim)
    return () if failure is None else (Deny(OURS + breaker.denial(what, failure, aim)),)
