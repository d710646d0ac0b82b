"""A session at a memory server; the same answers as one in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.library import Memory


def connect(address: str, token: str, space: str, session_id: str = "") -> Memory:
    """Open a session at the server of ``address``: ``unix:<path>`` or ``tcp:<port>``."""
    raise NotImplementedError
