"""Start the detached worker where something waits for it; a hook never waits for a brain."""

from __future__ import annotations

from hooks.spawn import detach, start_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    tasks = _tasks(ctx)
    if tasks:
        detach(start_command(ctx.root, "worker", *tasks), dict(ctx.env))
    return ()


def _tasks(ctx: Ctx) -> list[str]:
    from hooks.context.flush import due

    if ctx.event.name == "SessionStart":
        rest = ["defer"] if ctx.incomplete else []
        return ["start", ctx.project.id, ctx.event.session_id, *rest]
    if ctx.settings.archive and ctx.event.transcript_path:
        end = ["close"] if ctx.event.name == "SessionEnd" else []
        return ["archive", ctx.event.session_id, ctx.event.transcript_path, *end]
    return ["flush"] if due(ctx.settings, ctx.at) else []
