"""What a marker says, ready to be kept: cleaned, redacted, with the digests that identify it."""

from __future__ import annotations

from hooks.payload import clean
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.keyspace import legacy_marker_key, marker_key
from scripts.swarm_v2.wire_json import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import NamedTuple

    from scripts.swarm_v2.keyspace import Namespace
else:
    from hooks.record import NamedTuple

LEGACY_CHARS = 4_096  # how much of a text the older code hashed, and kept
PERSONAL = ("user", "session")


class Thought(NamedTuple):
    """One marker's meaning. ``original`` is the text before redaction: hashed, never stored."""

    type: str
    content: str
    scope: str  # "space", "user" or "session"
    attrs: dict[str, str]
    redacted: tuple[str, ...]
    original: str

    @property
    def digest(self) -> str:
        """Identify the thought wherever it stands: over type, scope and content only."""
        return digest_of(self.type, self.scope, self.content)


def digest_of(type_: str, scope: str, content: str) -> str:
    return short_digest(canonical([type_, scope, content]))


def scope_of(attrs: Mapping[str, str]) -> str:
    """Return whose the memory is meant to be; anything but user and session is the project's."""
    wanted = attrs.get("scope", "")
    return wanted if wanted in PERSONAL else "space"


def think(type_: str, content: str, attrs: Mapping[str, str]) -> Thought:
    """Clean and redact what the agent, or a person, wrote. Attributes can hold secrets too."""
    from hooks.context.redact import redact

    original = clean(content).strip()
    text, kinds = redact(original)
    kept: dict[str, str] = {}
    for name, value in attrs.items():
        kept[clean(name)], more = redact(clean(value))
        kinds += tuple(kind for kind in more if kind not in kinds)
    return Thought(type_, text, scope_of(kept), kept, kinds, original)


def key_of(
    thought: Thought,
    *,
    session: str,
    task: str,
    space: Namespace,
    at: datetime | None,
    cutover: datetime,
) -> str:
    """Return the marker key. A marker from before the cutover, or of no time, is legacy for ever.

    The legacy key is made over the text exactly as the older code hashed it: its first
    characters, before redaction, whatever its scope.
    """
    if at is None or at < cutover:
        return legacy_marker_key(session, thought.type, thought.original[:LEGACY_CHARS])
    content = thought.content
    if thought.scope in PERSONAL:
        content = f"{thought.scope}\n{content}"
    return marker_key(space, session, thought.type, task, content)
