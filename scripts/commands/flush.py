"""``brainhooks flush``: deliver what waits for the brain, now, in this process."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from hooks.context import outbox
from hooks.context.flush import drain
from hooks.verbs.wording import count
from scripts.commands import COMMANDS, door

if TYPE_CHECKING:
    from typing import TextIO


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(ctx: typer.Context) -> None:
    found = door(ctx)
    progress = Progress(sys.stdout) if sys.stdout.isatty() else None
    done = drain(found.settings(), found.env, found.at, progress)
    if progress is not None:
        progress.clear()
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
    if done.quarantined:
        typer.echo("`brainhooks outbox list` says why it was refused", err=True)
    if not done.left:
        if not parts:
            _tell_nothing_done(found.settings().home)
        return
    left = f"{count(done.left, 'marker')} still waiting"
    typer.echo(f"{left}: {done.stopped}" if done.stopped else left, err=True)
    raise typer.Exit(1)


def _tell_nothing_done(home: str) -> None:
    """Nothing waited, or another process is at it."""
    if outbox.is_empty(home):
        typer.echo("Nothing waits for the brain.")
        return
    typer.echo("Another process is delivering what waits; ask again in a moment.", err=True)
    raise typer.Exit(1)


class Progress:
    """One line on a terminal that is written over; a pipe gets the result alone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._width = stream, 0

    def __call__(self, place: int, total: int) -> None:
        self._show(f"delivering {place} of {total}")

    def clear(self) -> None:
        if self._width:
            self._show("")
            self._stream.write("\r")
            self._stream.flush()

    def _show(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = max(self._width, len(text))
