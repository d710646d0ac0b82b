"""Tell a subagent the few memories that matter most."""

from __future__ import annotations

from hooks.context.claims import claim
from hooks.context.compose import Section, compose
from hooks.context.telling import look, memory_off, record_only
from hooks.reply import Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.ctx import Ctx
    from hooks.reply import Reply

MOST_UNITS = 1_000  # a subagent has one task; the main session has the rest


def run(ctx: Ctx) -> Sequence[Reply]:
    if not claim(ctx.settings.home, ctx.event, ctx.env, ctx.at) or memory_off(ctx) is not None:
        return ()
    seen, _ = look(ctx)
    everything = [Section("What matters most here", seen.items)]
    told = compose(ctx.project.id, everything, budget=min(MOST_UNITS, ctx.settings.budget_units))
    record_only(ctx, told)
    return (Say(told.text),)
