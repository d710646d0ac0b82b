"""How long something waits, on a machine however busy: without its turns for a processor."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

_SCHEDSTAT = "/proc/thread-self/schedstat"  # nanoseconds that it ran, and that it waited to run


def slept_s(do: Callable[[], object]) -> float:
    """Return how many seconds this thread neither ran in ``do`` nor waited for a processor."""
    busy, start = _busy_s(), time.monotonic()
    do()
    return time.monotonic() - start - (_busy_s() - busy)


def _busy_s() -> float:
    try:
        with open(_SCHEDSTAT, encoding="ascii") as file:
            ran, queued, _ = map(int, file.read().split())
    except (OSError, ValueError):
        pytest.skip("this kernel does not say how long a thread waited for a processor")
    return (ran + queued) / 1e9
