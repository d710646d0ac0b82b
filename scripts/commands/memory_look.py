"""``brainhooks memory list`` and ``show``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.verbs.wording import label, one_line, plain
from scripts.commands import door
from scripts.commands.memory_door import (
    Json,
    Scope,
    looked_into,
    nothing_there,
    refusals,
    usual_scope,
)
from scripts.commands.memory_joined import of_joined, opened_at, where_it_stands
from scripts.commands.memory_text import words_of
from scripts.swarm_v2.memory.document import SCOPES
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import DERIVED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scripts.swarm_v2.memory.library import Memory

WIDTH = 100
PAGE = 500
MADE = (*DERIVED, "index", "faults")  # written along with the others, and no news of their own


def list_documents(
    ctx: typer.Context,
    prefix: Annotated[str, typer.Argument(help="Only ids that begin so.")] = "",
    scope: Scope = "",
    everything: Annotated[bool, typer.Option("--all", help="What is made from them too.")] = False,
    as_json: Json = False,
) -> None:
    """List this project's documents: of all three scopes, or of one."""
    with refusals(as_json), looked_into(door(ctx)) as memory:
        found = list(_documents(memory, scope, prefix)) if memory else []
        if memory:
            found += of_joined(door(ctx), lambda other: _documents(other, scope, prefix))
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    if not (everything or prefix):
        found = [document for document in found if document["id"] not in MADE]
    for document in found:
        said = f"{document['scope']:<7}  {document['seq']:>6}  {label(str(document['id']))}"
        whose = f"[{document['project']}] " if "project" in document else ""
        typer.echo(plain(f"{said}  {whose}{summary(document.get('value'))}".rstrip()))
    if not found:
        typer.echo("No documents here.", err=True)


def _documents(memory: Memory, scope: str, prefix: str) -> Iterator[Mapping[str, object]]:
    for one in [scope] if scope else SCOPES:
        after = ""
        while True:
            try:
                page = memory.documents(one, prefix=prefix, after=after, limit=PAGE)
            except MemoryRefused as err:
                if scope or err.code != "identity-missing":
                    raise
                break  # nobody has such documents here
            rows = page["documents"]
            assert isinstance(rows, list)
            yield from rows
            after = str(page["next"])
            if not after:
                break


def show(
    ctx: typer.Context,
    document_id: Annotated[str, typer.Argument(metavar="ID")],
    scope: Scope = "",
    history: Annotated[bool, typer.Option("--history", help="Its earlier states too.")] = False,
    as_json: Json = False,
) -> None:
    """Show a document.

    What is derived (context, digest, status) is brought up to date first, and shown in words;
    with --json as it is.
    """
    wanted = usual_scope(document_id, scope)
    with refusals(as_json), looked_into(door(ctx)) as memory:
        found, past = _shown(memory, document_id, wanted, history) if memory else (None, {})
        if memory and (found is None or found.get("deleted")):
            there = where_it_stands(door(ctx), document_id, wanted, register=False)
            if there.space != memory.space:
                with opened_at(there) as other:
                    found, past = _shown(other, document_id, wanted, history)
        if found is None or (found.get("deleted") and not history):
            raise nothing_there(document_id, wanted, as_json)
    if as_json:
        typer.echo(json.dumps({**found, **past}, indent=2))
        return
    typer.echo(words_of(found) or pretty(found))
    for revision in _rows(past):
        typer.echo(f"-- {revision['seq']} {revision['op']} ({revision['kind']}) {revision['at']}")
        typer.echo(plain(json.dumps(revision["value"], indent=2, ensure_ascii=False)))


def _shown(
    memory: Memory, document_id: str, scope: str, history: bool
) -> tuple[Mapping[str, object] | None, Mapping[str, object]]:
    found = memory.read(document_id, scope)
    if found is None or not history:
        return found, {}
    return found, memory.history(document_id, str(found["scope"]))


def _rows(past: Mapping[str, object]) -> list[Mapping[str, object]]:
    found = past.get("revisions", [])
    return found if isinstance(found, list) else []


def pretty(document: Mapping[str, object]) -> str:
    """Return a document for a person: where it is and since when, then its value."""
    head = f"{label(str(document['id']))}  ({document['scope']}, {document['seq']})"
    if document.get("deleted"):
        return plain(f"{head}\nforgotten")
    value = document.get("value")
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    return plain(f"{head}\n{text}")


def summary(value: object) -> str:
    """Return the beginning of what a value says, in one line."""
    if isinstance(value, dict):
        for name in ("title", "text", "summary"):
            if isinstance(value.get(name), str) and value[name]:
                return one_line(value[name], WIDTH)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return one_line(text, WIDTH)
