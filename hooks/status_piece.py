"""What the pieces of a status are made of: who looks, what they found, what needs a person."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any, Literal, NamedTuple

    from hooks.settings import Settings

    Level = Literal["yellow", "red"]
else:
    from hooks.record import NamedTuple


class Problem(NamedTuple):
    """Something that needs a person: what it is, and the next step."""

    level: Level  # red: memories are not kept or not shown now; yellow: look at it
    what: str
    next: str


class Look(NamedTuple):
    """Who looks, from where and when."""

    settings: Settings
    env: Mapping[str, str]
    at: datetime
    cwd: str
    session: str


class Piece(NamedTuple):
    data: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()
