"""``remember TEXT``: keep a sentence of the person's, word for word but for secrets in it."""

from __future__ import annotations

from hooks.context import flush, keep
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.wording import one_line, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.keep import Place

TEXT_WIDTH = 200


def run(args: str, ctx: VerbCtx) -> str:
    if not args:
        raise VerbUsageError("remember", "what?")
    where = keep.place(ctx.settings, ctx.env, ctx.at, ctx.session_id, ctx.cwd)
    kept = keep.remember(ctx.settings, where._replace(prompt_id=ctx.prompt_id), args, {})
    lines = [f"Remembered {short(kept.key)}: {one_line(kept.text, TEXT_WIDTH)}"]
    if kept.redacted:
        lines.append(f"Taken out before it was stored: {', '.join(kept.redacted)}.")
    lines += _whereabouts(ctx, where)
    waits = deliver(ctx)
    if waits:
        lines.append(waits)
    return "\n".join(lines)


def _whereabouts(ctx: VerbCtx, where: Place) -> list[str]:
    from hooks.context.switch import load
    from hooks.verbs.memory import describe

    project = where.scope.project_id if where.scope is not None else "unknown"
    lines = []
    if project in ("", "unknown"):
        lines.append(
            "This folder belongs to no project, so no session is told of it; "
            "`brainhooks project register` makes it one."
        )
    stretch = load(ctx.settings.home).off(ctx.at, project, ctx.session_id)
    if stretch is not None:
        lines.append(f"Memory is off {describe(stretch)}: no session is told of it meanwhile.")
    return lines


def deliver(ctx: VerbCtx) -> str:
    """Post what waits: at once to a brain on this machine, by a worker to any other.

    Returns a sentence where it goes on waiting, else "". The person waits for no network.
    """
    from hooks.context.brain_adapter import brain_kind
    from hooks.context.brains import BRAINS

    kind = brain_kind(ctx.settings)
    if BRAINS[kind].at_once:
        done = flush.drain(ctx.settings, ctx.env, ctx.at)
        return f"It waits in the outbox: {done.stopped}." if done.left else ""
    if not BRAINS[kind].module:
        return f"It waits in the outbox: {BRAINS[kind].why_not}."
    from hooks.spawn import detach, start_command

    try:
        detach(start_command(ctx.root, "worker", "flush"), ctx.env)
    except OSError:
        return "It waits in the outbox; the next event delivers it."
    return _delayed(ctx)


def _delayed(ctx: VerbCtx) -> str:
    """Say that the brain took nothing lately; whether it does now, nobody waits for."""
    from hooks.context.brain_adapter import brain_id

    note = flush.pause(ctx.settings.home)
    if not note or note.get("brain") != brain_id(ctx.settings):
        return ""
    return f"It waits in the outbox; lately the brain took nothing: {note.get('why', '')}."
