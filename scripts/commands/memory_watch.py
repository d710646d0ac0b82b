"""``brainhooks memory watch``: a line for each change, until somebody ends it."""

from __future__ import annotations

import json
import select
import signal
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.verbs.wording import label, plain
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
from scripts.swarm_v2.memory.changes import ChangeSet
from scripts.swarm_v2.memory.document import MISSING, SCOPES
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import SyncFrame, parse
from scripts.swarm_v2.memory.watch_view import ViewKey, WatchView, view_key
from scripts.swarm_v2.scope_key import DirtyKey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scripts.swarm_v2.memory.address import InstanceKey
    from scripts.swarm_v2.memory.frames import Remove, Upsert
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
        told = _Told(here.space, _say_json if as_json else _say_line, "" if document_id else INDEX)
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

    def __init__(
        self, space: str, say: Callable[[Mapping[str, object]], None], hidden: str = ""
    ) -> None:
        self._space, self._say, self._hidden = space, say, hidden
        self._view = WatchView()
        self.began = False

    def begin(self, frames: list[Mapping[str, object]]) -> None:
        """Take what a connection shows at first: at the very first one it is no news."""
        shown = WatchView()
        for frame in frames:
            shown.apply(parse(frame))
        upserts = tuple(entry for _, entry in shown)
        self._take(SyncFrame(self._space, 1, 0, 0, upserts, reset=True))
        if not self.began:
            typer.echo("watching", err=True)
        self.began = True

    def take(self, frame: Mapping[str, object]) -> None:
        self._take(parse(frame))

    def _take(self, frame: SyncFrame) -> None:
        before, changes = dict(self._view), ChangeSet()
        entries: list[Upsert | Remove] = [*frame.upserts, *frame.removes]
        touched = dict.fromkeys([*before, *(view_key(entry) for entry in entries)])
        # By the names of their scopes: what is told is this session's own.
        changes.capture(self._space, [DirtyKey(key.instance, key.id) for key in touched], self._at)
        changed = self._view.apply(frame)
        if not self.began:
            return
        places = changes.compare(self._at)
        for key in changed:
            paths = [[*one.path] for one in places if one.key[1:] == key[1:]]
            self._print(key, before.get(key), paths)

    def _at(self, key: InstanceKey) -> object:
        entry = self._view.get(ViewKey("", key.scope_key, key.id))
        return MISSING if entry is None or entry.deleted else entry.value

    def _print(self, key: ViewKey, before: Upsert | None, paths: list[list[str]]) -> None:
        entry = self._view.get(key)
        if key.id == self._hidden or (entry is None and (before is None or before.deleted)):
            return
        told: dict[str, object] = {"change": "gone", "id": key.id, "scope": key.instance}
        if entry is not None:
            told |= {"change": "forget" if entry.deleted else "set", "seq": entry.seq}
        if entry is not None and not entry.deleted:
            told["value"] = entry.value
            if before is not None and not before.deleted:
                told["changed"] = paths
        self._say(told)


def _say_json(change: Mapping[str, object]) -> None:
    _write(json.dumps(change))


def _say_line(change: Mapping[str, object]) -> None:
    what = summary(change["value"]) if "value" in change else ""
    head = f"{change.get('seq', ''):>6}  {change['scope']:<7}  {change['change']:<6}"
    _write(plain(f"{head}  {label(str(change['id']))}  {what}".rstrip()))


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _is_read(wait_s: float) -> bool:
    """Say whether somebody may still read what is printed."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return not any(
        event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(wait_s * 1000)
    )
