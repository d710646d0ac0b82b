"""``brainhooks receipts``: what became of every marker; and a person's word on the unknown ones."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from hooks.context.marks import LEDGER
from hooks.context.waiting import settle_unknown
from hooks.verbs.receipts import MOST, report
from hooks.verbs.wording import count, one_line
from scripts.commands import COMMANDS, door


def attach(app: typer.Typer, name: str) -> None:
    app.command(name, help=COMMANDS[name].line)(_command)


def _command(
    ctx: typer.Context,
    session: Annotated[str, typer.Option("--session", help="Only this session's.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, newest first.")] = MOST,
    resend: Annotated[
        bool, typer.Option("--resend", help="Send again what nobody knows the brain has.")
    ] = False,
    assume: Annotated[
        bool, typer.Option("--assume-delivered", help="Take it for delivered instead.")
    ] = False,
) -> None:
    if resend and assume:
        raise typer.BadParameter("--resend and --assume-delivered are two answers: give one")
    if resend or assume:
        _settle(ctx, session, resend=resend)
        return
    typer.echo(report(door(ctx).settings().home, session, as_json=as_json, limit=limit))


def _settle(ctx: typer.Context, session: str, *, resend: bool) -> None:
    found = door(ctx)
    home = found.settings().home
    number = 0
    if os.path.exists(os.path.join(home, LEDGER)):
        number = settle_unknown(home, found.at, session, resend=resend)
    if not number:
        whose = f" of session {one_line(session)}" if session else ""
        typer.echo(f"Of every marker{whose} it is known what became of it.")
    elif resend:
        typer.echo(f"{count(number, 'marker')} to be sent again; brainhooks flush delivers now")
    else:
        typer.echo(f"{count(number, 'marker')} taken for delivered")
