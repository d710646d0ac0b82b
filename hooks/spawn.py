"""Processes without ``subprocess``: detached workers, and one bounded question to git."""

from __future__ import annotations

import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_KILL = 9  # SIGKILL and SIGPIPE on every Unix; the signal module would load enum
_PIPE = 13
_STEP_S = 0.002
_STD = (0, 1, 2)
MAX_ANSWER = 1 << 20  # bytes; a remote URL or a commit list of ours is far below


def start_command(root: str, *args: str) -> list[str]:
    """Return the one start command: a real interpreter, isolated, with our entry by path."""
    prefix = sys.pycache_prefix
    cache = ["-X", f"pycache_prefix={prefix}"] if prefix else []
    entry = os.path.join(root, "hooks", "__main__.py")
    return [sys.executable, "-I", "-S", *cache, entry, *args]


def detach(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Start ``argv`` in its own session with every stream on /dev/null; return its pid.

    It outlives us and the agent's exit (a ``setsid`` child does; an async hook does not).
    Nobody waits for it: a process that stays reaps it, init does for a hook.

    Raises:
        OSError: it could not be started.
    """
    words, quiet = list(argv), [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in _STD]
    try:
        return os.posix_spawn(
            words[0], words, env, file_actions=quiet, setsid=True, setsigdef=(_PIPE,)
        )
    except NotImplementedError:  # a libc without POSIX_SPAWN_SETSID; the worker calls setsid itself
        return os.posix_spawn(
            words[0], words, env, file_actions=quiet, setpgroup=0, setsigdef=(_PIPE,)
        )


def ask(argv: Sequence[str], env: Mapping[str, str], *, timeout_s: float) -> str | None:
    """Run a short program and return its stdout; None if it fails, is absent or takes too long.

    At most ``timeout_s`` seconds and ``MAX_ANSWER`` bytes; then it is killed with what it
    started, and reaped. The program is looked up in this process's own PATH.
    """
    reader, writer = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writer, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    words = list(argv)
    try:
        pid = os.posix_spawnp(
            words[0], words, env, file_actions=actions, setpgroup=0, setsigdef=(_PIPE,)
        )
    except OSError:
        os.close(reader)
        return None
    finally:
        os.close(writer)
    deadline = time.monotonic() + timeout_s
    answer = _drain(reader, deadline)
    os.close(reader)
    status = _status(pid, deadline if answer is not None else 0.0)
    if answer is None or status != 0:
        return None
    return answer.decode("utf-8", "surrogateescape")


def _drain(reader: int, deadline: float) -> bytes | None:
    got = bytearray()
    while len(got) <= MAX_ANSWER:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return None
        part = os.read(reader, 65536)
        if not part:
            return bytes(got)
        got += part
    return None


def _status(pid: int, deadline: float) -> int:
    """Reap ``pid``; at ``deadline`` its whole group is killed first."""
    while True:
        # It closed its stdout, so it is about to end: but a program may close it and stay.
        reaped, status = os.waitpid(pid, os.WNOHANG)
        if reaped:
            return status
        if time.monotonic() >= deadline:
            break
        select.select([], [], [], _STEP_S)
    try:
        os.killpg(pid, _KILL)
    except (ProcessLookupError, PermissionError):  # all of it ended just now
        pass
    return os.waitpid(pid, 0)[1]
