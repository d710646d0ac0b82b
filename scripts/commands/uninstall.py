"""``brainhooks uninstall [--user|--project] [--dry-run]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from scripts.commands import COMMANDS, door
from scripts.commands.settings_change import say_kept, show, target_of
from scripts.installer import menu_for, preview, project_target, uninstall, user_target

if TYPE_CHECKING:
    from scripts.commands import Door
    from scripts.installer import Target


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _tell_of_the_project(here: Door, target: Target) -> None:
    """Say where our hooks still are, to a person who looked for them in the other settings."""
    other = project_target(here.env, here.cwd) if not target.project else user_target(here.env)
    there = preview(other, None, menu_for(other, here.root))
    if there.old != there.new:
        word = "--user" if target.project else "--project"
        typer.echo(f"{other.path} has some: brainhooks uninstall {word}")


def _command(
    ctx: typer.Context,
    project: Annotated[
        bool,
        typer.Option(
            "--project/--user",
            help="Out of .claude/settings.local.json of this project, or of your own settings.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the change and write nothing.")
    ] = False,
) -> None:
    here = door(ctx)
    target = target_of(here, project=project)
    verbs = menu_for(target, here.root)
    if dry_run:
        show(preview(target, None, verbs), target.path)
        return
    change = uninstall(target, verbs)
    if change.old == change.new:
        unchanged = "" if change.menu.remove else "; nothing was changed"
        typer.echo(f"{target.path} has no hooks of ours{unchanged}.")
        _tell_of_the_project(here, target)
    elif change.new is None:
        typer.echo(f"{target.path} was made by the install and is gone again.")
    else:
        typer.echo(f"{target.path} has our hooks no longer.")
    if change.menu.remove:
        typer.echo(f"The menu has our verbs no longer: {target.menu_folder}")
    say_kept(change)
    typer.echo(f"What was remembered stays in {target.home}; remove that folder to lose it.")
