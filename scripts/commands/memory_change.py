"""``brainhooks memory put``, ``edit`` and ``forget``."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.clock import iso
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
from scripts.commands.memory_look import pretty
from scripts.swarm_v2.memory import memories
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.proposals import check_authored
from scripts.swarm_v2.memory.store import Write
from scripts.swarm_v2.wire_json import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scripts.commands import Door
    from scripts.swarm_v2.memory.library import Memory

Id = Annotated[str, typer.Argument(metavar="ID", help="memory/NAME, preferences, notes …")]
Value = Annotated[
    str | None,
    typer.Argument(metavar="VALUE", help="JSON or text; from standard input where it is left out."),
]
AsText = Annotated[bool, typer.Option("--text", help="Take VALUE as text, also where it is JSON.")]
NO_VALUE = object()


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
    given = _value(value if value is not None else _stdin(), as_text)
    wanted = usual_scope(document_id, scope)
    with refusals(as_json), opened(door(ctx)) as memory:
        check_authored(document_id)
        clean, kinds = _redacted(given)
        slug = memories.slug_of(document_id)
        if slug is not None:
            clean = _memory(clean, {}, memory.space, door(ctx))
        writes = _writes(document_id, wanted, clean, 0 if new else None)
        _standing(memory, document_id, wanted)
        _say(memory, document_id, wanted, lambda: _written(memory, wanted, writes), as_json)
    _tell_redacted(kinds)


def edit(
    ctx: typer.Context,
    document_id: Id,
    value: Value = None,
    scope: Scope = "",
    base: Annotated[
        int | None,
        typer.Option("--base", help="The number that you saw; else what stands there now."),
    ] = None,
    as_text: AsText = False,
    as_json: Json = False,
) -> None:
    """Replace a document unless it changed meanwhile; without VALUE, in your editor."""
    wanted = usual_scope(document_id, scope)
    with refusals(as_json), opened(door(ctx)) as memory:
        check_authored(document_id)
        found = memory.read(document_id, wanted)
        if found is None or found.get("deleted"):
            raise nothing_there(document_id, wanted, as_json)
        if value is None and sys.stdin.isatty():
            given = _edited(found.get("value"), door(ctx).env)
            if given is NO_VALUE:
                typer.echo("nothing was changed", err=True)
                return
        else:
            given = _value(value if value is not None else _stdin(), as_text)
        clean, kinds = _redacted(given)
        end, where = str(found["id"]), str(found["scope"])  # of what a redirect leads to
        if memories.slug_of(end) is not None:
            before = found.get("value")
            known = before if isinstance(before, dict) else {}
            clean = _memory(clean, known, memory.space, door(ctx))
        seen = int(str(found["seq"])) if base is None else base
        writes = _writes(end, where, clean, None)
        _say(memory, end, where, lambda: _replaced(memory, where, writes, seen), as_json)
    _tell_redacted(kinds)


def forget(ctx: typer.Context, document_id: Id, scope: Scope = "", as_json: Json = False) -> None:
    """Erase a document with its history for good; a tombstone stays, and watchers are told."""
    wanted = usual_scope(document_id, scope)
    with refusals(as_json):
        check_authored(document_id)
        with opened(door(ctx)) as memory:
            found = _standing(memory, document_id, wanted)
            if found is None or found.get("deleted"):
                raise nothing_there(document_id, wanted, as_json)
        said = _forget_marker(document_id, door(ctx))
        with opened(door(ctx)) as memory:
            seq = _erase(memory, document_id, str(found["scope"]))
    if as_json:
        typer.echo(json.dumps({"id": document_id, "scope": found["scope"], "seq": seq}))
        return
    typer.echo(said or f"Forgot {document_id} ({found['scope']}). Its history is gone too.")


def _standing(memory: Memory, document_id: str, scope: str) -> Mapping[str, object] | None:
    """Return what is there; of what is damaged, that it is, which the person is told."""
    try:
        return memory.read(document_id, scope)
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
    memory: Memory, document_id: str, scope: str, write: Callable[[], int], as_json: bool
) -> None:
    """Write, and say what came of it."""
    try:
        seq = write()
    except MemoryRefused as err:
        if exit_code(err) == 1:
            raise
        _conflict(memory, document_id, scope, err, as_json)
        raise typer.Exit(exit_code(err)) from None
    if as_json:
        typer.echo(json.dumps({"id": document_id, "scope": scope, "seq": seq}))
    elif seq:
        typer.echo(f"{document_id} ({scope}) is at {seq} now")
    else:
        typer.echo(f"{document_id} ({scope}) says that already")


def _written(memory: Memory, scope: str, writes: list[Write]) -> int:
    """Commit what replaces whatever stands there."""
    return _in_a_full_index(
        memory, scope, writes, lambda all: memory.commit({"writes": _asked(all, scope)})
    )


def _replaced(memory: Memory, scope: str, writes: list[Write], seen: int) -> int:
    """Commit what replaces the state ``seen`` of the first document, and nothing newer."""

    def write(all: list[Write]) -> int:
        with memory.transaction() as edit:
            now = edit.document(writes[0].id, scope)
            current = int(str(now["seq"])) if now else 0
            if current != seen:
                sentence = f"another commit moved {writes[0].id}"
                raise MemoryRefused("stale-base", sentence, current=current)
            for one in all:
                put = edit.patch if one.op == "patch" else edit.write
                put(one.id, one.value, scope)
        return edit.seq

    return _in_a_full_index(memory, scope, writes, write)


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
    memory: Memory, document_id: str, scope: str, err: MemoryRefused, as_json: bool
) -> None:
    """Show the refusal, and what stands there now."""
    current = memory.read(document_id, scope)
    complain(err, as_json, **({"current": current} if as_json else {}))
    if not as_json and current is not None:
        typer.echo(f"now: {pretty(current)}")
        typer.echo(f"  hint: look at it, then say --base {current['seq']}", err=True)


def _asked(writes: Iterable[Write], scope: str) -> list[dict[str, object]]:
    """Return writes as a proposal names them: by scope, whose key is the server's to build."""
    found = []
    for write in writes:
        asked: dict[str, object] = {"id": write.id, "scope": scope, "op": write.op}
        if write.value is not None:
            asked["value"] = write.value
        if write.base is not None:
            asked["base"] = write.base
        found.append(asked)
    return found


def _memory(
    value: object, before: Mapping[str, object], project: str, door: Door
) -> dict[str, object]:
    """Return a memory's value: text replaces the text of the one before."""
    usual = {"type": "lesson", "cls": "person", "at": iso(door.at), "project": project}
    if isinstance(value, str):
        return {**usual, **before, "text": value}
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return {**usual, **value}
    hint = 'give a text, or an object such as {"text": "…", "title": "…"}'
    raise MemoryRefused("document-invalid", "a memory has a text", hint)


def _value(text: str, as_text: bool) -> object:
    """Read JSON; what is none is text."""
    if not as_text:
        try:
            return loads(text)
        except ValueError:
            pass
    return text.rstrip("\n") if not as_text else text


def _stdin() -> str:
    if sys.stdin.isatty():
        raise typer.BadParameter("say it, or give it on standard input", param_hint="VALUE")
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        sentence = "what was given on standard input is no text in UTF-8"
        raise typer.BadParameter(sentence, param_hint="VALUE") from None


def _edited(value: object, env: Mapping[str, str]) -> object:
    """Let the person edit it; NO_VALUE where they left it as it was."""
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    editor = env.get("VISUAL") or env.get("EDITOR") or "vi"
    with tempfile.NamedTemporaryFile("w+", suffix=".json", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([*shlex.split(editor), file.name], check=False)
        with open(file.name, encoding="utf-8") as again:  # editors replace the file
            after = again.read()
    if done.returncode or after.rstrip("\n") == text.rstrip("\n") or not after.strip():
        return NO_VALUE
    return after.rstrip("\n") if isinstance(value, str) else _value(after, as_text=False)


def _redacted(value: object) -> tuple[object, tuple[str, ...]]:
    """Take secrets out of every text; return what was left, and which kinds were taken."""
    from hooks.context.redact import redact

    kinds: dict[str, None] = {}

    def clean(part: object) -> object:
        if isinstance(part, str):
            text, found = redact(part)
            kinds.update(dict.fromkeys(found))
            return text
        if isinstance(part, list):
            return [clean(one) for one in part]
        if isinstance(part, dict):
            return {name: clean(one) for name, one in part.items()}
        return part

    return clean(value), tuple(kinds)


def _tell_redacted(kinds: tuple[str, ...]) -> None:
    if kinds:
        typer.echo(f"taken out before it was kept: {', '.join(kinds)}", err=True)
