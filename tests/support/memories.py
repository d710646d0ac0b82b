"""Memories put straight into the local brain, where a test is not about how they got there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.context.brains import open_brain
from hooks.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

WEB = "git.example.org/shop/web"  # the id of the ``project`` fixture


def remember(home: Path, key: str, text: str, kind: str = "lesson", **attrs: str) -> str:
    """Post one memory under ``key`` (repeated to 32 digits) and return its whole key."""
    whole = (key * 32)[:32]
    said = {"project_id": WEB, "session_id": "session-0", "ts": "2026-11-29T10:00:00Z", **attrs}
    brain = open_brain(Settings(home=str(home)), {})
    try:
        brain.post_marker({"type": kind, "content": text, "attrs": said}, whole)
    finally:
        brain.close()
    return whole
