"""Leave a session's transcripts to the worker.

Where a hook would take too long, or has no way to the state, which the worker has.
"""

from __future__ import annotations

from hooks.context import state_down
from hooks.errors import SettingsError
from hooks.spawn import detach, start_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.ctx import Ctx


def hand_over(ctx: Ctx, verb: str) -> None:
    """Start the worker on all transcripts of the event's session."""
    event = ctx.event
    words = (verb, event.session_id, event.transcript_path, event.cwd)
    detach(start_command(ctx.root, "worker", *words), dict(ctx.env))


def only_there(ctx: Ctx) -> bool:
    """Say whether the state needs redis-py, so that a hook has none and the worker may."""
    settings = ctx.settings
    if not settings.redis.url or state_down.is_marked(settings, ctx.at):
        return False
    from hooks.context.redis_url import parse

    try:
        return not parse(settings.redis.url).plain
    except SettingsError:  # brain_status and doctor say it
        return False
