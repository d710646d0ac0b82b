"""``brainhooks outbox list|show|retry|drop``: what no brain has acknowledged yet, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.context import waiting
from hooks.verbs.wording import count, day, one_line, plain, short
from scripts.commands import COMMANDS, door

if TYPE_CHECKING:
    from hooks.context.waiting import Entry

TEXT_WIDTH = 80
Wanted = Annotated[str, typer.Argument(metavar="ID", help="The beginning of a key, or a file.")]


def attach(app: typer.Typer, name: str) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=COMMANDS[name].line)
    group.command("list")(_list)
    group.command("show")(_show)
    group.command("retry")(_retry)
    group.command("drop")(_drop)
    app.add_typer(group, name=name)


def _list(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Show what waits, in the order of delivery, and what was refused."""
    found = waiting.entries(door(ctx).settings().home)
    if as_json:
        typer.echo(json.dumps([{"id": one.id, **one._asdict()} for one in found], indent=2))
        return
    typer.echo("\n".join(_line(one) for one in found) or "Nothing waits, nothing was refused.")


def _line(entry: Entry) -> str:
    text = one_line(entry.content, TEXT_WIDTH) or "(no marker)"
    said = f"  ({one_line(entry.reason)})" if entry.reason else ""
    name = short(entry.key) if entry.key else _printable(entry.name)
    return f"{name}  {day(entry.at)}  {entry.place:<10}  {entry.type or '-':<9}  {text}{said}"


def _printable(name: str) -> str:
    """File names hold whatever somebody put there; this is a terminal."""
    return "".join(character if character.isprintable() else "�" for character in name)


def _show(ctx: typer.Context, wanted: Wanted) -> None:
    """Show one of them whole: where it is, why, and what it says."""
    entry = waiting.pick(door(ctx).settings().home, wanted)
    rows = {
        "key": entry.key,
        "place": entry.place,
        "file": _printable(entry.path),
        "type": entry.type,
        "time": entry.at,
        "reason": entry.reason,
    }
    for name, value in rows.items():
        if value:
            typer.echo(f"{name:<7} {one_line(value)}")
    if entry.content:
        typer.echo(f"\n{plain(entry.content)}")


def _retry(
    ctx: typer.Context,
    wanted: Annotated[
        str, typer.Argument(metavar="[ID]", help="One of them; all of them if left out.")
    ] = "",
) -> None:
    """Put what was refused back among what waits, and forget the reason."""
    found = door(ctx)
    home = found.settings().home
    chosen = [waiting.pick(home, wanted)] if wanted else waiting.entries(home)
    number = waiting.retry(home, found.at, chosen)
    if not number:
        typer.echo("Nothing of it was refused.")
        return
    verb = "waits" if number == 1 else "wait"
    typer.echo(f"{count(number, 'file')} {verb} again; brainhooks flush delivers now")


def _drop(ctx: typer.Context, wanted: Wanted) -> None:
    """Take one out for good; its receipt says that you did."""
    found = door(ctx)
    settings = found.settings()
    entry = waiting.pick(settings.home, wanted)
    key = waiting.drop(settings, found.at, entry)
    typer.echo(f"dropped {_printable(entry.id)}; its receipt is {short(key)}")
