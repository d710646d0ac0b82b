"""A prompt of a session whose start was never seen: do the start's work now."""

from __future__ import annotations

import os

from hooks.context.scope_log import valid_session
from hooks.quick import door_note
from hooks.steps import index_session, inject_memory, record_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    session = ctx.event.session_id
    if not valid_session(session) or os.path.exists(door_note(ctx.settings.home, session)):
        return ()
    index_session.run(ctx)
    record_scope.run(ctx)
    return inject_memory.run(ctx)
