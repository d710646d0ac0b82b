"""Outbox files of an installation before keys were recorded: they get their key once, for good."""

from __future__ import annotations

from hooks.clock import iso, parse_iso
from hooks.context.keeping import Keeper
from hooks.context.thought import LEGACY_CHARS, think
from scripts.swarm_v2.keyspace import legacy_marker_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hooks.settings import Settings


def with_key(document: Mapping[str, object], settings: Settings, at: datetime) -> dict[str, object]:
    """Return ``document`` with its legacy key, whatever its time: the older code may have sent it.

    Its content and attributes are redacted like every marker's; the key is made before. Where
    the transcript's own line would get another key (older code ran again, after the cutover) it
    counts as not seen yet, so that the line adopts it, key and all.

    Raises:
        StateError: ``installation.json`` breaks its grammar.
    """
    attrs = document["attrs"]
    assert isinstance(attrs, dict)
    session = str(document.get("session_id") or attrs.get("session_id") or "")
    when = parse_iso(document.get("ts"))
    kind, content = str(document["type"]), str(document["content"])
    thought = think(kind, content, attrs)
    ts = {"ts": iso(when)} if when else {}
    return {
        **document,
        "content": thought.content,
        "attrs": {**thought.attrs, **ts},
        "idempotency_key": legacy_marker_key(session, kind, as_hashed(content)),
        "session_id": session,
        "digest": thought.digest,
        "redacted": list(thought.redacted),
        "unseen": when is not None and when >= Keeper(settings, at).cutover,
    }


def as_hashed(content: str) -> str:
    """Return what the older code hashed: stripped, then cut; a cut text may end in a blank."""
    return content if len(content) == LEGACY_CHARS else content.strip()[:LEGACY_CHARS]
