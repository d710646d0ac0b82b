"""``brainhooks doctor [--json]``: exit 0 when nothing needs a person, else 1."""

from __future__ import annotations

from typing import Annotated

import typer

from hooks.verbs.doctor import report
from scripts.commands import COMMANDS, door


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    here = door(ctx)
    text, code = report("--json" if as_json else "", here.env, here.at, here.cwd, here.root)
    typer.echo(text)
    raise typer.Exit(code)
