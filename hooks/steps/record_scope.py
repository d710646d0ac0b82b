"""Record the launch scope: where and on what the session begins, and what it may name."""

from __future__ import annotations

from hooks.context import scope_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    settings, session = ctx.settings, ctx.event.session_id
    if not settings.session_scope or not scope_log.valid_session(session):
        return ()
    scope = scope_log.scope_from(ctx.project, settings.swarm)
    scope_log.record(settings.home, session, ctx.at, scope)
    scope_log.note_grants(settings.home, session, settings.grants)
    return ()
