"""Count what failed, and say when it is time to stop.

It falls quiet: without state nothing is counted. A call that a person interrupted, and one that we
denied ourselves, did not fail.
"""

from __future__ import annotations

from hooks.context import breaker
from hooks.context.edits import edits_first
from hooks.context.guard import state_of
from hooks.context.operation import OURS, fingerprint, operation
from hooks.context.session_state import Key, change
from hooks.context.target import target
from hooks.reply import Say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.breaker import Failure
    from hooks.context.session_state import Document
    from hooks.ctx import Ctx
    from hooks.reply import Reply


def run(ctx: Ctx) -> Sequence[Reply]:
    event = ctx.event
    if event.interrupted or not event.tool_name or _is_ours(event.error):
        return ()
    state = state_of(ctx)
    if state is None:
        return ()
    what = operation(event.tool_name, event.tool_input)
    error = fingerprint(event.tool_name, event.tool_input, event.error)
    aim = target(event.tool_name, event.tool_input, event.cwd)
    denies = ctx.settings.guards.breaker_deny
    edited = denies and edits_first(event.tool_name, event.tool_input)
    counted: list[Failure] = []

    def edit(document: Document) -> Document:
        after, now = breaker.count(document, what, error, target=aim, edited=edited, denies=denies)
        counted[:] = [now]
        return after

    change(state, Key("breaker", event.session_id), edit)
    return tuple(Say(breaker.warning(what, one)) for one in counted if breaker.is_told(one.times))


def _is_ours(error: str) -> bool:
    """Say whether a denial of ours came back as an error: the client puts its own words before."""
    return OURS in error.lstrip().partition("\n")[0]
