"""Which files an event's markers may stand in."""

from __future__ import annotations

import os
import stat

from hooks.home import user_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple

    from hooks.payload import Event
else:
    from hooks.record import NamedTuple


class Source(NamedTuple):
    """One transcript. ``main`` is the session's own, which tells where the session moved."""

    path: str  # "" where the agent keeps none
    session: str
    main: bool


def sources(event: Event, env: Mapping[str, str]) -> list[Source]:
    """Return the transcripts that ``event`` is about; a file that is none of ours is left out.

    A subagent's stop is about its own file: where that does not exist (the client's own
    compaction ends as one), there is nothing to read and nothing else to believe.
    """
    if event.name == "SubagentStop":
        own = regular(event.agent_transcript_path, event.cwd, env)
        return [Source(own, event.session_id, main=False)] if own else []
    path = regular(event.transcript_path, event.cwd, env)
    found = [Source(path, event.session_id, main=True)]
    if event.name == "SessionEnd" and path:
        found += subagents(path, event.session_id)
    return found


def subagents(transcript: str, session: str) -> list[Source]:
    """Return what the session's subagents wrote: ``<session>/subagents/*.jsonl`` beside it."""
    folder = os.path.join(transcript.removesuffix(".jsonl"), "subagents")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    paths = [os.path.join(folder, name) for name in names if name.endswith(".jsonl")]
    return [Source(path, session, main=False) for path in paths if is_regular(path)]


def regular(path: str, cwd: str, env: Mapping[str, str]) -> str:
    """Return ``path`` made absolute if it is a regular file, else ""; nothing is opened."""
    if not path or "\0" in path:
        return ""
    if path.startswith("~/"):
        path = user_home(env) + path[1:]
    path = os.path.join(cwd or os.sep, path)
    return path if is_regular(path) else ""


def is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False
