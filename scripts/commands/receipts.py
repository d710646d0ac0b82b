"""``brainhooks receipts [--session ID] [--json]``: what became of every marker."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.context.ledger import Ledger
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
) -> None:
    ledger = Ledger.read_only(door(ctx).settings().home)
    receipts: list[Receipt] = []
    ignored: list[Sighting] = []
    if ledger is not None:
        try:
            receipts, ignored = ledger.receipts(session, limit), ledger.ignored(session, limit)
        finally:
            ledger.close()
    typer.echo(_as_json(receipts, ignored) if as_json else _as_text(receipts, ignored))


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
