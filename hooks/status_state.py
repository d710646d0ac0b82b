"""What ``brain_status`` knows of the sessions' state; ``doctor`` asks it what is wrong.

It is asked here too, as briefly as a hook asks: for the person's switch, and whether it is back.
"""

from __future__ import annotations

import os

from hooks.clock import parse_iso
from hooks.context import state_down
from hooks.context.redis_faults import NO_PACKAGE, OF_WRITES
from hooks.context.redis_url import parse
from hooks.errors import SettingsError
from hooks.quick import served_note
from hooks.status_piece import Look, Piece, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

BEGAN_S = 86_400  # after the upgrade that brought it: as long as what is kept of a session lives
ASK = "brainhooks doctor asks it what is wrong"
ELSEWHERE = (
    "no guard and no signal acts at the agent's tools: the Redis of REDIS_URL takes TLS, Sentinel "
    "or Cluster, which a hook that is a process of its own does not load"
)
ELSEWHERE_NEXT = (
    "set REDIS_URL to a redis:// or unix:// address, or take the server door "
    "(docs/server-door.md); docs/state.md has both"
)
TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
DAMAGED_S = 86_400  # for which a damaged file that was put aside is told, or until it is gone
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
        if not place.plain and not served(look):
            piece = _failed(look, data)
            problem = Problem("yellow", ELSEWHERE, ELSEWHERE_NEXT)
            return Piece(piece.data, (problem, *piece.problems))
    return _failed(look, data)


def served(look: Look) -> bool:
    """Say whether the agent's tools come by the server door: it was the last to see one, or is on.

    A plugin of one session (``--plugin-dir``) is in no settings; one just installed saw no tool.
    """
    by_door = _written(served_note(look.settings.home))
    runs = os.path.join(look.settings.home, "brain", "last-run")
    if by_door and by_door >= max(_written(os.path.join(runs, name)) for name in TOOL_EVENTS):
        return True
    from scripts.doctor import Look as Around
    from scripts.doctor.agent import SERVED_PLUGIN, plugins

    copies = plugins(Around(look.env, look.at, look.cwd, ""))
    return any(copy.partition("@")[0] == SERVED_PLUGIN for copy in copies)


def _written(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _failed(look: Look, data: Mapping[str, Any]) -> Piece:
    note = state_down.last(look.settings)
    if parse_iso(note.get("since")) is None:
        return Piece(data)
    data = {**data, "failed": {"since": note["since"], "why": str(note.get("why", ""))}}
    why = data["failed"]["why"]
    if not _is_recent(look) or _is_back(look, why):
        return Piece(data)
    what = f"the sessions' state was out of reach at {_clock(data)}: {data['failed']['why']}; "
    what += "until it is back, guards and counters rest and nothing else does"
    return Piece(data, (Problem("yellow", what, _next(look, why)),))


def _is_recent(look: Look) -> bool:
    since = parse_iso(state_down.last(look.settings).get("since"))
    return since is not None and 0 <= (look.at - since).total_seconds() <= RECENT_S


def _is_back(look: Look, why: str) -> bool:
    """Ask a Redis that did not answer. What stopped changes, or hooks, only a hook can end."""
    if not look.settings.redis.url or why in OF_WRITES or why.startswith(NO_PACKAGE):
        return False
    return controls(look).data["on"] is not None


def _next(look: Look, why: str) -> str:
    if not look.settings.redis.url:
        return f"look at {look.settings.home}: its disk, its rights, who holds state.db"
    if why in OF_WRITES:
        return "mend that in the Redis of REDIS_URL; hooks try it again by themselves"
    if why.startswith(NO_PACKAGE):
        return "install it for that interpreter (docs/server-door.md), then start a new session"
    return ASK


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

    data: dict[str, Any] = {"on": None, "until": ""}
    problems = []
    if not state_down.is_marked(look.settings, look.at):
        try:
            data = switch.look(look.settings, look.at, WAIT_S)._asdict()
        except SettingsError:  # the piece before tells it
            pass
        except StateDown as err:
            if not _is_recent(look):  # else the piece before tells it, too
                what = f"the sessions' state is out of reach: {err.what}; no guard acts meanwhile"
                problems.append(Problem("yellow", what, _next(look, err.what)))
    return Piece(data, (*problems, *_damaged(look)))


def _damaged(look: Look) -> tuple[Problem, ...]:
    """Tell of a damaged file after asking for the switch, which may be what put it aside."""
    from hooks.context.state_embedded import ASIDE, FILE, GONE, put_aside_at

    at = None if look.settings.redis.url else put_aside_at(look.settings.home)
    if at is None or abs(look.at.timestamp() - at) > DAMAGED_S:
        return ()
    from hooks.clock import from_epoch, iso
    from hooks.verbs.wording import minute

    path = os.path.join(look.settings.home, ASIDE)
    what = f"{FILE} was damaged at {minute(iso(from_epoch(at)))} and lies in {path} now: {GONE}"
    todo = f"`controls off` if you want them off; rm {path} when you have seen this"
    return (Problem("yellow", what, todo),)


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
