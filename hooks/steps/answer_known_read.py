"""Answer a second read of an unchanged range, where that was asked for.

It falls open: without state, without a note, or in any doubt the file is read. What is denied was
taken out of the notes first, so the second try goes through, and of hooks that run at once only one
denies.
"""

from __future__ import annotations

from hooks.context.guard import state_of
from hooks.context.session_state import Key, change, document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.session_state import Document
    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    event = ctx.event
    if event.tool_name != "Read" or not ctx.settings.guards.read_cache:
        return ()
    state, key = state_of(ctx), Key("reads", event.session_id)
    known = document(state.read([key])[0]) if state is not None else {}
    if state is None or not known:
        return ()
    from hooks.context import read_cache

    wanted = read_cache.asked(event.tool_input)
    epoch = read_cache.epoch(ctx.settings.home, event.session_id)
    found = read_cache.look(wanted, event.agent_id, epoch) if wanted and epoch else None
    if wanted is None or found is None or not read_cache.noted(known, found):
        return ()
    since = ""

    def edit(now: Document) -> Document:
        nonlocal since
        since = read_cache.noted(now, found)
        return read_cache.drop(now, found.mark)

    change(state, key, edit)
    if not since:  # another hook was faster
        return ()
    from hooks.context.operation import OURS
    from hooks.reply import Deny

    return (Deny(OURS + read_cache.denial(wanted, since)),)
