"""Keep what the agent marked, and say so to the person in one line."""

from __future__ import annotations

from hooks.context.collect import collect
from hooks.reply import Tell, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.collect import Kept
    from hooks.ctx import Ctx
    from hooks.reply import Reply

MOST_IDS = 8
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
    """Write ``brainhooks kept 1 lesson: "…" (1a2b3c4d)``; of several the first text and all ids."""
    homeless = sum(one.homeless for one in kept)
    what = f"1 {kept[0].type}" if len(kept) == 1 else f"{len(kept)} memories"
    if homeless:
        part = "" if homeless == len(kept) else f", {homeless} of them"
        what += f"{part} for no project"
    ids = ", ".join(one.key[:8] for one in kept[:MOST_IDS])
    more = ", …" if len(kept) > MOST_IDS else ""
    hidden = sum(bool(one.redacted) for one in kept)
    secret = ""
    if hidden:
        where = "it" if len(kept) == 1 else f"{hidden} of them"
        secret = f", a secret in {where} was left out"
    return f'brainhooks kept {what}: "{_beginning(kept[0].text)}" ({ids}{more}{secret})'


def _beginning(text: str) -> str:
    text = " ".join(text.split(None, MOST_UNITS)[:MOST_UNITS])  # as many are too long
    while units(text) > MOST_UNITS:
        text = text[: MOST_UNITS - 2].rstrip() + "…" if len(text) > MOST_UNITS else text[:-2] + "…"
    return text
