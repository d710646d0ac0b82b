"""``explain [SESSION]``: what the agent was told, and where each line of it comes from."""

from __future__ import annotations

import os

from hooks.context import injections
from hooks.errors import HookError
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.wording import WHO, count, day, minute, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.brains import Item
    from hooks.context.injections import Injection
    from hooks.context.ledger import Ledger
    from hooks.verbs.library import Library

CHUNK = 1 << 20


class NoSuchSessionError(HookError):
    """Nothing was injected into a session of that name."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.hint = "without a session it explains the one you are in, or the latest"
        super().__init__(f"nothing was injected into a session {wanted!r}")


def run(args: str, ctx: VerbCtx) -> str:
    if len(args.split()) > 1:
        raise VerbUsageError("explain", "it takes one session")
    session = _session(args, ctx)
    told = injections.read(ctx.settings.home, session) if session else []
    if not told:
        return f"The agent was told nothing in {_named(session, ctx)}."
    sources = _Sources(ctx)
    try:
        parts = [_injection(injection, sources) for injection in told]
    finally:
        sources.close()
    lines = sum(len(injection.sources) for injection in told)
    head = f"In {_named(session, ctx)} the agent was told {count(lines, 'memory line')}."
    return "\n\n".join([head, *parts])


def _named(session: str, ctx: VerbCtx) -> str:
    if not session:
        return "any session"
    return "this session" if session == ctx.session_id else f"session {session}"


def _session(wanted: str, ctx: VerbCtx) -> str:
    """Return the session meant: the one named, else this one, else the latest told anything."""
    if not wanted and ctx.session_id:
        return ctx.session_id
    folder = os.path.dirname(injections.path_of(ctx.settings.home, "any"))
    try:
        with os.scandir(folder) as entries:
            found = [(entry.stat().st_mtime, entry.name) for entry in entries]
    except (FileNotFoundError, NotADirectoryError):
        found = []
    names = [name[: -len(".jsonl")] for _, name in sorted(found) if name.endswith(".jsonl")]
    matching = [name for name in names if name.startswith(wanted)]
    if wanted and not matching:
        raise NoSuchSessionError(wanted)
    return matching[-1] if matching else ""


def _injection(told: Injection, sources: _Sources) -> str:
    lines = [f"{told.event}, {minute(told.at)}:"]
    for ids, line in told.sources:
        lines.append(f"  {line}")
        lines += [f"      {sources.of(key)}" for key in ids]
    if not told.sources:
        lines.append("  (the note on how to mark a lesson, no memory)")
    return "\n".join(lines)


class _Sources:
    """Where a memory comes from, asked of the brain and of the ledger; both may be missing."""

    def __init__(self, ctx: VerbCtx) -> None:
        from hooks.context.ledger import Ledger
        from hooks.verbs.library import open_library

        self._ledger: Ledger | None = Ledger.read_only(ctx.settings.home)
        self._brain: Library | None = None
        try:
            self._brain = open_library(ctx)
        except HookError:  # what the ledger knows is still worth telling
            return

    def close(self) -> None:
        if self._ledger is not None:
            self._ledger.close()
        if self._brain is not None:
            self._brain.close()

    def of(self, key: str) -> str:
        """Write ``3f2a9c11: lesson by agent, 2026-11-29, session …, transcript line 48 of …``."""
        item = self._item(key)
        seen = self._ledger.sightings_of(key) if self._ledger is not None else []
        if item is None:
            facts = ["no longer remembered"]
        else:
            facts = [f"{item.type} by {WHO.get(item.cls, item.cls)}", day(item.at)]
        session = item.session if item is not None else ""
        if not session and seen:
            session = seen[0].session
        if session:
            facts.append(f"session {session}")
        if seen:
            facts.append(place(seen[0].path, seen[0].at_byte))
        return f"{short(key)}: {', '.join(facts)}"

    def _item(self, key: str) -> Item | None:
        found = self._brain.find(key) if self._brain is not None else []
        return found[0] if len(found) == 1 else None


def place(path: str, offset: int) -> str:
    """Write the transcript line at byte ``offset`` as ``line 48 of PATH``; lines count from 1."""
    try:
        number = line_number(path, offset)
    except OSError:
        return f"{path} (the transcript is gone)"
    return f"line {number} of {path}"


def line_number(path: str, offset: int) -> int:
    """Return the number of the line that holds byte ``offset``.

    Raises:
        OSError: the file cannot be read.
    """
    newlines = 0
    with open(path, "rb") as file:
        while offset > 0 and (part := file.read(min(CHUNK, offset))):
            newlines += part.count(b"\n")
            offset -= len(part)
    return newlines + 1
