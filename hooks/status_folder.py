"""A file brain's folder in the status: where it should be, and what in it is not served."""

from __future__ import annotations

from hooks.context.brain_adapter import how_to_mend, why_invalid
from hooks.status_piece import Piece, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from hooks.settings import Settings
    from hooks.status_piece import Look

MOST_NAMED = 3


def misplaced(settings: Settings, env: Mapping[str, str]) -> Problem:
    """Tell of an address or a folder that can be no brain's: what, set where, and what to set."""
    what = f"{why_invalid(settings)}; markers wait in the outbox"
    return Problem("red", what, how_to_mend(settings, env))


def folder(
    look: Look, data: Mapping[str, Any], health_of: Callable[[Look], dict[str, object]]
) -> Piece:
    from hooks.errors import BrainUnreachable
    from hooks.status_outbox import hindrance

    try:
        health = health_of(look)
    except BrainUnreachable as err:
        told = hindrance(look)[0]  # by the outbox, which asks the same brain
        return Piece(data, () if told else (Problem("yellow", str(err), err.hint),))
    aside = [(row["file"], row["why"]) for row in health["aside"]]  # type: ignore[attr-defined]
    number, path = int(str(health["set_aside"])), str(health["path"])
    return Piece({**data, "health": health}, set_aside(path, number, aside))


def all_set_aside(path: str) -> list[tuple[str, str]]:
    """Return every file in the folder that is not served, its path below it, and why.

    Raises:
        BrainUnreachable: the folder cannot be read.
    """
    from hooks.context.brains.file_folder import Folder, Reaching
    from hooks.context.brains.file_index import Index

    with Reaching(path):
        index = Index(*Folder(path).scan(), lambda space: space)
    return sorted((where, why) for where, why in index.aside)


def set_aside(
    path: str, number: int, aside: list[tuple[str, str]], most: int = MOST_NAMED
) -> tuple[Problem, ...]:
    """Tell what lies in the folder and is not served: ``number`` files, the first ones named."""
    if not number:
        return ()
    named = [f"{where} ({why})" for where, why in aside[:most]]
    named += [f"{number - most} more, which `doctor` names"] if number > most else []
    verb = "file is" if number == 1 else "files are"
    what = f"{number} {verb} not served from {path}: {', '.join(named)}"
    todo = "mend a page of your own; of a copy take what you want into its page, then delete it"
    return (Problem("yellow", what, todo),)
