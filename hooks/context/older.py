"""Outbox files of an installation before keys were recorded: they get their key once, for good."""

from __future__ import annotations

from hooks.clock import iso, parse_iso
from hooks.context.keeping import Keeper, Origin
from hooks.context.thought import think

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hooks.settings import Settings


def with_key(document: Mapping[str, object], settings: Settings, at: datetime) -> dict[str, object]:
    """Return ``document`` with the key that the transcript's own line would get.

    Its content and attributes are redacted like every marker's; the legacy key is made before.
    """
    attrs = document["attrs"]
    assert isinstance(attrs, dict)
    session = document.get("session_id") or attrs.get("session_id") or ""
    when = parse_iso(document.get("ts"))
    keeper = Keeper(settings, at)
    thought = think(str(document["type"]), str(document["content"]), attrs)
    origin = Origin(session=str(session), at=when)
    key = keeper.key(thought, origin, keeper.scope(origin.session, when))
    ts = {"ts": iso(when)} if when else {}
    return {
        **document,
        "content": thought.content,
        "attrs": {**thought.attrs, **ts},
        "idempotency_key": key,
        "session_id": origin.session,
        "digest": thought.digest,
        "redacted": list(thought.redacted),
    }
