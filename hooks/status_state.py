"""What ``brain_status`` knows of the sessions' state; ``doctor`` asks it what is wrong.

Only for the person's switch is it asked here too, as briefly as a hook asks.
"""

from __future__ import annotations

from hooks.clock import parse_iso
from hooks.context import state_down
from hooks.context.redis_url import parse
from hooks.errors import SettingsError
from hooks.status_piece import Look, Piece, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

BEGAN_S = 86_400  # after the upgrade that brought it: as long as what is kept of a session lives
RECENT_S = 600  # while it stays down, working hooks renew the failure every state_down.PAUSE_S


def state(look: Look) -> Piece:
    """Return where it is kept, and ``failed`` {"since", "why"} of the last failure, or {}.

    ``began`` is the instant of an upgrade of this day that sessions may have lived through, or "".
    """
    url = look.settings.redis.url
    data: dict[str, Any] = {"kept_in": "redis" if url else "state.db", "failed": {}}
    data["began"] = _began(look)
    if url:
        try:
            place = parse(url)
        except SettingsError as err:
            what = f"{err}; hooks go on without the sessions' state"
            return Piece(data, (Problem("yellow", what, err.hint),))
        data |= {"form": place.form, "tls": place.tls, "by_every_hook": place.plain}
    return _failed(look, data)


def _failed(look: Look, data: Mapping[str, Any]) -> Piece:
    note = state_down.last(look.settings)
    since = parse_iso(note.get("since"))
    if since is None:
        return Piece(data)
    data = {**data, "failed": {"since": note["since"], "why": str(note.get("why", ""))}}
    if not 0 <= (look.at - since).total_seconds() <= RECENT_S:
        return Piece(data)
    what = f"the sessions' state was out of reach at {_clock(data)}: {data['failed']['why']}; "
    what += "until it is back, guards and counters rest and nothing else does"
    return Piece(data, (Problem("yellow", what, "brainhooks doctor asks it what is wrong"),))


def _began(look: Look) -> str:
    from hooks.context.ledger_notes import steps
    from hooks.context.migrations import STATE_STEP

    for row in steps(look.settings.home):
        counts, at = row.get("counts"), parse_iso(row.get("at"))
        if row.get("name") != STATE_STEP or at is None or not isinstance(counts, dict):
            continue
        if counts.get("sessions_before") and 0 <= (look.at - at).total_seconds() <= BEGAN_S:
            return str(row["at"])
    return ""


def _clock(data: Mapping[str, Any]) -> str:
    from hooks.verbs.wording import minute

    return minute(str(data["failed"]["since"]))


def controls(look: Look) -> Piece:
    """Return ``on``, None where nobody can tell, and ``until``, "" for an open end."""
    from hooks.context import controls as switch
    from hooks.context.session_state import WAIT_S
    from hooks.errors import StateDown

    if state_down.is_marked(look.settings, look.at):
        return Piece({"on": None, "until": ""})
    try:
        return Piece(switch.look(look.settings, look.at, WAIT_S)._asdict())
    except (StateDown, SettingsError):  # the piece before tells why
        return Piece({"on": None, "until": ""})


def describe_controls(data: Mapping[str, Any]) -> str:
    from hooks.context.controls import Controls
    from hooks.verbs.controls import until

    if data["on"] is None:
        return "not known while the sessions' state is out of reach; no guard acts then"
    return "on" if data["on"] else f"off on this installation, {until(Controls(**data))}"


def describe(data: Mapping[str, Any]) -> str:
    said = "in state.db"
    if data["kept_in"] == "redis":
        said = "in Redis" + ("" if data.get("by_every_hook") else _ONLY if "form" in data else "")
    if data["began"]:
        from hooks.verbs.wording import minute

        said += f"; empty at the upgrade, {minute(data['began'])}: a session that lived through it "
        said += "began again from there, once"
    return said + (f"; last out of reach {_clock(data)}" if data["failed"] else "")


_ONLY = ", which only the server door and the worker reach (docs/state.md)"
