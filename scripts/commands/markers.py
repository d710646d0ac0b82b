"""``brainhooks markers explain FILE``: every candidate in a transcript, taken or not, and why."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.context import marker_report, markers
from hooks.context.gather import FORGOTTEN, MEMORY_OFF
from hooks.context.ledger import Ledger
from hooks.errors import StateError
from hooks.verbs.wording import count
from scripts.commands import COMMANDS, door

if TYPE_CHECKING:
    from collections.abc import Iterator

TAKEN = "taken"
MOST_IGNORED = 100_000  # of which the receipts are asked: a whole home's


def attach(app: typer.Typer, name: str) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=COMMANDS[name].line)
    group.command("explain")(_explain)
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Keep ``explain`` a word of its own while it is the only one."""


def _explain(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help="A transcript (.jsonl), or any text.")],
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """List every candidate of FILE in order, taken or ignored, with the reason."""
    path = os.path.realpath(os.path.join(door(ctx).cwd, file))
    if not os.path.exists(path):
        raise StateError(path, "there is no such file", hint="name a transcript or a text file")
    home = door(ctx).settings().home
    rows = list(_in_transcript(path, home) if path.endswith(".jsonl") else _in_text(path))
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        said = f"line {row['line']}  {row['type'] or '?':<9}  {row['reason'] or TAKEN}"
        typer.echo(f"{said}  {row['text']}".rstrip())
    taken = sum(not row["reason"] for row in rows)
    typer.echo(f"{count(len(rows), 'candidate')}, {taken} taken")


def _in_transcript(path: str, home: str) -> Iterator[dict[str, object]]:
    """Yield the rows; of what is well-formed the receipts know whether a person's word hid it."""
    left_out = _left_out(path, home)
    for row in marker_report.explain(path):
        why = left_out.get((row.message_id, row.type), []) if row.taken else []
        yield (row._replace(taken=False, reason=why.pop(0)) if why else row)._asdict()


def _left_out(path: str, home: str) -> dict[tuple[str, str], list[str]]:
    ledger = Ledger.read_only(home)
    if ledger is None:
        return {}
    try:
        ignored = ledger.ignored(limit=MOST_IGNORED)
    finally:
        ledger.close()
    found: dict[tuple[str, str], list[str]] = {}
    for one in sorted(ignored, key=lambda seen: (seen.at_byte, seen.block, seen.ordinal)):
        if one.reason in (MEMORY_OFF, FORGOTTEN) and os.path.realpath(one.path) == path:
            found.setdefault((one.message_id, one.type), []).append(one.reason)
    return found


def _in_text(path: str) -> Iterator[dict[str, object]]:
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for found in markers.find(text):
        yield marker_report.Row(
            line=text.count("\n", 0, found.start) + 1,
            message_id="",
            type=found.type,
            taken=not found.reason,
            reason=found.reason,
            text=marker_report.shown(text, found),
        )._asdict()
