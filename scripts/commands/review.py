"""``brainhooks review``: keep or drop what agents made this week, one key each."""

from __future__ import annotations

import io
import json
import os
import sys
import termios
import tty
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.errors import HookError
from hooks.verbs import complaint, run_named
from hooks.verbs import review as verb
from hooks.verbs.wording import count
from scripts.commands import COMMANDS, door
from scripts.commands.verb import verb_ctx

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hooks.context.ledger import Receipt
    from hooks.verbs import VerbCtx

KEYS = "k keep  d drop  e edit  s skip  q quit"
QUIT = ("q", "", "\x03", "\x04", "\x1b")  # also end of input, Ctrl-C, Ctrl-D, Escape


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[keep|drop] ID", help="Decide on one, or read it."),
    ] = None,
    list_only: Annotated[bool, typer.Option("--list", help="Only show them.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Show them machine-readable.")] = False,
) -> None:
    asked = verb_ctx(door(ctx))
    if as_json:
        typer.echo(json.dumps([verb.row(one) for one in verb.items(asked)], indent=2))
    elif words or list_only:
        typer.echo(run_named("review", " ".join(words or []), asked))
    else:
        _review(asked)


def _review(ctx: VerbCtx) -> None:
    found = verb.items(ctx)
    if not found:
        typer.echo(verb.NOTHING)
        return
    if not sys.stdin.isatty() and _at_end():
        typer.echo(verb.listed(ctx))
        typer.echo("nothing was decided: this is no terminal", err=True)
        raise typer.Exit(1)
    with _keys(single=True):
        typer.echo(f"{count(len(found), 'memory', 'memories')} to review.  {KEYS}")
        for number, one in enumerate(found, 1):
            typer.echo(f"\n{number}/{len(found)}  {verb.line(one, width=0)}")
            if not _judge(ctx, one):
                return


def _at_end() -> bool:
    """Say whether a pipe or a file has no answer at all; what it has is left for the questions."""
    try:
        assert isinstance(sys.stdin.buffer, io.BufferedReader)
        return not sys.stdin.buffer.peek(1)
    except (OSError, ValueError):
        return True


def _judge(ctx: VerbCtx, one: Receipt) -> bool:
    """Ask until there is an answer; False ends the review. What was decided is done at once."""
    while True:
        answer = _key()
        if answer in QUIT:
            return False
        if answer == "s":
            return True
        if answer in _ACTIONS:
            try:
                said = _ACTIONS[answer](ctx, one)
            except HookError as err:
                said = complaint(err)
            if said:
                typer.echo(said)
                return True
        typer.echo(KEYS)


def _keep(ctx: VerbCtx, one: Receipt) -> str:
    return verb.decide(ctx, "keep", one)


def _drop(ctx: VerbCtx, one: Receipt) -> str:
    return verb.decide(ctx, "drop", one)


def _edit(ctx: VerbCtx, one: Receipt) -> str:
    with _keys(single=False):
        typer.echo("your words: ", nl=False)
        text = sys.stdin.readline().strip()
    return verb.edit(ctx, one, text) if text else ""


_ACTIONS = {"k": _keep, "d": _drop, "e": _edit}


def _key() -> str:
    """Return one key of a terminal, without return; elsewhere the first letter of a line.

    An empty line is "s"; the end of the input is "".
    """
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip()[:1].lower() or ("s" if line else "")
    return os.read(sys.stdin.fileno(), 1).decode("utf-8", "replace").lower()


@contextmanager
def _keys(*, single: bool) -> Iterator[None]:
    """Have a terminal hand over each key at once, or whole lines; afterwards it is as before.

    Nothing typed ahead is thrown away: a fast answer counts.
    """
    if not sys.stdin.isatty():
        yield
        return
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    try:
        if single:
            tty.setcbreak(fd, termios.TCSANOW)
        else:
            changed = [*before]
            changed[3] |= termios.ICANON | termios.ECHO
            termios.tcsetattr(fd, termios.TCSANOW, changed)
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSANOW, before)
