"""``brainhooks selftest [--quick] [--seed N]``: 0 lost, 0 doubled, 0 leaked, proven here."""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.verbs.wording import count
from scripts.commands import COMMANDS, door
from scripts.selftest.brains import BRAINS
from scripts.selftest.player import kill_workers, settle
from scripts.selftest.run import Outcome, Selftest

if TYPE_CHECKING:
    from typing import TextIO

    from scripts.selftest.brains import Local
    from scripts.selftest.run import Progress

_WIDTH = 30
_SHOWN = 5
_COUNTED = ("lost", "doubled", "leaked")


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(
    ctx: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="About half a minute, not two.")] = False,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Repeat the choices of an earlier run.")
    ] = -1,
) -> None:
    here = door(ctx)
    seed = seed if seed >= 0 else random.SystemRandom().randrange(1 << 31)
    folder = os.path.realpath(tempfile.mkdtemp(prefix="brainhooks-selftest-"))
    path = here.env.get("PATH", os.defpath)
    bar = Bar(sys.stdout) if sys.stdout.isatty() else None
    found: list[Outcome] = []
    try:
        for place, kind in enumerate(BRAINS):
            brain = kind(os.path.join(folder, kind.name), here.root, path)
            show = partial(bar.part, kind.name, place, len(BRAINS)) if bar is not None else _silent
            found.append(_tested(brain, seed, show, quick=quick))
    except KeyboardInterrupt:  # nothing went wrong that anybody would look into
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        if bar is not None:
            bar.clear()
        if len(found) == len(BRAINS) and all(one.is_good for one in found):
            shutil.rmtree(folder, ignore_errors=True)
        elif os.path.isdir(folder):
            typer.echo(f"seed {seed}; what was played is kept in {folder}", err=True)
    _say(found, seed)
    if not all(one.is_good for one in found):
        raise typer.Exit(1)


def _tested(brain: Local, seed: int, show: Progress, *, quick: bool) -> Outcome:
    try:
        return Selftest(brain, seed, quick=quick).run(show)
    finally:
        kill_workers(brain.stage.home)
        settle(brain.stage.home)
        brain.close()


def _silent(_place: int, _total: int) -> None:
    """Show nothing: the result alone goes into a pipe."""


def _say(found: list[Outcome], seed: int) -> None:
    written = sum(one.written for one in found)
    counts = [f"{sum(len(getattr(one, name)) for one in found)} {name}" for name in _COUNTED]
    typer.echo(", ".join([f"{written} written", *counts]))
    for one in found:
        facts = [
            f"{one.written} written",
            count(one.kills, "kill"),
            f"{one.hooks} hooks of {one.hook_s * 1000:.0f} ms (median)",
            f"{one.seconds:.1f} s",
            f"the service failed {count(one.failed, 'time')}" if one.failed else "",
        ]
        typer.echo(f"{one.brain:<5}  {', '.join(fact for fact in facts if fact)}")
    typer.echo(f"{sum(one.seconds for one in found):.1f} s in all, seed {seed}")
    for one in found:
        for name in (*_COUNTED, "wrong"):
            rows = getattr(one, name)
            for row in rows[:_SHOWN]:
                typer.echo(f"{one.brain}: {name}: {row}", err=True)
            if len(rows) > _SHOWN:
                typer.echo(f"{one.brain}: {name}: and {len(rows) - _SHOWN} more", err=True)


class Bar:
    """A bar on one line of a terminal, written over at each step."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._width = stream, 0

    def part(self, name: str, before: int, parts: int, place: int, total: int) -> None:
        """Show ``place`` of ``total`` steps of one part, ``before`` of ``parts`` being done."""
        done = _WIDTH * (before * total + place) // (parts * total)
        self._show(f"[{'#' * done}{'.' * (_WIDTH - done)}] {name}: {place} of {total}")

    def clear(self) -> None:
        self._show("")
        self._stream.write("\r")
        self._stream.flush()

    def _show(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = max(self._width, len(text))
