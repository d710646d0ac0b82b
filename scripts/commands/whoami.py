"""``brainhooks whoami``: which project this folder is, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from hooks.verbs.whoami import run
from scripts.commands import COMMANDS, door
from scripts.commands.verb import verb_ctx


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    typer.echo(run("--json" if as_json else "", verb_ctx(door(ctx))))
