"""``brainhooks uninstall [--user|--project] [--dry-run]``."""

from __future__ import annotations

from typing import Annotated

import typer

from scripts.commands import COMMANDS, door
from scripts.commands.settings_change import show, target_of
from scripts.installer import preview, uninstall


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


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
    target = target_of(door(ctx), project=project)
    if dry_run:
        show(preview(target, None), target.path)
        return
    change = uninstall(target)
    if change.old == change.new:
        typer.echo(f"{target.path} has no hooks of ours; nothing was changed.")
    elif change.new is None:
        typer.echo(f"{target.path} was made by the install and is gone again.")
    else:
        typer.echo(f"{target.path} has our hooks no longer.")
    typer.echo(f"What was remembered stays in {target.home}; remove that folder to lose it.")
