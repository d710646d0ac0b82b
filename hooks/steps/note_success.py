"""Forget the failures that a success ends; an edit lets run again what was denied.

It falls quiet: without state nothing was counted. It forgets with the controls off, too: what was
repaired meanwhile must not be denied once they are on again. Of a shell script only what has run
and succeeded for certain counts as a success, and a command in the background has only begun.
"""

from __future__ import annotations

from hooks.context import breaker
from hooks.context.scope_log import valid_session
from hooks.context.session_state import Key, change, document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.session_state import Document
    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    event = ctx.event
    if not valid_session(event.session_id):
        return ()
    state, key = ctx.state, Key("breaker", event.session_id)
    if state is None or not document(state.read([key])[0]):
        return ()
    from hooks.context.edits import edits

    edited = ctx.settings.guards.breaker_deny and edits(event.tool_name, event.tool_input)
    parts = _proven(ctx)

    def edit(known: Document) -> Document:
        return breaker.succeeded(known, event.tool_name, parts, edited=edited)

    change(state, key, edit)
    return ()


def _proven(ctx: Ctx) -> tuple[str, ...]:
    """Return the parts of a shell command's operation that succeeded."""
    event = ctx.event
    text, said = event.tool_input.get("command"), event.tool_response
    if event.tool_name != "Bash" or not isinstance(text, str):
        return ()
    if event.tool_input.get("run_in_background") is True:
        return ()
    if isinstance(said, dict) and (said.get("interrupted") is True or "backgroundTaskId" in said):
        return ()
    from hooks.context.operation import groups
    from hooks.context.shell_words import succeeded

    return groups(succeeded(text))
