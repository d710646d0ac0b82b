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
    from collections.abc import Callable, Mapping

    from scripts.swarm_v2.memory.library import Memory

INDEX = "index"
STEP_S = 1.0  # between two looks whether anybody still reads
PAUSE_S = 0.2  # before a server or store that went is looked for again
AGAIN = ("server-gone", "store-busy", "session-missing")


def watch(
    ctx: typer.Context,
    document_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="A document; else every memory that is linked.")
    ] = "",
    scope: Scope = "",
    as_json: Json = False,
) -> None:
    """Print a line (or JSON) for each change of a document and of what it links to."""
    with refusals(as_json):
        here = whereabouts(door(ctx))
        scopes = [scope] if scope else [usual_scope(document_id, "")]
        if not document_id and not scope:
            scopes = list(SCOPES)
        # Without an id the links are how memories are found, and no news of their own.
        told = _Told(_say_json if as_json else _say_line, "" if document_id else INDEX)
        try:
            _follow(here, document_id or INDEX, scopes, told)
        except KeyboardInterrupt:
            pass
        except BrokenPipeError:
            flush_quietly()


def _follow(here: Whereabouts, document_id: str, scopes: list[str], told: _Told) -> None:
    """Print until the reader goes; a server that ends is replaced by the store, and back."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    while True:
        try:
            with closing(open_memory(here)) as memory:
                told.begin(_started(memory, document_id, scopes))
                while _is_read(0):
                    for frame in memory.frames(STEP_S):
                        told.take(frame)
                return
        except MemoryRefused as err:
            if not told.began or err.code not in AGAIN:
                raise
            _is_read(PAUSE_S)


def _started(memory: Memory, document_id: str, scopes: list[str]) -> list[Mapping[str, object]]:
    """Watch at each scope that this session has; return what that shows."""
    frames = []
    for scope in list(scopes):
        try:
            frames.append(memory.watch(f"{scope}/{document_id}", document_id, scope))
        except MemoryRefused as err:
            if err.code != "identity-missing" or len(scopes) == 1:
                raise
            scopes.remove(scope)
    return frames


class _Told:
    """What was printed, so that neither a new connection nor a second watch says it again."""

    def __init__(self, say: Callable[[Mapping[str, object]], None], hidden: str = "") -> None:
        self._say, self._hidden = say, hidden
        self._known: dict[tuple[str, str], int] = {}
        self.began = False

    def begin(self, frames: list[Mapping[str, object]]) -> None:
        """Take what a connection shows at first: at the very first one it is no news."""
        shown = {_name(entry) for frame in frames for entry in _entries(frame, "upserts")}
        if self.began:
            for scope, document_id in self._known.keys() - shown:
                self._gone({"id": document_id, "scope": scope})
        for frame in frames:
            self.take(frame)
        if not self.began:
            typer.echo("watching", err=True)
        self.began = True

    def take(self, frame: Mapping[str, object]) -> None:
        for entry in _entries(frame, "upserts"):
            name, seq = _name(entry), int(str(entry["seq"]))
            news = self._known.get(name, 0) < seq
            self._known[name] = seq
            if news:
                self._print({"change": "forget" if entry.get("deleted") else "set", **entry})
            if entry.get("deleted"):
                del self._known[name]
        for entry in _entries(frame, "removes"):
            if _name(entry) in self._known:
                self._gone(entry)

    def _gone(self, entry: Mapping[str, object]) -> None:
        del self._known[_name(entry)]
        self._print({"change": "gone", **entry})

    def _print(self, change: Mapping[str, object]) -> None:
        if self.began and change["id"] != self._hidden:
            self._say(change)


def _name(entry: Mapping[str, object]) -> tuple[str, str]:
    return str(entry["scope"]), str(entry["id"])


def _say_json(change: Mapping[str, object]) -> None:
    _write(json.dumps(change))


def _say_line(change: Mapping[str, object]) -> None:
    what = summary(change["value"]) if "value" in change else ""
    head = f"{change.get('seq', ''):>6}  {change['scope']:<7}  {change['change']:<6}"
    _write(plain(f"{head}  {change['id']}  {what}".rstrip()))


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _entries(frame: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    found = frame.get(name, [])
    return found if isinstance(found, list) else []


def _is_read(wait_s: float) -> bool:
    """Say whether somebody may still read what is printed."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return not any(
        event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(wait_s * 1000)
    )
