"""``brainhooks doctor [--json]``: exit 0 when nothing needs a person, else 1."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from scripts.commands import COMMANDS, door
from scripts.doctor import NEEDS_A_PERSON, Look
from scripts.doctor.checks import examine


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    here = door(ctx)
    found = examine(Look(here.env, here.at, here.cwd, here.root))
    if as_json:
        rows = [{"check": name, **finding._asdict()} for name, finding in found]
        typer.echo(json.dumps(rows, indent=2))
    else:
        for name, finding in found:
            typer.echo(f"{finding.level:<5} {name}: {finding.what}")
            if finding.next:
                typer.echo(f"      next: {finding.next}")
    raise typer.Exit(int(any(finding.level in NEEDS_A_PERSON for _, finding in found)))
