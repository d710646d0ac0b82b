"""``brainhooks memory serve``: one process that holds several people's sessions of one store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

IDLE_S = 600  # a server without a client ends after that long
MAX_QUEUED = 32 << 20  # bytes that wait for one client; more, and its connection ends


def serve(
    home: str, where: str, *, port: int | None, idle_s: float, now: Callable[[], datetime]
) -> None:
    """Serve until nobody was connected for ``idle_s``, or a signal."""
    raise NotImplementedError
