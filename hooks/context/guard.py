"""What every guard asks first: may it act, and what is known of this session?"""

from __future__ import annotations

from hooks.context.scope_log import valid_session
from hooks.context.session_state import Key, document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from hooks.context.session_state import Document, SessionState
    from hooks.ctx import Ctx

CONTROLS = Key("controls", "switch")  # {"off": true, "until": ISO instant or ""}


def state_of(ctx: Ctx) -> SessionState | None:
    """Return the state for a guard; None where it is down, or the person switched controls off."""
    if not valid_session(ctx.event.session_id):
        return None
    state = ctx.state
    return None if state is None or are_off(state, ctx) else state


def are_off(state: SessionState, ctx: Ctx) -> bool:
    [value] = state.read([CONTROLS])
    return says_off(document(value), ctx.at)


def says_off(switch: Document, at: datetime) -> bool:
    """Read the switch's document: whether controls are off at ``at``."""
    from hooks.clock import iso

    until = switch.get("until")
    return switch.get("off") is True and (not until or iso(at) < str(until))
