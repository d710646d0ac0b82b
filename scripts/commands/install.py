"""``brainhooks install [--user|--project] [--dry-run]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from scripts.commands import COMMANDS, door
from scripts.commands.settings_change import say_kept, show, target_of
from scripts.doctor import Look
from scripts.doctor.agent import plugins
from scripts.installer import groups_for, install, menu_for, preview

if TYPE_CHECKING:
    from scripts.installer import Change, Target


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(
    ctx: typer.Context,
    project: Annotated[
        bool,
        typer.Option(
            "--project/--user",
            help="Into .claude/settings.local.json of this project, or into your own settings.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the change and write nothing.")
    ] = False,
) -> None:
    here = door(ctx)
    target = target_of(here, project=project)
    groups, verbs = groups_for(target, here.root), menu_for(target, here.root)
    if dry_run:
        show(preview(target, groups, verbs), target.path)
        return
    change = install(target, groups, here.env, verbs)
    _report(change, target)
    for copy in plugins(Look(here.env, here.at, here.cwd, here.root)):
        typer.echo(f"The plugin {copy} is enabled too; one of the two is enough.")
    if change.old != change.new:
        typer.echo("Start a new session to use them; brainhooks doctor checks the rest.")


def _report(change: Change, target: Target) -> None:
    if change.old == change.new:
        unchanged = "" if change.menu.write else "; nothing was changed"
        typer.echo(f"{target.path} has the hooks already{unchanged}.")
    else:
        typer.echo(f"{target.path} has the hooks now.")
    if change.menu.write:
        typer.echo(f"The menu has /brainhooks:<verb> now: {target.menu_folder}")
    say_kept(change)
    if change.backup:
        typer.echo(f"A copy of what stood there: {change.backup}")
    if change.excluded:
        typer.echo(f"Git ignores them: lines in {change.excluded}")
