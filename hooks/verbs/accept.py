"""``accept [ID]``: let a signal or a personal memory be seen in other projects; no ID lists them.

Nothing crosses projects by the agent's own hand: this is the person's.
"""

from __future__ import annotations

from hooks.errors import NotOneMemory
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.library import NothingYetError, may_cross, one, open_library, refresh, unfound
from hooks.verbs.wording import count, memory_line, one_line, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.verbs.library import Library

TEXT_WIDTH = 100


def run(args: str, ctx: VerbCtx) -> str:
    words = args.split()
    if len(words) > 1:
        raise VerbUsageError("accept", "it takes one id")
    try:
        brain = open_library(ctx)
    except NothingYetError as err:
        if words:
            raise
        return f"{err}.".capitalize()
    try:
        return _accept(brain, words[0], ctx) if words else _waiting(brain)
    finally:
        brain.close()


def _accept(brain: Library, wanted: str, ctx: VerbCtx) -> str:
    try:
        item = one(brain, wanted)
    except NotOneMemory as err:
        raise unfound(ctx, wanted, err) from None
    if item.id not in {waiting.id for waiting in brain.waiting()}:
        everybodys = item.id in {told.id for told in brain.feed()}
        if everybodys or (item.accepted and may_cross(item)):
            how = "was accepted before" if item.accepted else "is for every project already"
            return f"{short(item.id)} {how}: {one_line(item.text, TEXT_WIDTH)}"
        return f"{short(item.id)} stays in its project; only signals and personal memories cross."
    brain.accept(item.id)
    refresh(ctx, brain, [item._replace(accepted=True)])
    return (
        f"Accepted {short(item.id)}, every project sees it now: {one_line(item.text, TEXT_WIDTH)}"
    )


def _waiting(brain: Library) -> str:
    waiting = brain.waiting()
    if not waiting:
        return "Nothing waits for you: no signal or personal memory asks to cross projects."
    lines = [f"{count(len(waiting), 'memory', 'memories')} would be seen in other projects too:"]
    lines += [
        f"  {memory_line(item, TEXT_WIDTH)}  from {item.project or 'no project'}"
        for item in waiting
    ]
    lines.append("`accept ID` lets one through; `forget ID` removes it.")
    return "\n".join(lines)
