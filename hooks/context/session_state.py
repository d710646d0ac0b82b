"""What the hook processes of one installation know of its running sessions.

Small JSON documents by kind and id, in ``state.db`` or in Redis. They are spare knowledge: where
they are lost or out of reach, every guard begins from empty, and an event goes on without.
"""

from __future__ import annotations

from hooks.context import state_down
from hooks.errors import SettingsError, StateDown
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
# Of a compare-and-set. Who loses one lost it to another's success, so this many hooks that change
# one document at once all come through.
_TRIES = 32
WAIT_S = 0.25  # for all that one event asks a Redis, connecting included
MAX_VALUE = 1 << 20  # bytes; no guard's document comes near, and no answer may be larger
_redis_py = [False]


class Key(NamedTuple):
    kind: str  # of ``TTL_S``
    id: str  # a session's, or what else tells two documents of the kind apart


_PROBE = Key("signals", "probe")  # no session's


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


class OutOfReachError(StateDown):
    """Nothing failed: this process does not load what the address needs."""

    def __init__(self) -> None:
        super().__init__("REDIS_URL", "it takes redis-py, which a hook of its own does not load")
        self.hint = "see docs/state.md for the processes that reach it"


def allow_redis_py() -> None:
    """Reach from now on what takes redis-py: in a process that lives on, or that nobody awaits."""
    _redis_py[0] = True


def open_state(settings: Settings, at: datetime) -> SessionState | None:
    """Return the installation's state, or None where it is down: that is noted and logged once.

    While the short-lived mark of a failure stands, nothing is tried. Nothing is noted where this
    process is merely not one of those that reach it.
    """
    failed = state_down.last(settings)
    if state_down.stands(failed, at):
        return None
    try:
        state = connect(settings, at)
        if failed:
            _end_outage(settings, state)
        return state
    except OutOfReachError:
        return None
    except StateDown as err:
        state_down.mark(settings, at, err.what)
    except SettingsError as err:  # memory goes on; brain_status and doctor say it
        state_down.mark(settings, at, str(err))
    return None


def _end_outage(settings: Settings, state: SessionState) -> None:
    """Take the mark of a failure away, once the state has taken a change: it may be read-only.

    Raises:
        StateDown: it has not, and is closed.
    """
    try:
        state.write(_PROBE, b"{}")
        state.delete([_PROBE])
    except StateDown:
        state.close()
        raise
    state_down.end(settings)


def connect(
    settings: Settings, at: datetime, wait_s: float = WAIT_S, *, redis_py: bool = False
) -> SessionState:
    """Open the configured backend; ``wait_s`` is for those whom no agent waits for.

    ``redis_py``: also by what takes it, this once.

    Raises:
        StateDown: it is not to be had; OutOfReachError: only not from this process.
        SettingsError: REDIS_URL or REDIS_KEY_PREFIX cannot be used.
    """
    if settings.redis.url:
        return _connect_redis(settings, at, wait_s, redis_py=redis_py or _redis_py[0])
    from hooks.context.state_embedded import EmbeddedState

    return EmbeddedState.open(settings.home, at)


def _connect_redis(
    settings: Settings, at: datetime, wait_s: float, *, redis_py: bool
) -> SessionState:
    from hooks.context.redis_url import parse

    place = parse(settings.redis.url)
    if place.plain:
        from hooks.context.state_redis import RedisState

        return RedisState.connect(settings, place, at, wait_s)
    if not redis_py:
        raise OutOfReachError
    from hooks.context.state_redis_py import RedisPyState

    return RedisPyState.connect(settings, place, at, wait_s)


def check_size(kind: str, value: bytes | None) -> None:
    """Raises StateDown: the value is larger than any may be."""
    if value is not None and len(value) > MAX_VALUE:
        raise StateDown(kind, "a document of it is too large to be kept")


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
