"""What install and uninstall share: the target behind their options, and a change as a diff."""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING

import typer

from scripts.installer import project_target, user_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.commands import Door
    from scripts.installer import Change, Target

LONG = 400  # characters of a line; a stanza of ours in one line has 1,500


def target_of(door: Door, *, project: bool) -> Target:
    return project_target(door.env, door.cwd) if project else user_target(door.env)


def show(change: Change, path: str) -> None:
    """Print what would be written, as a unified diff, and what would become of the menu's files."""
    if change.old == change.new:
        typer.echo(f"{path} would not change.")
    else:
        typer.echo("\n".join(_diff(change, path)))
    for name in change.menu.write:
        typer.echo(f"would write {name}")
    for name in change.menu.remove:
        typer.echo(f"would remove {name}")
    say_kept(change)


def say_kept(change: Change) -> None:
    """Name the menu's files that somebody else wrote or edited."""
    for name in change.menu.kept:
        typer.echo(f"{name} is not as brainhooks wrote it, so it was left alone.")


def _diff(change: Change, path: str) -> Iterator[str]:
    texts = [(data or b"").decode("utf-8", "replace") for data in (change.old, change.new)]
    if any(len(line) > LONG for text in texts for line in text.splitlines()):
        yield "(shown with line breaks; the file keeps its long lines)"
        texts = [_spread(text) for text in texts]
    before, after = ("no file" if data is None else path for data in (change.old, change.new))
    old, new = (text.splitlines() for text in texts)
    yield from difflib.unified_diff(old, new, before, after, lineterm="")


def _spread(text: str) -> str:
    if not text:
        return ""
    return json.dumps(json.loads(text.removeprefix("\ufeff")), indent=2, ensure_ascii=False)
