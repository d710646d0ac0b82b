"""What install and uninstall share: the target behind their options, and a change as a diff."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import typer

from scripts.installer import project_target, user_target

if TYPE_CHECKING:
    from scripts.commands import Door
    from scripts.installer import Change, Target


def target_of(door: Door, *, project: bool) -> Target:
    return project_target(door.env, door.cwd) if project else user_target(door.env)


def show(change: Change, path: str) -> None:
    """Print what would be written, as a unified diff."""
    if change.old == change.new:
        typer.echo(f"{path} would not change.")
        return
    old, new = (_lines(data) for data in (change.old, change.new))
    names = (path if change.old is not None else "no file", path)
    to = names[1] if change.new is not None else "no file"
    typer.echo("\n".join(difflib.unified_diff(old, new, names[0], to, lineterm="")))


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()
