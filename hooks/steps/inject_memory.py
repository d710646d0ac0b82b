"""Tell a starting session what its project, its person and the brain remember."""

from __future__ import annotations

import os

from hooks.context import injections
from hooks.context.brain_adapter import brain_kind
from hooks.context.brains import BRAINS
from hooks.context.claims import claim
from hooks.context.compose import compose
from hooks.context.memory_view import view_of_context
from hooks.context.telling import first_time_here, is_told, look, memory_off, record, where
from hooks.reply import Say, Tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.compose import Composed
    from hooks.context.memory_view import View
    from hooks.context.switch import Off
    from hooks.ctx import Ctx
    from hooks.reply import Reply

NO_MEMORIES = ("preferences", "notes")  # what a session is told besides, by its document
AGAIN = ("resume",)  # the conversation still holds what was said: the client folds equal bytes


def run(ctx: Ctx) -> Sequence[Reply]:
    if not claim(ctx.settings.home, ctx.event, ctx.env, ctx.at):
        return ()
    off = memory_off(ctx)
    if off is not None:
        return (Tell(_is_off(off)),)
    seen, before = look(ctx, view_of_context)
    ctx.incomplete = not seen.complete
    missing = _missing(ctx, seen)
    said = _said_before(ctx, seen)
    if said:
        return (Say(said), *missing)
    told = _composed(ctx, seen)
    record(ctx, told, before)
    return (Say(told.text), *(missing or _greeting(ctx, seen)))


def _composed(ctx: Ctx, seen: View) -> Composed:
    how_to = ctx.env.get("CLAUDE_CODE_ENTRYPOINT") == "cli"
    if seen.facts is not None:
        from scripts.swarm_v2.memory.told import tell

        return tell(seen.context, seen.facts._replace(how_to=how_to))
    budget = ctx.settings.budget_units
    return compose(ctx.project.id, seen.sections, budget=budget, how_to=how_to)


def _missing(ctx: Ctx, seen: View) -> Sequence[Reply]:
    """Say, once a session, that something that is kept cannot be shown: it looks like nothing."""
    if not seen.unreadable:
        return _astray(ctx)
    from hooks.quick import VERB_PREFIX

    ctx.log(f"{seen.unreadable} cannot be read")
    what = "so what it holds is not told; what to do:"
    return (Tell(f"brainhooks: {seen.unreadable} cannot be read, {what} {VERB_PREFIX}doctor"),)


def _astray(ctx: Ctx) -> Sequence[Reply]:
    """Say that what is configured is no brain, or its folder not there: nothing is delivered."""
    kind, settings = brain_kind(ctx.settings), ctx.settings
    if kind == "file" and not os.path.isdir(settings.brain_path):
        from hooks.context.brain_adapter import where_set

        what = f"there is no folder {settings.brain_path}"
        place = where_set(settings, ctx.env)
        todo = f"make it, mount or sync what holds it, or correct BRAIN_SOURCE_PATH in {place}"
    elif kind == "invalid":
        from hooks.context.brain_adapter import how_to_mend, why_invalid

        what, todo = why_invalid(settings), how_to_mend(settings, ctx.env)
    else:
        return ()
    from hooks.verbs.wording import one_line

    waits = "so what is marked waits in the outbox"
    return (Tell(one_line(f"brainhooks: {what}, {waits}. To do: {todo}")),)


def _is_off(off: Off) -> str:
    from hooks.quick import VERB_PREFIX
    from hooks.verbs.memory import ON, describe

    said = f"brainhooks: memory is off {describe(off)}"
    return (
        said.replace(f"`{ON}`", VERB_PREFIX + ON)
        if ON in said
        else (f"{said}; {VERB_PREFIX}{ON} switches it on before")
    )


def _said_before(ctx: Ctx, seen: View) -> str:
    """On resume: the bytes of the last start, unless a memory in them is gone or other since.

    The door's note stays as it was, so that news since then come with the next prompt.
    """
    if ctx.event.source not in AGAIN:
        return ""
    starts = [
        row
        for row in injections.read(ctx.settings.home, where(ctx).session_id)
        if row.event == ctx.event.name
    ]
    if not starts:
        return ""
    last, there = starts[-1], {item.id: item for item in seen.items}
    said = {**dict.fromkeys(last.ids, ""), **dict(last.prints)}
    same = all(key in there and is_told(ctx, said, there[key]) for key in said)
    return last.text if same else ""


def _greeting(ctx: Ctx, seen: View) -> Sequence[Reply]:
    if not first_time_here(ctx):
        return ()
    told = {item.id for item in seen.items}
    count = sum(one.partition("/")[0] not in NO_MEMORIES for one in told)
    kind = brain_kind(ctx.settings)
    memories = f"{count} memories" if count > 1 else "1 memory"
    if not count:
        # The home's own brain that nothing was kept in yet has no database: that is no doubt.
        unread = not seen.complete and kind != "local" and BRAINS[kind].module
        later = "not read yet; what it remembers comes with a later prompt"
        memories = later if unread else "no memories yet"
    project = ctx.project.id if ctx.project.id != "unknown" else "no project here"
    return (Tell(f"brainhooks: {project}, {kind} brain, {memories}"),)
