"""``brainhooks statusline``: one line for the agent's status line, from its JSON on stdin."""

from __future__ import annotations

from typing import Annotated

import typer

from hooks.statusline import main
from scripts.commands import COMMANDS, door


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(
    ctx: typer.Context,
    segment: Annotated[
        bool, typer.Option("--segment", help="At most 24 columns, to embed in a line of yours.")
    ] = False,
) -> None:
    found = door(ctx)
    words = ["--segment"] if segment else []
    main(words, env=found.env, stdin=0, stdout=1, now=found.at.timestamp())
