"""Answer `/brainhooks:<verb> ...` here, and words that mean one.

No model turn, no shell, every character literal.
"""

from __future__ import annotations

from hooks.quick import verb_line
from hooks.reply import Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    line = verb_line(ctx.event.prompt)
    if not line:
        return ()
    from hooks.context.claims import answer_once
    from hooks.verbs import OF_THE_MODEL, VerbCtx, answer, parse

    parsed = parse(line)
    if parsed is not None and parsed[0] in OF_THE_MODEL:
        return ()
    verb = VerbCtx(
        settings=ctx.settings,
        env=ctx.env,
        at=ctx.at,
        session_id=ctx.event.session_id,
        cwd=ctx.event.cwd,
        prompt_id=ctx.event.prompt_id,
        root=ctx.root,
    )
    said = answer_once(ctx.settings.home, ctx.event, ctx.env, ctx.at, lambda: answer(line, verb))
    ctx.answered = True
    return (Block(said),)
