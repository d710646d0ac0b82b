"""Keep what the agent marked, and say so to the person in one line."""

from __future__ import annotations

from hooks.context.collect import collect
from hooks.reply import Tell, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.collect import Kept
    from hooks.dispatch import Ctx
    from hooks.reply import Reply

MOST_UNITS = 120  # of the quoted text: the line should stay one line on the screen


def run(ctx: Ctx) -> Sequence[Reply]:
    collected = collect(ctx.event, ctx.settings, ctx.env, ctx.at)
    if collected.note:
        ctx.log(collected.note)
    if ctx.event.name != "Stop":
        return ()
    said = [receipt(collected.kept)] if collected.kept else []
    if collected.held:
        what = "1 proposal" if collected.held == 1 else f"{collected.held} proposals"
        said.append(f"brainhooks holds {what} for you: /brainhooks:review")
    return (Tell("\n".join(said)),) if said else ()


def receipt(kept: Sequence[Kept]) -> str:
    """Write ``brainhooks kept 1 lesson: "…" (1a2b3c4d)``, or the count for several."""
    first = kept[0]
    if len(kept) > 1:
        ids = ", ".join(one.key[:8] for one in kept[:8])
        more = ", …" if len(kept) > 8 else ""
        return f"brainhooks kept {len(kept)} memories ({ids}{more})"
    text = " ".join(first.text.split(None, MOST_UNITS)[:MOST_UNITS])  # as many are too long
    while units(text) > MOST_UNITS:
        text = text[: MOST_UNITS - 2].rstrip() + "…" if len(text) > MOST_UNITS else text[:-2] + "…"
    hidden = ", a secret in it was left out" if first.redacted else ""
    return f'brainhooks kept 1 {first.type}: "{text}" ({first.key[:8]}{hidden})'
