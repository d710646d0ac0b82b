"""``move ID``: give a memory to the project of the folder the person is in.

For what was kept for no project, and for what was kept for the wrong one.
"""

from __future__ import annotations

from hooks.context import keep
from hooks.context.brain_adapter import brain_kind
from hooks.context.remote import UNKNOWN
from hooks.errors import HookError, NotOneMemory
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.library import here, one, open_library, refresh, unfound
from hooks.verbs.wording import one_line, short

TEXT_WIDTH = 100


class NotMovableError(HookError):
    """A memory or a folder that a move cannot be about."""

    def __init__(self, what: str, hint: str) -> None:
        self.hint = hint
        super().__init__(what)


def run(args: str, ctx: VerbCtx) -> str:
    if len(args.split()) != 1:
        raise VerbUsageError("move", "it takes one id; the project is this folder's")
    project = here(ctx).id
    if project == UNKNOWN:
        hint = "say it in a folder of the project, or make this one: brainhooks project register"
        raise NotMovableError(
            "this folder belongs to no project, so nothing can be moved to it", hint
        )
    brain = open_library(ctx)
    try:
        if not hasattr(brain, "move"):
            what = f"the {brain_kind(ctx.settings)} brain cannot move a memory to another project"
            raise NotMovableError(what, "say it again here with remember, and forget this one")
        try:
            item = one(brain, args)
        except NotOneMemory as err:
            raise unfound(ctx, args, err) from None
        if item.project == project:
            return f"{short(item.id)} is of {project} already."
        if not keep.move(ctx.settings, brain, ctx.at, item.id, project):
            hint = "a replaced text moves with the newer one; what is for everybody has no project"
            what = f"{short(item.id)} cannot be moved"
            raise NotMovableError(what, hint)
        refresh(ctx, brain, [item, item._replace(project=project)])
    finally:
        brain.close()
    came = item.project or "no project"
    return f"Moved {short(item.id)} from {came} to {project}: {one_line(item.text, TEXT_WIDTH)}"
