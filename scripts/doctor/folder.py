"""Checks of a file brain's folder: that it is one, is ours to write, and lies where it may."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hooks.context.brain_adapter import brain_kind
from hooks.context.brains.file_folder import Folder, Reaching
from hooks.context.brains.file_index import Index
from hooks.context.lifetime import instant, until
from hooks.errors import BrainUnreachable
from hooks.settings import load
from hooks.status_folder import set_aside
from hooks.verbs.wording import count, one_line
from scripts.doctor import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scripts.doctor import Look


def pages(look: Look) -> Iterator[Finding]:
    """Read the folder as the brain does; nothing is made and nothing is changed.

    One that is named wrongly is told by the status.
    """
    settings = load(look.env)
    if brain_kind(settings) != "file":
        return
    path = settings.brain_path
    wrong = list(_misplaced(path, look.home))
    yield from wrong
    try:
        with Reaching(path):
            index = Index(*Folder(path).scan(), lambda space: space)
    except BrainUnreachable as err:
        yield Finding("fail", str(err), f"BRAIN_SOURCE_PATH names it; {err.hint}")
        return
    if not os.access(path, os.W_OK | os.X_OK):
        what = f"{path} cannot be written by this user: its pages are served, new markers wait"
        yield Finding("warn", what, f"give this user the right to write there (ls -ld {path})")
        return
    for problem in set_aside(path, len(index.aside), sorted(index.aside), len(index.aside)):
        yield Finding("warn", problem.what, problem.next)
    yield from _unread_fields(index)
    if not wrong and not index.aside:
        yield Finding("ok", f"{path} holds {count(len(index.memories), 'memory', 'memories')}")


def _unread_fields(index: Index) -> Iterator[Finding]:
    """A field that cannot be read counts as if it were not there, and nobody would know."""
    for key, memory in sorted(index.memories.items(), key=lambda row: index.where[row[0]]):
        wrong = [
            f"{name}: {memory.fields[name]}"
            for name, reads in _FIELDS.items()
            if memory.fields.get(name) and not reads(memory.fields[name])
        ]
        if wrong:
            what = f"{index.where[key]} is served without {one_line(', '.join(wrong), 200)}"
            yield Finding("warn", what, "mend the field; docs/file-brain.md says what it may be")


_GRAVE = ("critical", "high", "medium", "low")
_SOME_DAY = "2026-11-30T00:00:00+00:00"  # any: only whether a length of time can be read is asked
_FIELDS: dict[str, Callable[[str], bool]] = {
    "ttl": lambda said: bool(until(_SOME_DAY, said)),
    "at": lambda said: bool(instant(said)),
    "severity": lambda said: said.lower() in _GRAVE,
    "priority": lambda said: said.removeprefix("-").isdigit() and said.isascii(),
}


def _misplaced(path: str, home: str) -> Iterator[Finding]:
    real, real_home = os.path.realpath(path), os.path.realpath(home)
    todo = "move the pages to a folder of their own and set BRAIN_SOURCE_PATH to it"
    if real == real_home or real.startswith(real_home + os.sep):
        what = f"{path} lies inside the home {home}, which is private and removed with it"
        yield Finding("warn", what, todo)
    elif real_home.startswith(real.rstrip(os.sep) + os.sep):
        below = os.path.relpath(real_home, real).split(os.sep)
        if not any(part.startswith(".") for part in below):  # hidden folders are not read
            what = f"{path} holds the home {home}, whose files are no pages and would be synced"
            yield Finding("warn", what, todo)
