"""Show `◆ lesson: text` where the assistant wrote a marker; model and transcript keep theirs.

A guard that falls towards showing: whenever it is not certain what was shown before, the
original text is shown.
"""

from __future__ import annotations

import os

from hooks.context.display import render
from hooks.context.flushes import Flushes, sweep
from hooks.reply import Show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    event = ctx.event
    if not ctx.settings.display_marks:
        return ()
    if event.index == 0 and event.final:
        shown = render(event.delta, final=True)
    elif event.message_id.replace("-", "").isalnum() and event.index >= 0:
        folder = os.path.join(ctx.settings.home, "display")
        flushes = Flushes(os.path.join(folder, event.message_id), event.index, event.delta)
        shown = flushes.show(final=event.final)
        if event.final:
            sweep(folder, event.message_id, ctx.at.timestamp())
    else:
        return ()
    return () if shown == event.delta else (Show(shown),)
