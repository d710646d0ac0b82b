"""``brainhooks brain_status [--verbose|--json]``, also the console script ``brain_status``."""

from __future__ import annotations

from typing import Annotated

import typer

from hooks.verbs import VERBS
from hooks.verbs.brain_status import report
from scripts.commands import door
from scripts.commands.verb import verb_ctx


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=VERBS["brain_status"].line)(_command)


def _command(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Every number and whole id.")] = False,
) -> None:
    words = "--json" if as_json else "--verbose" if verbose else ""
    text, code = report(words, verb_ctx(door(ctx)))
    typer.echo(text)
    raise typer.Exit(code)
