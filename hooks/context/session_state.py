"""What the hook processes of one installation know of its running sessions.

Small JSON documents by kind and id, in ``state.db`` or in Redis. They are spare knowledge: where
they are lost or out of reach, every guard begins from empty, and an event goes on without.
"""

from __future__ import annotations

from hooks.context import state_down
from hooks.errors import StateDown
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from typing import NamedTuple, Protocol

    from hooks.settings import Settings

    Document = dict[str, object]
else:
    from hooks.record import NamedTuple

    Protocol = object

_DAY_S = 86_400
# kind -> how many seconds after its last write a document is gone; None: never.
TTL_S: dict[str, int | None] = {
    "controls": None,  # the person's switch; an end, where one was asked for, is in the document
    "logger": 30 * _DAY_S,  # how far the transcript logger came
    "breaker": _DAY_S,
    "reads": _DAY_S,
    "signals": _DAY_S,
    "tokens": _DAY_S,
}
_TRIES = 8  # of a compare-and-set: as many hooks of one session as ever run at once


class Key(NamedTuple):
    kind: str  # of ``TTL_S``
    id: str  # a session's, or what else tells two documents of the kind apart


class SessionState(Protocol):
    """One backend. Every method may raise ``StateDown``; none is tried twice."""

    def read(self, keys: Sequence[Key]) -> list[bytes | None]:
        """Return the values in the order of ``keys``, None where there is none (any more)."""

    def write(self, key: Key, value: bytes) -> None:
        """Set ``key``; its time to live begins anew."""

    def swap(self, key: Key, old: bytes | None, new: bytes | None) -> bool:
        """Compare-and-set: only where the value is ``old``; None is absence, on both sides."""

    def delete(self, keys: Sequence[Key]) -> None: ...

    def ids(self, kind: str) -> list[str]:
        """Return the ids that this installation has of ``kind``; for people's readers only."""

    def close(self) -> None: ...


def open_state(settings: Settings, at: datetime) -> SessionState | None:
    """Return the installation's state, or None where it is down: that is noted and logged once.

    While the short-lived mark of a failure stands, nothing is tried.
    """
    if state_down.is_marked(settings, at):
        return None
    try:
        return connect(settings, at)
    except StateDown as err:
        state_down.mark(settings, at, err.what)
        return None


def connect(settings: Settings, at: datetime) -> SessionState:
    """Open the configured backend.

    Raises:
        StateDown: it is not to be had from here.
    """
    if settings.redis.url:
        from hooks.context.state_redis import RedisState

        return RedisState.connect(settings)
    from hooks.context.state_embedded import EmbeddedState

    return EmbeddedState.open(settings.home, at)


def document(value: bytes | None) -> Document:
    """Return a value as the JSON object it is; {} where it is absent or none."""
    return load_object(value) or {} if value is not None else {}


def change(
    state: SessionState, key: Key, edit: Callable[[Document], Mapping[str, object]]
) -> Document:
    """Replace a document by what ``edit`` makes of it, however many hooks do so at once.

    ``edit`` may be called several times; an empty result deletes the document.

    Raises:
        StateDown: also where others were faster ``_TRIES`` times.
    """
    for _ in range(_TRIES):
        [old] = state.read([key])
        made = dict(edit(document(old)))
        new = dumps(made).encode("ascii") if made else None
        if new == old or state.swap(key, old, new):
            return made
    raise StateDown(key.kind, "too many writers at once")
