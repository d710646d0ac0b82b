"""``brainhooks memory watch``: a line for each change, until somebody ends it."""

from __future__ import annotations

import json
import select
import signal
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.verbs.wording import plain
from scripts.commands import door
from scripts.commands.memory_door import (
    Json,
    Scope,
    Whereabouts,
    flush_quietly,
    open_memory,
    refusals,
    usual_scope,
    whereabouts,
)
from scripts.commands.memory_look import summary
from scripts.swarm_v2.memory.document import SCOPES
from scripts.swarm_v2.memory.errors import MemoryRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scripts.swarm_v2.memory.library import Memory

INDEX = "index"
STEP_S = 1.0  # between two looks whether anybody still reads
PAUSE_S = 0.2  # before a server or store that went is looked for again
AGAIN = ("server-gone", "store-busy", "session-missing")


def watch(
    ctx: typer.Context,
    document_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="A document; else every memory that is linked.")
    ] = INDEX,
    scope: Scope = "",
    as_json: Json = False,
) -> None:
    """Print a line (or JSON) for each change of a document and of what it links to."""
    with refusals(as_json):
        here = whereabouts(door(ctx))
        scopes = [scope] if scope else [usual_scope(document_id, "")]
        if document_id == INDEX and not scope:
            scopes = list(SCOPES)
        try:
            _follow(here, document_id, scopes, as_json)
        except KeyboardInterrupt:
            pass
        except BrokenPipeError:
            flush_quietly()


def _follow(here: Whereabouts, document_id: str, scopes: list[str], as_json: bool) -> None:
    """Print until the reader goes; a server that ends is replaced by the store, and back."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    known: dict[tuple[str, str], int] = {}
    began = False
    while True:
        try:
            with closing(open_memory(here)) as memory:
                _start(memory, document_id, scopes, known, as_json, silent=not began)
                if not began:
                    typer.echo(f"watching {document_id} ({', '.join(scopes)})", err=True)
                began = True
                _print_all(memory, known, as_json)
                return
        except MemoryRefused as err:
            if not began or err.code not in AGAIN:
                raise
            _listened(PAUSE_S)


def _print_all(memory: Memory, known: dict[tuple[str, str], int], as_json: bool) -> None:
    while _listened(0):
        for frame in memory.frames(STEP_S):
            _print(frame, known, as_json)


def _start(
    memory: Memory,
    document_id: str,
    scopes: list[str],
    known: dict[tuple[str, str], int],
    as_json: bool,
    *,
    silent: bool,
) -> None:
    """Watch each scope that there is; what it shows at first was there, unless it is news."""
    watched = 0
    for scope in list(scopes):
        try:
            frame = memory.watch(f"{scope}/{document_id}", document_id, scope)
        except MemoryRefused as err:
            if err.code != "identity-missing" or len(scopes) == 1:
                raise
            scopes.remove(scope)
            continue
        watched += 1
        _print(frame, known, as_json, silent=silent)


def _print(
    frame: Mapping[str, object],
    known: dict[tuple[str, str], int],
    as_json: bool,
    *,
    silent: bool = False,
) -> None:
    for entry in _entries(frame, "upserts"):
        name, seq = (str(entry["scope"]), str(entry["id"])), int(str(entry["seq"]))
        news = known.get(name, 0) < seq
        known[name] = seq
        if news and not silent:
            _say({"change": "forget" if entry.get("deleted") else "set", **entry}, as_json)
    for entry in _entries(frame, "removes"):
        if known.pop((str(entry["scope"]), str(entry["id"])), None) is not None and not silent:
            _say({"change": "leave", **entry}, as_json)


def _say(change: Mapping[str, object], as_json: bool) -> None:
    if as_json:
        line = json.dumps(change)
    else:
        what = summary(change["value"]) if "value" in change else ""
        seq = change.get("seq", "")
        line = plain(
            f"{seq:>6}  {change['scope']:<7}  {change['change']:<6}  {change['id']}  {what}"
        )
    sys.stdout.write(line.rstrip() + "\n")
    sys.stdout.flush()


def _entries(frame: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    found = frame.get(name, [])
    return found if isinstance(found, list) else []


def _listened(wait_s: float) -> bool:
    """Say whether somebody may still read what is printed."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return not any(
        event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(wait_s * 1000)
    )
