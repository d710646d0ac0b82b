"""``brainhooks whoami``: which project this folder is, and why."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from hooks.context import registry
from hooks.context.project import launch_folder, resolve
from scripts.commands import COMMANDS, door


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    found = door(ctx)
    settings = found.settings()
    folder = launch_folder(found.cwd, found.env)
    project = resolve(folder, settings, found.env, found.at, register=False)
    names = {
        old: new
        for old, new in registry.load(settings.home).aliases.items()
        if project.id in (old, new)
    }
    if as_json:
        typer.echo(json.dumps({**project._asdict(), "aliases": names}, indent=2))
        return
    typer.echo(f"project   {project.id}")
    typer.echo(f"because   {project.evidence}")
    for label, value in (("worktree", project.worktree), ("branch", project.branch)):
        if value:
            typer.echo(f"{label:<9} {value}")
    typer.echo(f"aliases   {', '.join(f'{old} -> {new}' for old, new in names.items()) or 'none'}")
