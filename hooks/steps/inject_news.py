"""Tell a running session what changed since it was last told, and what waits for it."""

from __future__ import annotations

import os

from hooks.context.brain_adapter import brain_kind
from hooks.context.claims import claim
from hooks.context.deferred import deliver
from hooks.context.telling import look, memory_off, news, record, where
from hooks.quick import door_note, read_note, unchanged
from hooks.reply import MAX_UNITS, Say, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.ctx import Ctx
    from hooks.reply import Reply

_BETWEEN = "\n\n"


def run(ctx: Ctx) -> Sequence[Reply]:
    if ctx.answered:
        return ()  # it never reaches the model: news told with it would be lost
    home, session = ctx.settings.home, where(ctx).session_id
    if not session or unchanged(read_note(door_note(home, session)).get("watch")):
        return ()
    if memory_off(ctx) is not None or not claim(home, ctx.event, ctx.env, ctx.at):
        return ()
    seen, before = look(ctx)
    if not (seen.complete and seen.obeyed) and brain_kind(ctx.settings) == "file":
        # A folder changed that is too large to be read here, or holds a new tombstone.
        from hooks.spawn import detach, start_command

        detach(start_command(ctx.root, "worker", "refresh", ctx.project.id), dict(ctx.env))
    waiting = deliver(ctx.settings, seen, session, ctx.event.name, ctx.at)
    if waiting.claimed:
        ctx.after_print.append(lambda: os.unlink(waiting.claimed))
    told = news(ctx, seen, MAX_UNITS - units(waiting.text) - len(_BETWEEN), waiting)
    record(ctx, told, before)
    return (Say(_BETWEEN.join(text for text in (waiting.text, told.text) if text)),)
