"""Forget what was read when the context that held it is compacted, cleared or begun anew.

It runs whether or not second reads are answered now, and with the controls off: what was noted
before must not be believed after. Where the state is out of reach, the end of the epoch suffices.
"""

from __future__ import annotations

import os

from hooks.context.read_cache import end_epoch
from hooks.context.scope_log import valid_session
from hooks.context.session_state import Key
from hooks.quick import reads_note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    home, session = ctx.settings.home, ctx.event.session_id
    if not valid_session(session) or not os.path.lexists(reads_note(home, session)):
        return ()
    try:
        end_epoch(home, session)
    finally:
        if ctx.state is not None:
            ctx.state.delete([Key("reads", session)])
    return ()
