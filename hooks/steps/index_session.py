"""Note that the session exists, so that the worker can catch up what its hooks miss."""

from __future__ import annotations

from hooks.clock import iso
from hooks.context.scope_log import valid_session
from hooks.context.session_index import Entry, append

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    event, project = ctx.event, ctx.project
    if not valid_session(event.session_id):
        return ()
    entry = Entry(
        session_id=event.session_id,
        at=iso(ctx.at),
        project_id=project.id,
        project=project.label,
        cwd=event.cwd,
        worktree=project.worktree,
        transcript_path=event.transcript_path,
        source=event.source or event.name,
        client_pid=ctx.env.get("CLAUDE_PID", ""),
        principal=ctx.settings.principal,
    )
    append(ctx.settings.home, entry)
    return ()
