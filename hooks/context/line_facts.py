"""What the status line tells, each read by itself: what cannot be read is left out.

Nothing is written and no process waits for a brain. Redis may take its 0.25 s, once: the mark
that it leaves keeps the next lines from trying.
"""

from __future__ import annotations

import os

from hooks.context import guard, state_down, switch
from hooks.context.scope import valid_session
from hooks.context.session_state import document, open_state
from hooks.context.tokens import key_of
from hooks.context.usage import Context, Counter, Usage, total, window_of
from hooks.errors import HookError, StateDown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import NamedTuple, TypeVar

    from hooks.context.project import Project
    from hooks.settings import Settings

    Fact = TypeVar("Fact")
else:
    from hooks.record import NamedTuple


class Client(NamedTuple):
    """What the agent says on stdin; whatever it does not say is empty."""

    session: str = ""
    cwd: str = ""  # where it is now
    launched: str = ""  # where it started
    model: str = ""
    window: int = 0  # of its model, in tokens
    context: int = 0  # tokens in it; 0 where it does not know
    percent: float = 0  # of the window that they fill; 0 where it does not say


class Facts(NamedTuple):
    project: str = ""
    branch: str = ""
    context: int = 0
    window: int = 0
    used: Usage = Usage()
    memories: int = 0
    waiting: int = 0
    memory_off: bool = False
    controls_off: bool = False


def client_of(said: Mapping[str, object]) -> Client:
    """Read the agent's JSON for a status line; fields of another type count as absent."""
    place, model = _part(said, "workspace"), _part(said, "model")
    window = _part(said, "context_window")
    usage = _part(window, "current_usage")
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    cwd = _text(place, "current_dir") or _text(said, "cwd")
    return Client(
        session=_text(said, "session_id"),
        cwd=cwd,
        launched=_text(place, "project_dir") or cwd,
        model=_text(model, "id"),
        window=_number(window, "context_window_size"),
        context=sum(_number(usage, name) for name in names),
        percent=_share(window, "used_percentage"),
    )


def gather(client: Client, settings: Settings, env: Mapping[str, str], at: datetime) -> Facts:
    home, session = settings.home, client.session if valid_session(client.session) else ""
    here = _or(lambda: _project(client, settings, env, at), None)
    project = here.id if here is not None else ""
    counter, controls_off = _or(lambda: _state(settings, session, at), (Counter({}), False))
    context, window = _context(client, counter.context)
    return Facts(
        project=(here.label or here.id) if here is not None else "",
        branch=_or(lambda: _branch(client.cwd), ""),
        context=context,
        window=window,
        used=total(counter.models.values()),
        memories=_or(lambda: _memories(home, session), 0),
        waiting=_or(lambda: _waiting(home), 0),
        memory_off=_or(lambda: switch.load(home).off(at, project, session) is not None, False),
        controls_off=controls_off,
    )


def _or(read: Callable[[], Fact], otherwise: Fact) -> Fact:
    try:
        return read()
    except (HookError, OSError, ValueError):
        return otherwise


def _project(
    client: Client, settings: Settings, env: Mapping[str, str], at: datetime
) -> Project | None:
    from hooks.context.project import UNKNOWN, launch_folder, resolve

    folder = launch_folder(client.launched, env)
    found = resolve(folder, settings, env, at, register=False) if folder else None
    return found if found is not None and found.id != UNKNOWN else None


def _branch(folder: str) -> str:
    """Return the branch of ``folder``; "" when detached or outside a repository."""
    from hooks.context.git_files import branch, find

    repo = find(os.path.realpath(folder)) if os.path.isdir(folder) else None
    return branch(repo.git_dir) if repo is not None else ""


def _state(settings: Settings, session: str, at: datetime) -> tuple[Counter, bool]:
    """Return the session's counters, and whether controls are off; both in one question."""
    made = "installation.json" if settings.redis.url else "state.db"
    if not os.path.exists(os.path.join(settings.home, made)):
        return Counter({}), False
    state = open_state(settings, at)
    if state is None:
        return Counter({}), False
    try:
        counted, switched = state.read([key_of(session or "-"), guard.CONTROLS])
    except StateDown as err:
        state_down.mark(settings, at, err.what)
        raise
    finally:
        state.close()
    return Counter(document(counted)), guard.says_off(document(switched), at)


def _context(client: Client, counted: Context) -> tuple[int, int]:
    """Return the context's tokens and window: the agent's own word before what we counted."""
    model, share = client.model or counted.model, client.percent
    if share and not client.context:
        window = client.window or window_of(model, counted.tokens)
        return -int(-window * share // 100), window  # up: the percent that is shown is theirs
    tokens = client.context or counted.tokens
    return tokens, client.window or window_of(model, tokens)


def _memories(home: str, session: str) -> int:
    from hooks.context.injections import read

    told = (row.ids for row in read(home, session)) if session else ()
    return len(frozenset().union(*told))


def _waiting(home: str) -> int:
    try:
        names = os.listdir(os.path.join(home, "brain-outbox"))
    except FileNotFoundError:
        return 0
    return sum(name.endswith(".json") for name in names)


def _part(said: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = said.get(name)
    return value if isinstance(value, dict) else {}


def _text(said: Mapping[str, object], name: str) -> str:
    value = said.get(name)
    return value if isinstance(value, str) and "\0" not in value else ""


def _share(said: Mapping[str, object], name: str) -> float:
    value = said.get(name)
    return value if type(value) in (int, float) and 0 <= value <= 100 else 0  # type: ignore[operator, return-value]


def _number(said: Mapping[str, object], name: str) -> int:
    value = said.get(name)
    return value if type(value) is int and 0 <= value < 1 << 40 else 0
