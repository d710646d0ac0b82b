"""Note what lets the next tool's event end at the door."""

from __future__ import annotations

from hooks.context.session_state import Key, document
from hooks.context.tool_watch import rewrite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.dispatch import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    state = ctx.state
    if state is not None:  # without it nothing is proven, and each event looks again
        session = ctx.event.session_id
        counted, told = state.read([Key("breaker", session), Key("signals", session)])
        rewrite(ctx, failures=bool(document(counted)), signals=document(told))
    return ()
