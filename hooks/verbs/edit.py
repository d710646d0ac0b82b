"""``edit ID TEXT``: correct a memory, unless it changed since the person saw it."""

from __future__ import annotations

from hooks.context import keep
from hooks.errors import NotOneMemory
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.library import have_told, one, open_library, refresh, unfound
from hooks.verbs.wording import one_line, short

TEXT_WIDTH = 200


def run(args: str, ctx: VerbCtx) -> str:
    wanted, text = [*args.split(None, 1), "", ""][:2]
    if not text:
        raise VerbUsageError("edit", "it takes an id and the new text")
    brain = open_library(ctx)
    try:
        try:
            item = one(brain, wanted)
        except NotOneMemory as err:
            raise unfound(ctx, wanted, err) from None
        where = keep.place(ctx.settings, ctx.env, ctx.at, ctx.session_id, ctx.cwd)
        where = where._replace(prompt_id=ctx.prompt_id)
        kept = keep.edit(ctx.settings, ctx.env, where, item.id, text)
        refresh(ctx, brain, [item])
    finally:
        brain.close()
    have_told(ctx, "flush")
    lines = [
        f"{short(item.id)} is {short(kept.key)} now: {one_line(kept.text, TEXT_WIDTH)}",
        f"Before: {one_line(item.text, TEXT_WIDTH)}",
    ]
    if kept.redacted:
        lines.append(f"Taken out before it was stored: {', '.join(kept.redacted)}.")
    return "\n".join(lines)
