"""Tell a running session what changed since it was last told, and what waits for it."""

from __future__ import annotations

import os

from hooks.context import project_cache
from hooks.context.claims import claim
from hooks.context.telling import look, memory_off, news, record, where
from hooks.quick import door_note, read_note, unchanged
from hooks.reply import Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.dispatch import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    home, session = ctx.settings.home, where(ctx).session_id
    if not session or unchanged(read_note(door_note(home, session)).get("watch")):
        return ()
    if memory_off(ctx) is not None or not claim(home, ctx.event, ctx.env, ctx.at):
        return ()
    seen, before = look(ctx)
    told = news(ctx, seen)
    record(ctx, told, before)
    waiting = _take(ctx, session)
    return tuple(Say(text) for text in (*waiting, told.text) if text)


def _take(ctx: Ctx, session: str) -> list[str]:
    taken = project_cache.take_project_context(
        ctx.settings.home, ctx.namespace(), session, at=ctx.at
    )
    if taken is None:
        return []
    payload, claimed = taken
    ctx.after_print.append(lambda: os.unlink(claimed))
    return [str(payload.get("text", ""))]
