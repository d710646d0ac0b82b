"""``brainhooks migrate [--dry-run] [--adopt DIR]``: what the first hook after an upgrade does."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.context.adopt import adopt, check, waiting
from hooks.context.migrations import migrate
from hooks.verbs.wording import count
from scripts.commands import COMMANDS, door

if TYPE_CHECKING:
    from datetime import datetime

# Large, and no step looks at it.
NOT_COPIED = ("archive", "store", "runs", "logs", "locks", "display")


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="On a copy; change nothing.")] = False,
    other: Annotated[
        str | None,
        typer.Option(
            "--adopt", metavar="DIR", help="Move what an older home could not deliver here."
        ),
    ] = None,
) -> None:
    if other is not None and not other.strip():
        raise typer.BadParameter("it takes the folder of an older home", param_hint="--adopt")
    here = door(ctx)
    home = here.settings().home
    rows = _on_a_copy(home, here.at) if dry_run else _run(home, here.at)
    for row in rows:
        typer.echo(f"{'would run ' if dry_run else ''}{row['name']}: {_counts(row)}")
    if not rows and not other:
        typer.echo(f"Nothing to do in {home}.")
    if other:
        _adopt(home, os.path.abspath(os.path.join(here.cwd, other)), here.at, dry_run=dry_run)


def _run(home: str, at: datetime) -> list[dict[str, object]]:
    try:
        return migrate(home, at)
    except ValueError as err:
        typer.echo(f"{err}\n  hint: run brainhooks doctor", err=True)
        raise typer.Exit(1) from None


def _on_a_copy(home: str, at: datetime) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory(prefix="brainhooks-") as scratch:
        copy = os.path.join(scratch, "home")
        if os.path.isdir(home):
            # Links are followed: through a copied one a step would write into the real home.
            shutil.copytree(
                home,
                copy,
                ignore=_ignored,
                ignore_dangling_symlinks=True,
                copy_function=_copy_if_there,
            )
        return _run(copy, at)


def _copy_if_there(source: str, target: str) -> None:
    """A hook or a drainer of the live home may be faster with its files."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(source, target)


def _ignored(folder: str, names: list[str]) -> list[str]:
    """Leave out what no step needs, and whatever is no file: a pipe would never end."""
    return [name for name in names if name in NOT_COPIED or not _is_plain(folder, name)]


def _is_plain(folder: str, name: str) -> bool:
    path = os.path.join(folder, name)
    try:
        mode = os.stat(path).st_mode
    except OSError:  # a link to nothing or in a circle, or gone meanwhile
        return False
    if os.path.islink(path) and _leads_up(path):
        return False
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _leads_up(link: str) -> bool:
    """Say whether the link's target holds the link itself: it would be copied without end."""
    target = os.path.realpath(link)
    return os.path.commonpath([target, os.path.realpath(os.path.dirname(link))]) == target


def _counts(row: dict[str, object]) -> str:
    counts = row["counts"]
    assert isinstance(counts, dict)
    said = [f"{number} {name.replace('_', ' ')}" for name, number in counts.items() if number]
    return ", ".join(said) or "nothing to do"


def _adopt(home: str, other: str, at: datetime, *, dry_run: bool) -> None:
    if dry_run:
        check(home, other)
        typer.echo(f"would move {count(waiting(other), 'file')} from {other}")
        return
    done = adopt(home, other, at)
    typer.echo(
        f"{count(done.moved, 'file')} moved from {other}; brainhooks flush delivers them now"
    )
    if done.left:
        typer.echo(f"{count(done.left, 'entry', 'entries')} left there: no markers", err=True)
