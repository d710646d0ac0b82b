"""Count the tokens that the session's new lines tell of."""

from __future__ import annotations

from hooks.context.followed import followed, marks_of
from hooks.context.scope import valid_session
from hooks.context.tokens import FOREGROUND_BYTES, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.session_state import Document
    from hooks.context.sources import Source
    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    if not _count(ctx):
        from hooks.context.handing_over import hand_over

        hand_over(ctx, "count-tokens")
    return ()


def _count(ctx: Ctx) -> bool:
    """Say whether the event's part is done; False is for the worker, which may take its time."""
    event = ctx.event
    if not valid_session(event.session_id):
        return True
    if ctx.state is None:
        from hooks.context.handing_over import only_there

        return not only_there(ctx)

    def choose(kept: Document) -> Sequence[Source]:
        return followed(event, ctx.env, fresh=not marks_of(kept))

    return count(ctx.state, event.session_id, choose, limit=FOREGROUND_BYTES)
