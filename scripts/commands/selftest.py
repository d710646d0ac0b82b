"""``brainhooks selftest [--quick] [--seed N]``: 0 lost, 0 doubled, 0 leaked, proven here."""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING, Annotated

import typer

from scripts.commands import COMMANDS, door
from scripts.selftest.player import Stage, kill_workers
from scripts.selftest.run import Outcome, Selftest

if TYPE_CHECKING:
    from typing import TextIO

_WIDTH = 30
_SHOWN = 5


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(
    ctx: typer.Context,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fifteen seconds, not two minutes.")
    ] = False,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Repeat the choices of an earlier run.")
    ] = -1,
) -> None:
    here = door(ctx)
    seed = seed if seed >= 0 else random.SystemRandom().randrange(1 << 31)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="brainhooks-selftest-"))
    stage = Stage(folder, here.root, here.env.get("PATH", os.defpath))
    os.makedirs(os.path.dirname(stage.home))
    bar = Bar(sys.stdout) if sys.stdout.isatty() else None
    found: Outcome | None = None
    try:
        found = Selftest(stage, seed, quick=quick).run(bar or _silent)
    finally:
        if bar is not None:
            bar.clear()
        kill_workers(stage.home)
        if found is None or not found.is_good:
            typer.echo(f"seed {seed}; the home is kept in {stage.home}", err=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    _say(found, seed)
    if not found.is_good:
        raise typer.Exit(1)


def _silent(_place: int, _total: int) -> None:
    """Show nothing: the result alone goes into a pipe."""


def _say(found: Outcome, seed: int) -> None:
    typer.echo(
        f"{found.written} written, {len(found.lost)} lost, {len(found.doubled)} doubled, "
        f"{len(found.leaked)} leaked"
    )
    typer.echo(
        f"{found.kills} kills, {found.hooks} hooks of {found.hook_s * 1000:.0f} ms (median), "
        f"{found.seconds:.1f} s, seed {seed}"
    )
    for name in ("lost", "doubled", "leaked", "wrong"):
        rows = getattr(found, name)
        for row in rows[:_SHOWN]:
            typer.echo(f"{name}: {row}", err=True)
        if len(rows) > _SHOWN:
            typer.echo(f"{name}: and {len(rows) - _SHOWN} more", err=True)


class Bar:
    """A bar on one line of a terminal, written over at each step."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._width = stream, 0

    def __call__(self, place: int, total: int) -> None:
        done = _WIDTH * place // total
        self._show(f"[{'#' * done}{'.' * (_WIDTH - done)}] {place} of {total}")

    def clear(self) -> None:
        self._show("")
        self._stream.write("\r")
        self._stream.flush()

    def _show(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = max(self._width, len(text))
