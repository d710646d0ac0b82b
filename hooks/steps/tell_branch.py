"""Tell once that the branch changed from outside, or that the work is on the default branch.

A branch that the session's own commands switched is no news. The default branch is told at the
first file that is edited on it, or the first commit: who only reads or asks is left alone.
A subagent's commands are the session's, but only the main agent is told: what changed while a
subagent works stays news until then.
"""

from __future__ import annotations

import os

from hooks.context.branch import EDITS, commits, elsewhere, look, may_switch, shown
from hooks.context.signals import latest, shell_commands, texts, update
from hooks.reply import Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.branch import Head
    from hooks.context.session_state import Document
    from hooks.context.shell_words import Command
    from hooks.ctx import Ctx
    from hooks.reply import Reply

_DEFAULT = "Unless the change is meant to land on it directly, make a branch for it first."
_SENDER = "brainhooks: "
_CHECK = "No command that I saw here did that: check what is checked out before you go on."


def run(ctx: Ctx) -> Sequence[Reply]:
    head = look(ctx.event.cwd)
    ran = shell_commands(ctx)
    works = _works_on_default(ctx, head, ran)
    said: list[str] = []

    def edit(known: Document, tells: bool) -> Document:
        said.clear()
        after = dict(known)
        if head is not None:
            _note(after, head, ran, said, ctx.event.agent_id)
        if works is not None and not after.get("default") and not ctx.event.agent_id and tells:
            after["default"] = True
            said.append(f"{_where(works)} is the default branch of this repository. {_DEFAULT}")
        if not tells:
            said.clear()
        return after

    if head is not None or works is not None:
        update(ctx, edit)
    return (Say("\n".join(_SENDER + text for text in said)),) if said else ()


def _note(
    after: Document, head: Head, ran: Sequence[Command], said: list[str], agent_id: str
) -> None:
    """Keep what is checked out now, and say what changed without us."""
    heads, own = texts(after.get("heads")), may_switch(ran)
    before = heads.get(head.key)
    if before is not None and before != head.name and not own:
        if agent_id:
            return
        was = shown(before) if before else "a detached HEAD"
        now = f"{_where(head)}, the default branch" if head.default else _where(head)
        said.append(f"the branch of this working copy changed from {was} to {now}. {_CHECK}")
    if own and elsewhere(ran):
        heads = {}  # another working copy may be what was switched: it begins anew
    after["heads"] = latest(heads, head.key, head.name)


def _where(head: Head) -> str:
    return shown(head.name) if head.name else f"a detached HEAD at {head.commit}"


def _works_on_default(ctx: Ctx, head: Head | None, ran: Sequence[Command]) -> Head | None:
    """Return the default branch that this event changed something on; what failed did not."""
    if ctx.event.name != "PostToolUse":
        return None
    file = ctx.event.tool_input.get("file_path") or ctx.event.tool_input.get("notebook_path")
    if ctx.event.tool_name in EDITS and isinstance(file, str):
        head = look(os.path.dirname(file))
    elif not commits(ran):
        return None
    return head if head is not None and head.default else None
