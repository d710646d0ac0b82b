"""Remember what a read showed, where second reads are answered.

It falls open: only what the agent was shown exactly as the file has it is noted, and what it was
shown otherwise is forgotten.
"""

from __future__ import annotations

from hooks.context.guard import state_of
from hooks.context.session_state import Key, change

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
    from hooks.clock import iso
    from hooks.context import read_cache

    wanted = read_cache.asked(event.tool_input)
    state = state_of(ctx)
    if wanted is None or state is None:
        return ()
    text = read_cache.shown(event.tool_response, wanted)
    epoch = read_cache.begin_epoch(ctx.settings.home, event.session_id)
    found = read_cache.look(wanted, event.agent_id, epoch)
    if found is None:
        return ()

    def edit(known: Document) -> Document:
        if text != found.text:
            return read_cache.drop(known, found.mark)
        return read_cache.note(known, found, iso(ctx.at))

    change(state, Key("reads", event.session_id), edit)
    return ()
