"""What a session was told of branches and pull requests: ``Key("signals", session)``.

``{"heads": {working copy: branch}, "default": true once told, "pulls": {what: branch}}``. Lost or
expired, the next look begins again from what is there, and tells nothing of before.
"""

from __future__ import annotations

from hooks.context.guard import are_off
from hooks.context.scope_log import valid_session
from hooks.context.session_state import Key, change

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.context.session_state import Document
    from hooks.context.shell_words import Command
    from hooks.ctx import Ctx

_MOST = 16  # working copies, and pull requests, that are remembered


def key(session: str) -> Key:
    return Key("signals", session)


def update(ctx: Ctx, edit: Callable[[Document, bool], Document]) -> None:
    """Change what this session was told; ``edit`` is also given whether it may tell now.

    With the controls off it keeps step without a word: to switch them on again must not tell
    what was done meanwhile as news. Without state nothing happens.

    Raises:
        StateDown: the state was lost in the middle.
    """
    state, session = ctx.state, ctx.event.session_id
    if state is None or ctx.answered or not valid_session(session):
        return
    tells = not are_off(state, ctx)
    change(state, key(session), lambda document: edit(document, tells))


def texts(value: object) -> dict[str, str]:
    """Return what a document holds as texts by text; what is damaged is left out."""
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(text, str)}


def latest(some: dict[str, str], name: str, text: str) -> dict[str, str]:
    """Return ``some`` with ``name`` as its newest, and no more than are remembered."""
    kept = [item for item in some.items() if item[0] != name][1 - _MOST :]
    return {**dict(kept), name: text}


def shell_commands(ctx: Ctx) -> list[Command]:
    """Return what the event's shell command ran; [] for every other tool."""
    command = ctx.event.tool_input.get("command")
    if ctx.event.tool_name != "Bash" or not isinstance(command, str):
        return []
    from hooks.context.shell_words import commands

    return commands(command)
