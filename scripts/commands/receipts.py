"""``brainhooks receipts``: what became of every marker; and a person's word on the unknown ones."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.context.ledger import Ledger
from hooks.context.marks import LEDGER
from hooks.context.waiting import settle_unknown
from hooks.verbs.wording import count, day, one_line, short
from scripts.commands import COMMANDS, door

if TYPE_CHECKING:
    from hooks.context.ledger import Receipt, Sighting

TEXT_WIDTH = 80
MOST = 200


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
    ledger = Ledger.read_only(door(ctx).settings().home)
    receipts: list[Receipt] = []
    ignored: list[Sighting] = []
    if ledger is not None:
        try:
            receipts, ignored = ledger.receipts(session, limit), ledger.ignored(session, limit)
        finally:
            ledger.close()
    typer.echo(_as_json(receipts, ignored) if as_json else _as_text(receipts, ignored))


def _settle(ctx: typer.Context, session: str, *, resend: bool) -> None:
    found = door(ctx)
    home = found.settings().home
    number = 0
    if os.path.exists(os.path.join(home, LEDGER)):
        number = settle_unknown(home, found.at, session, resend=resend)
    if not number:
        typer.echo("Of every marker it is known what became of it.")
    elif resend:
        typer.echo(f"{count(number, 'marker')} to be sent again; brainhooks flush delivers now")
    else:
        typer.echo(f"{count(number, 'marker')} taken for delivered")


def _as_json(receipts: list[Receipt], ignored: list[Sighting]) -> str:
    rows = [{**receipt._asdict(), "body": receipt.document or None} for receipt in receipts]
    document = {"receipts": rows, "ignored": [sighting._asdict() for sighting in ignored]}
    return json.dumps(document, indent=2)


def _as_text(receipts: list[Receipt], ignored: list[Sighting]) -> str:
    if not receipts and not ignored:
        return "No receipts yet: no marker was seen."
    lines = [_receipt(receipt) for receipt in receipts]
    if ignored:
        lines.append(f"{count(len(ignored), 'candidate')} ignored:")
        lines += [_ignored(sighting) for sighting in ignored]
    return "\n".join(lines)


def _receipt(receipt: Receipt) -> str:
    text = one_line(str(receipt.document.get("content", "")), TEXT_WIDTH)
    notes = [receipt.reason]
    if receipt.redacted:
        notes.append("redacted: " + receipt.redacted)
    if receipt.record and receipt.record != receipt.key:
        notes.append(f"same as {short(receipt.record)}")
    said = "; ".join(note for note in notes if note)
    facts = f"{short(receipt.key)}  {day(receipt.at or receipt.created_at)}  {receipt.state:<11}"
    return f"{facts}  {receipt.type:<9}  {text}{f'  ({said})' if said else ''}".rstrip()


def _ignored(sighting: Sighting) -> str:
    return f"  {day(sighting.at)}  {sighting.type:<9}  {sighting.reason}  ({sighting.path})"
