"""The person's switch for guards and signals, as the person's own words turn and read it.

One document of this installation in the sessions' state, which nothing but a person's word or
the end that it names ever ends. Who only reads it makes no state.
"""

from __future__ import annotations

import os

from hooks.context.guard import CONTROLS, says_off
from hooks.context.session_state import connect, document
from hooks.errors import StateDown
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import NamedTuple

    from hooks.context.session_state import Document, SessionState
    from hooks.settings import Settings
else:
    from hooks.record import NamedTuple

WAIT_S = 1.0  # a person waits for the answer: longer than a hook would, and not for long


class UnsureError(StateDown):
    """The state was given the switch and did not confirm it: it may be stored."""


class Controls(NamedTuple):
    on: bool = True
    until: str = ""  # the ISO instant at which they are on again; "" is an open end


def turn(settings: Settings, at: datetime, *, on: bool, until: datetime | None = None) -> Controls:
    """Switch them, and return what is stored then.

    Raises:
        StateDown: the switch was not stored; UnsureError: nobody can tell.
        SettingsError: REDIS_URL or REDIS_KEY_PREFIX cannot be used.
    """
    from hooks.clock import iso

    if on and not _made(settings):
        return Controls()
    state = _open(settings, at, WAIT_S)
    try:
        wanted = None if on else {"off": True, "until": "" if until is None else iso(until)}
        _store(state, wanted)
        return _read_back(state, at)
    finally:
        state.close()


def _store(state: SessionState, wanted: Document | None) -> None:
    from hooks.context.redis_faults import is_refusal

    try:
        if wanted is None:
            state.delete([CONTROLS])
        else:
            state.write(CONTROLS, dumps(wanted).encode("ascii"))
    except StateDown as err:
        # A file rolls back, and a server that says no has not done it. One that says nothing may.
        if err.where != "REDIS_URL" or is_refusal(err.what):
            raise
        raise UnsureError(err.where, err.what) from None


def _read_back(state: SessionState, at: datetime) -> Controls:
    try:
        return _read(state, at)
    except StateDown as err:
        raise UnsureError(err.where, err.what) from None


def look(settings: Settings, at: datetime, wait_s: float = WAIT_S) -> Controls:
    """Return how they are; on where there is no state yet.

    Raises:
        StateDown: nobody can tell.
        SettingsError: as ``turn``.
    """
    if not _made(settings):
        return Controls()
    state = _open(settings, at, wait_s)
    try:
        return _read(state, at)
    finally:
        state.close()


def _made(settings: Settings) -> bool:
    """Say whether this installation may have any state; without an id it has no key in Redis."""
    made = "installation.json" if settings.redis.url else "state.db"
    return os.path.exists(os.path.join(settings.home, made))


def _open(settings: Settings, at: datetime, wait_s: float) -> SessionState:
    return connect(settings, at, wait_s, redis_py=True)  # a person asked


def _read(state: SessionState, at: datetime) -> Controls:
    [value] = state.read([CONTROLS])
    switch = document(value)
    if not says_off(switch, at):
        return Controls()
    return Controls(on=False, until=str(switch.get("until") or ""))
