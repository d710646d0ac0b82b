"""``explain [SESSION]``: what the agent was told, and where each line of it comes from.

Without a session it is the one that asks; from a shell, the latest of this folder's project.
"""

from __future__ import annotations

import os

from hooks.context import injections
from hooks.context.remote import UNKNOWN, apply_alias
from hooks.errors import HookError
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.library import here
from hooks.verbs.named import how_to_change, named
from hooks.verbs.wording import WHO, count, day, minute, one_line, session_of, short, whose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.brains import Item
    from hooks.context.injections import Injection
    from hooks.context.ledger import Ledger
    from hooks.context.session_index import Entry
    from hooks.verbs.library import Library

CHUNK = 1 << 20
DOCUMENTS = {  # that are told, and are no memories
    "preferences": "your preferences in this project (brainhooks memory show preferences)",
    "notes": "that session's own notes (brainhooks memory show notes, in its shell)",
}


class NoSuchSessionError(HookError):
    """Nothing was injected into a session of that name."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.hint = "without a session it explains the one you are in, or this project's latest"
        super().__init__(f"nothing was injected into a session {wanted!r}")


def run(args: str, ctx: VerbCtx) -> str:
    if len(args.split()) > 1:
        raise VerbUsageError("explain", "it takes one session")
    session = _session(args, ctx)
    told = injections.read(ctx.settings.home, session) if session else []
    if not told:
        return f"The agent was told nothing in {_named(session, ctx)}."
    sources = _Sources(ctx._replace(session_id=session))  # what is that session's own is meant
    try:
        parts = [_injection(injection, sources) for injection in told]
    finally:
        sources.close()
    lines = sum(len(injection.sources) for injection in told)
    head = f"In {_named(session, ctx)} the agent was told {count(lines, 'memory line')}."
    return "\n\n".join([head, *parts])


def _named(session: str, ctx: VerbCtx) -> str:
    if not session:
        where = here(ctx).id
        place = "this folder" if where == UNKNOWN else where
        return f"any session of {place}; `explain SESSION` explains another"
    if session == ctx.session_id:
        return "this session"
    found = _index(ctx).get(session)
    project = found.project_id if found is not None else ""
    return f"session {session}" + (f" of {project}" if project not in ("", UNKNOWN) else "")


def _index(ctx: VerbCtx) -> dict[str, Entry]:
    from hooks.context import session_index

    return {entry.session_id: entry for entry in session_index.read(ctx.settings.home)}


def _session(wanted: str, ctx: VerbCtx) -> str:
    """Return the session meant: the one named, else this one, else this project's latest told.

    The latest by what was noted, never by a file's time: a forget rewrites the files of all.
    """
    if not wanted and ctx.session_id:
        return ctx.session_id
    names = _told(ctx)
    if wanted:
        names = [name for name in names if name.startswith(wanted)]
        if not names:
            raise NoSuchSessionError(wanted)
    else:
        ours = _sessions_here(ctx)
        names = [name for name in names if name in ours]
    return max(names, key=lambda name: (_last_told(name, ctx), name), default="")


def _told(ctx: VerbCtx) -> list[str]:
    folder = os.path.dirname(injections.path_of(ctx.settings.home, "any"))
    try:
        files = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name[: -len(".jsonl")] for name in files if name.endswith(".jsonl")]


def _sessions_here(ctx: VerbCtx) -> set[str]:
    """Return the sessions of this folder's project; of the folder itself where there is none."""
    from hooks.context import registry

    project, aliases = here(ctx), registry.load(ctx.settings.home).aliases
    return {
        entry.session_id
        for entry in _index(ctx).values()
        if apply_alias(entry.project_id, aliases) == project.id
        and (project.id != UNKNOWN or entry.cwd == project.cwd)
    }


def _last_told(session: str, ctx: VerbCtx) -> str:
    return max((told.at for told in injections.read(ctx.settings.home, session)), default="")


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

        entry = _index(ctx).get(ctx.session_id)
        self._ctx, self._project = ctx, entry.project_id if entry else here(ctx).id
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
        if key.partition("/")[0] in DOCUMENTS:
            return f"{short(key)}: {DOCUMENTS[key.partition('/')[0]]}"
        item = self._item(key)
        seen = self._ledger.sightings_of(key) if self._ledger is not None else []
        if item is None:
            facts = ["no longer remembered"]
        else:
            facts = [f"{one_line(item.type)} by {WHO.get(item.cls, item.cls)}", day(item.at)]
            if how := how_to_change(item):
                facts.append(f"{whose(item) or 'of the project'}, put by name: {how}")
        session = session_of(item) if item is not None else ""
        if not session and seen:
            session = seen[0].session
        if session:
            facts.append(f"session {one_line(session)}")
        if seen:
            facts.append(place(seen[0].path, seen[0].at_byte))
        return f"{short(key)}: {', '.join(facts)}"

    def _item(self, key: str) -> Item | None:
        if self._brain is None:
            return None
        found = named(self._brain, key, self._ctx, self._project)
        if found:
            return found[0]  # the narrowest: that one was told
        found = self._brain.find(key)
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
