"""Processes without ``subprocess``: detached workers, and one bounded question to git."""

from __future__ import annotations

import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

    Raises:
        OSError: it could not be started.
    """
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    try:
        return os.posix_spawn(argv[0], argv, env, file_actions=quiet, setsid=True)
    except NotImplementedError:  # a libc without POSIX_SPAWN_SETSID; the worker calls setsid itself
        return os.posix_spawn(argv[0], argv, env, file_actions=quiet, setpgroup=0)


def ask(argv: Sequence[str], env: Mapping[str, str], *, timeout_s: float) -> str | None:
    """Run a short program and return its stdout; None if it fails, is absent or takes too long.

    At most ``timeout_s`` seconds and ``MAX_ANSWER`` bytes; then it is killed and reaped.
    """
    reader, writer = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writer, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    try:
        pid = os.posix_spawnp(argv[0], argv, env, file_actions=actions)
    except OSError:
        os.close(reader)
        return None
    finally:
        os.close(writer)
    answer = _drain(reader, time.monotonic() + timeout_s)
    os.close(reader)
    if answer is None:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
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
