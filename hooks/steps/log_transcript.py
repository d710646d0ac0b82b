"""Log the session's new turns, where the person asked for it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.session_state import Document
    from hooks.context.sources import Source
    from hooks.dispatch import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    if ctx.settings.guards.transcript_log and not _log(ctx):
        _hand_over(ctx)
    return ()


def _log(ctx: Ctx) -> bool:
    """Say whether the event's part is done; False is for the worker, which may take its time."""
    from hooks.context.followed import followed, marks_of
    from hooks.context.scope import valid_session
    from hooks.context.transcript_log import log_of
    from hooks.errors import StateDown, StateError

    event = ctx.event
    state = ctx.state if valid_session(event.session_id) else None
    if state is None:
        return True
    log = log_of(state, ctx.settings, ctx.env, ctx.at, event.session_id, event.cwd)
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


def _hand_over(ctx: Ctx) -> None:
    from hooks.spawn import detach, start_command

    event = ctx.event
    words = ("log-transcript", event.session_id, event.transcript_path, event.cwd)
    detach(start_command(ctx.root, "worker", *words), dict(ctx.env))
