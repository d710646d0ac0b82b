"""``brainhooks flush``: deliver what waits for the brain, now, in this process."""

from __future__ import annotations

import typer

from hooks.context.flush import drain
from hooks.verbs.wording import count
from scripts.commands import COMMANDS, door


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(ctx: typer.Context) -> None:
    found = door(ctx)
    done = drain(found.settings(), found.env, found.at)
    parts = [
        f"{number} {word}"
        for number, word in (
            (done.committed, "committed"),
            (done.replayed, "known to the brain already"),
            (done.quarantined, "refused and put aside"),
        )
        if number
    ]
    if parts:
        typer.echo(", ".join(parts))
    if not done.left:
        if not parts:
            typer.echo("Nothing waits for the brain.")
        return
    left = f"{count(done.left, 'marker')} still waiting"
    typer.echo(f"{left}: {done.stopped}" if done.stopped else left, err=True)
    raise typer.Exit(1)
