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
    from hooks.dispatch import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    event = ctx.event
    state = ctx.state if valid_session(event.session_id) else None
    if state is None:
        return ()

    def choose(kept: Document) -> Sequence[Source]:
        return followed(event, ctx.env, fresh=not marks_of(kept))

    if not count(state, event.session_id, choose, limit=FOREGROUND_BYTES):
        from hooks.spawn import detach, start_command

        words = ("count-tokens", event.session_id, event.transcript_path, event.cwd)
        detach(start_command(ctx.root, "worker", *words), dict(ctx.env))
    return ()
