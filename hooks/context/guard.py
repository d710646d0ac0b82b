"""What every guard asks first: may it act, and what is known of this session?"""

from __future__ import annotations

from hooks.context.scope_log import valid_session
from hooks.context.session_state import Key, document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.session_state import SessionState
    from hooks.dispatch import Ctx

CONTROLS = Key("controls", "switch")  # {"off": true, "until": ISO instant or ""}


def state_of(ctx: Ctx) -> SessionState | None:
    """Return the state for a guard; None where it is down, or the person switched controls off."""
    if not valid_session(ctx.event.session_id):
        return None
    state = ctx.state
    return None if state is None or are_off(state, ctx) else state


def are_off(state: SessionState, ctx: Ctx) -> bool:
    from hooks.clock import iso

    [value] = state.read([CONTROLS])
    said = document(value)
    until = said.get("until")
    return said.get("off") is True and (not until or iso(ctx.at) < str(until))
