"""Advisory locks between processes; the kernel frees them when their holder dies."""

from __future__ import annotations

import fcntl
import os
import time

from hooks.errors import StateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_STEP_S = 0.005


class Lock:
    """A held lock; ends with ``release``, the ``with`` block, or the process."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def release(self) -> None:
        """Let go at once; a second time is a no-op."""
        if self._fd >= 0:
            # Not by closing alone: a child between fork and exec still has the descriptor.
            fcntl.flock(self._fd, fcntl.LOCK_UN)
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.release()


def try_lock(path: str) -> Lock | None:
    """Take the lock at ``path`` now, or None. The file stays: removing it would race."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        from hooks.atomic import make_folder

        make_folder(os.path.dirname(path))
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError:
        os.close(fd)
        raise
    return Lock(fd)


def held(
    path: str,
    *,
    wait_s: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,  # noqa: TID251 - the one loop that waits for a lock
    take: Callable[[str], Lock | None] = try_lock,
) -> Lock:
    """Take the lock at ``path`` (by ``take``), waiting at most ``wait_s`` seconds.

    Raises:
        StateError: somebody else still holds it then.
    """
    deadline = clock() + wait_s
    while True:
        lock = take(path)
        if lock is not None:
            return lock
        if clock() >= deadline:
            raise StateError(path, f"locked by another process for {wait_s:g} s")
        sleep(_STEP_S)
