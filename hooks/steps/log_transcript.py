"""Log the session's new turns, where the person asked for it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.session_state import Document
    from hooks.context.sources import Source
    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    if ctx.settings.guards.transcript_log and not _log(ctx):
        from hooks.context.handing_over import hand_over

        hand_over(ctx, "log-transcript")
    return ()


def _log(ctx: Ctx) -> bool:
    """Say whether the event's part is done; False is for the worker, which may take its time."""
    from hooks.context.followed import followed, marks_of
    from hooks.context.scope import valid_session
    from hooks.context.transcript_log import log_of
    from hooks.errors import StateDown, StateError

    event = ctx.event
    if not valid_session(event.session_id):
        return True
    if ctx.state is None:
        from hooks.context.handing_over import only_there

        return not only_there(ctx)
    log = log_of(ctx.state, ctx.settings, ctx.env, ctx.at, event.session_id, event.cwd)
    if log is None:
        return True

    def choose(kept: Document) -> Sequence[Source]:
        return followed(event, ctx.env, fresh=not marks_of(kept))

    try:
        return log.write(choose, patient=False)
    except StateDown:
        raise
    except StateError as err:  # another process writes this log, or a transcript cannot be read
        ctx.log(f"log_transcript: {err}")
        return False
