"""A session whose tool events meet the guards, on every kind of state that a person can have."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from hooks.context.breaker import count
from hooks.context.guard import CONTROLS
from hooks.context.operation import fingerprint, operation
from hooks.context.session_state import Key
from hooks.context.state_embedded import EmbeddedState
from hooks.context.target import target
from tests.support.redis_servers import BUILDS, Server, binary
from tests.support.run_hook import Run, recorded, run_hook
from tests.support.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from hooks.context.session_state import Document

BACKENDS = ("embedded", *BUILDS)


@pytest.fixture(params=BACKENDS)
def state_env(request: pytest.FixtureRequest, tmp_path) -> Iterator[dict[str, str]]:  # type: ignore[no-untyped-def]
    """The environment of hooks that keep their state in ``state.db``, or in a Redis of a build."""
    if request.param == "embedded":
        yield {}
        return
    with Server(tmp_path / "redis", binary(request.param)) as server:
        yield {"REDIS_URL": server.url}


def bash(session, command: str, **fields: object) -> Run:  # type: ignore[no-untyped-def]
    """A shell command that succeeded."""
    given = {**recorded("PostToolUse")["tool_input"], "command": command}
    return session.fire("PostToolUse", tool_input=given, **fields)


def failing(session, command: str = "npm test", error: str = "error: x", **fields: object) -> Run:  # type: ignore[no-untyped-def]
    """A shell command that failed."""
    given = {**recorded("PostToolUseFailure")["tool_input"], "command": command}
    said = f"Exit code 1\n{error}"
    return session.fire("PostToolUseFailure", **{"tool_input": given, "error": said, **fields})


def have_failed(session, number: int) -> None:  # type: ignore[no-untyped-def]
    """Leave the session as so many of ``failing`` do: in ``state.db``, the last for real."""
    given = {"command": "npm test"}
    op, error = operation("Bash", given), fingerprint("Bash", given, "Exit code 1\nerror: x")
    aim = target("Bash", given, session.cwd)
    document: Document = {}
    for _ in range(number - 1):
        document, _ = count(document, op, error, target=aim, edited=False, denies=True)
    put(session.home, Key("breaker", session.id), document)
    failing(session)


def put(home: Path, key: Key, document: Mapping[str, object]) -> None:
    """Write a document into ``state.db``."""
    state = EmbeddedState.open(str(home), datetime.now(UTC))  # noqa: TID251 - as the hooks do
    state.write(key, json.dumps(document).encode())
    state.close()


def before(session, command: str = "npm test") -> Run:  # type: ignore[no-untyped-def]
    """A shell command that is about to run."""
    given = {**recorded("PreToolUse")["tool_input"], "command": command}
    return session.fire("PreToolUse", tool_input=given)


def denial(run: Run) -> str:
    """Return why the tool was denied; "" where it runs."""
    assert (run.rc, run.stderr) == (0, "")
    said = run.reply.get("hookSpecificOutput", {})
    return said.get("permissionDecisionReason", "") if said.get("permissionDecision") else ""


def switch_controls_off(home: Path, *, off: bool = True) -> None:
    put(home, CONTROLS, {"off": off})


def all_at_once(number: int, do: Callable[[], Run]) -> list[Run]:
    """Start as many hooks at once and return what each of them left."""
    runs: list[Run] = []
    threads = [threading.Thread(target=lambda: runs.append(do())) for _ in range(number)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "run", staticmethod(run_hook))  # forked, no two would be apart
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(runs) == number
    return runs
