"""``brainhooks memory put``, ``edit`` and ``forget``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.clock import iso
from hooks.verbs.wording import label
from scripts.commands import door
from scripts.commands.memory_door import (
    Json,
    Scope,
    complain,
    exit_code,
    nothing_there,
    opened,
    refusals,
    usual_scope,
)
from scripts.commands.memory_joined import opened_at, where_it_stands
from scripts.commands.memory_look import pretty
from scripts.commands.memory_said import check_claim, check_usual, signed, speaker
from scripts.commands.memory_value import NO_VALUE, edited, given, redacted, tell_redacted
from scripts.swarm_v2.memory import memories
from scripts.swarm_v2.memory.claims import SAID_BY
from scripts.swarm_v2.memory.document import is_link
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.proposals import check_authored
from scripts.swarm_v2.memory.store import Write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scripts.commands import Door
    from scripts.swarm_v2.memory.library import Memory

Id = Annotated[str, typer.Argument(metavar="ID", help="memory/NAME, preferences, notes …")]
Value = Annotated[
    str | None,
    typer.Argument(metavar="VALUE", help="JSON or text; where it is left out, what is piped in."),
]
WITH_BASE = "look at it, then say --base {seq}"
EDIT_IT = "brainhooks memory edit replaces what stands there, as does put without --new"
AsText = Annotated[bool, typer.Option("--text", help="Take VALUE as text, also where it is JSON.")]


def put(
    ctx: typer.Context,
    document_id: Id,
    value: Value = None,
    scope: Scope = "",
    new: Annotated[bool, typer.Option("--new", help="Only where nothing stands yet.")] = False,
    as_text: AsText = False,
    as_json: Json = False,
) -> None:
    """Write a document, whatever stood there; what stood there stays in its history."""
    said = given(value, as_text)
    wanted = usual_scope(document_id, scope)
    with refusals(as_json), opened(door(ctx)) as memory:
        check_authored(document_id)
        check_usual(document_id, wanted)
        clean, kinds = redacted(said)
        slug = memories.slug_of(document_id)
        if slug is not None:
            clean = _memory(clean, {}, memory.space, door(ctx), wanted)
        clean = signed(document_id, clean, speaker(door(ctx), wanted))
        writes = _writes(document_id, wanted, clean, 0 if new else None)
        _standing(memory, document_id, wanted)
        write, again = (lambda: _written(memory, wanted, writes)), EDIT_IT if new else WITH_BASE
        _say(memory, document_id, wanted, write, as_json, again)
    tell_redacted(kinds)


def edit(
    ctx: typer.Context,
    document_id: Id,
    value: Value = None,
    scope: Scope = "",
    base: Annotated[
        int | None,
        typer.Option("--base", min=0, help="The number that you saw; else what stands there now."),
    ] = None,
    as_text: AsText = False,
    as_json: Json = False,
) -> None:
    """Replace a document unless it changed meanwhile.

    Without VALUE it opens in your editor at a terminal, and is what is piped in elsewhere.
    """
    wanted = usual_scope(document_id, scope)
    with refusals(as_json), opened(door(ctx)) as memory:
        check_authored(document_id)
        found = memory.read(document_id, wanted, follow=False)
        if found is None or found.get("deleted"):
            raise nothing_there(document_id, wanted, as_json)
        if value is None and sys.stdin.isatty():
            said = edited(found.get("value"), door(ctx).env)
            if said is NO_VALUE:
                typer.echo("nothing was changed", err=True)
                return
        else:
            said = given(value, as_text)
        clean, kinds = redacted(said)
        if memories.slug_of(document_id) is not None:
            before = found.get("value")
            known = before if isinstance(before, dict) and not is_link(before) else {}
            clean = _memory(clean, known, memory.space, door(ctx), wanted)
        clean = signed(document_id, clean, speaker(door(ctx), wanted))
        seen = int(str(found["seq"]))
        if base is not None and base > seen:
            hint = f"say --base {seen}, or leave it out"
            raise MemoryRefused(
                "request-invalid", f"{label(document_id)} was never at {base}", hint
            )
        writes = _writes(document_id, wanted, clean, seen if base is None else base)
        _say(memory, document_id, wanted, lambda: _written(memory, wanted, writes), as_json)
    tell_redacted(kinds)


def forget(ctx: typer.Context, document_id: Id, scope: Scope = "", as_json: Json = False) -> None:
    """Erase a document with its history for good; a tombstone stays, and watchers are told."""
    wanted = usual_scope(document_id, scope)
    with refusals(as_json):
        check_authored(document_id)
        here = where_it_stands(door(ctx), document_id, wanted)
        with opened_at(here) as memory:
            found = _standing(memory, document_id, wanted)
            if found is None or found.get("deleted"):
                raise nothing_there(document_id, wanted, as_json)
        said = _forget_marker(document_id, door(ctx))
        with opened_at(here) as memory:
            seq = _erase(memory, document_id, str(found["scope"]))
    if as_json:
        typer.echo(json.dumps({"id": document_id, "scope": found["scope"], "seq": seq}))
        return
    typer.echo(said or f"Forgot {label(document_id)} ({found['scope']}). Its history is gone too.")


def _standing(memory: Memory, document_id: str, scope: str) -> Mapping[str, object] | None:
    """Return what is there; of what is damaged, that it is, which the person is told."""
    try:
        return memory.read(document_id, scope, follow=False)
    except MemoryRefused as err:
        if err.code != "store-damaged":
            raise
        typer.echo(f"{err.code}: {err}", err=True)
        return {"id": document_id, "scope": scope, "damaged": True}


def _erase(memory: Memory, document_id: str, scope: str) -> int:
    """Erase what is still there, and its link in the index; return the number of it all."""
    now = _standing(memory, document_id, scope)
    if now is None or now.get("deleted"):
        return int(str(now["seq"])) if now else 0
    slug = memories.slug_of(document_id)
    if slug is None:
        return memory.commit({"writes": [{"id": document_id, "scope": scope, "op": "erase"}]})
    return memory.commit({"writes": _asked(memories.erased(slug, ""), scope)})


def _forget_marker(document_id: str, door: Door) -> str:
    """Do what the verb forget does, where the brain knows the memory; "" where it does not."""
    from hooks.errors import BrainUnreachable, NotOneMemory
    from hooks.verbs import run_named
    from hooks.verbs.library import NotForThisBrainError, NothingYetError, OutOfReachError, is_id
    from scripts.commands.verb import verb_ctx

    slug = memories.slug_of(document_id)
    if slug is None or len(slug) != 32 or not is_id(slug):
        return ""
    try:
        return run_named("forget", slug, verb_ctx(door))
    except (
        *(NotOneMemory, NothingYetError, NotForThisBrainError),
        *(OutOfReachError, BrainUnreachable),
    ):
        return ""


def _writes(document_id: str, scope: str, value: object, base: int | None) -> list[Write]:
    """Return what a document is written by: a memory along with its link."""
    slug = memories.slug_of(document_id)
    if slug is None:
        return [Write(document_id, "", "set", value, base)]
    assert isinstance(value, dict)
    return [*memories.writes_for(slug, value, "", scope, base=base)]  # type: ignore[arg-type]  # the server checks it


def _say(
    memory: Memory,
    document_id: str,
    scope: str,
    write: Callable[[], int],
    as_json: bool,
    again: str = WITH_BASE,
) -> None:
    """Write, and say what came of it."""
    try:
        seq = write()
    except MemoryRefused as err:
        if exit_code(err) == 1:
            raise
        _conflict(memory, document_id, scope, err, as_json, again)
        raise typer.Exit(exit_code(err)) from None
    if as_json:
        typer.echo(json.dumps({"id": document_id, "scope": scope, "seq": seq}))
    elif seq:
        typer.echo(f"{label(document_id)} ({scope}) is at {seq} now")
    else:
        typer.echo(f"{label(document_id)} ({scope}) says that already")


def _written(memory: Memory, scope: str, writes: list[Write]) -> int:
    """Commit what replaces whatever stands there."""
    return _in_a_full_index(
        memory, scope, writes, lambda all: memory.commit({"writes": _asked(all, scope)})
    )


def _in_a_full_index(
    memory: Memory, scope: str, writes: list[Write], write: Callable[[list[Write]], int]
) -> int:
    """Write; a full index unlinks its least, as it does for a marker, and is not in the way."""
    try:
        return write(writes)
    except MemoryRefused as err:
        if err.code != "document-too-large" or len(writes) == 1:
            raise
        index = memory.read(memories.INDEX, scope) or {}
        value = index.get("value")
        links = value.get("links") if isinstance(value, dict) else None
        least = memories.least(links, memories.MOST_INDEX // 4) if isinstance(links, dict) else []
        if not least:
            raise
    fewer = {"links": dict.fromkeys(least)}
    return write([Write(memories.INDEX, "", "patch", fewer), *writes])


def _conflict(
    memory: Memory, document_id: str, scope: str, err: MemoryRefused, as_json: bool, again: str
) -> None:
    """Show the refusal, what stands there now, and what to say next."""
    current = memory.read(document_id, scope, follow=False)
    if current is not None and not err.hint:
        err.hint = again.format(seq=current["seq"])
    complain(err, as_json, **({"current": current} if as_json else {}))
    if not as_json and current is not None:
        typer.echo(f"now: {pretty(current)}")


def _asked(writes: Iterable[Write], scope: str) -> list[dict[str, object]]:
    """Return writes as a proposal names them: by scope, whose key is the server's to build."""
    found = []
    for write in writes:
        asked: dict[str, object] = {"id": write.id, "scope": scope, "op": write.op}
        if write.value is not None or write.op == "set":  # null is a value
            asked["value"] = write.value
        if write.base is not None:
            asked["base"] = write.base
        found.append(asked)
    return found


def _memory(
    value: object, before: Mapping[str, object], project: str, door: Door, scope: str
) -> dict[str, object]:
    """Return a memory's value: text replaces the text of the one before, and is who says it."""
    who = speaker(door, scope)
    check_claim(value, who)
    usual = {"type": "lesson", SAID_BY: who, "at": iso(door.at), "project": project}
    if isinstance(value, str) and value.strip():
        return {**usual, **before, SAID_BY: who, "text": value}
    if isinstance(value, dict) and _has_text(value):
        return {**usual, **value}
    hint = 'give a text, or an object such as {"text": "…", "title": "…"}'
    raise MemoryRefused("document-invalid", "a memory has a text", hint)


def _has_text(value: Mapping[str, object]) -> bool:
    text = value.get("text")
    return isinstance(text, str) and bool(text.strip())
