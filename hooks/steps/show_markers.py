"""Show `◆ lesson: text` where the assistant wrote a marker; model and transcript keep theirs.

A guard that falls towards showing: whenever it is not certain what was shown before, it says
nothing and the client shows the original text.
"""

from __future__ import annotations

import os
import time

from hooks import atomic
from hooks.context.display import render
from hooks.reply import Show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hooks.dispatch import Ctx
    from hooks.payload import Event
    from hooks.reply import Reply

WAIT_S = 0.5  # flushes overlap: an earlier one was dispatched before us and writes its part soon
STEP_S = 0.005


def run(ctx: Ctx) -> Sequence[Reply]:
    event = ctx.event
    if not ctx.settings.display_marks:
        return ()
    if event.index == 0 and event.final:
        parts = [event.delta]
    else:
        parts = _flushes(os.path.join(ctx.settings.home, "display"), event)
    if not parts:
        return ()
    before = render("".join(parts[:-1]), final=False)
    shown = render("".join(parts), final=event.final)[len(before) :]
    return () if shown == event.delta else (Show(shown),)


def _flushes(
    folder: str,
    event: Event,
    sleep: Callable[[float], None] = time.sleep,  # noqa: TID251
) -> list[str]:
    """Leave this flush for the later ones; return all up to it, or [] where one is missing."""
    if not event.message_id.replace("-", "").isalnum() or event.index < 0:
        return []
    mine = os.path.join(folder, event.message_id)
    atomic.write(os.path.join(mine, str(event.index)), event.delta.encode(), durable=False)
    parts: list[str] = []
    waited = 0.0
    while len(parts) <= event.index:
        data = atomic.read(os.path.join(mine, str(len(parts))))
        if data is not None:
            parts.append(data.decode("utf-8", "replace"))
        elif waited >= WAIT_S:
            return []
        else:
            sleep(STEP_S)
            waited += STEP_S
    return parts
