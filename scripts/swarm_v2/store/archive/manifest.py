"""A session's manifest: which transcripts it has, and which segments make up each. Pure.

It is stamped for its installation, whatever the brain, and carries the digest of itself.
"""

from __future__ import annotations

from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.keyspace import NO_BRAIN, Namespace, admits, is_hex, key, stamp
from scripts.swarm_v2.wire_json import canonical, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NamedTuple
else:
    from hooks.record import NamedTuple

KIND = "archive"
VERSION = 1
MAX_BYTES = 64 << 20


class Stored(NamedTuple):
    """One segment as the manifest knows it. ``own`` is ``@<digest>`` or base64 of it, packed."""

    size: int  # raw bytes
    crc: int
    body: str  # digest, "" for an empty one
    body_size: int
    own: str


class Transcript(NamedTuple):
    """One file of a session. ``part`` counts the times it was replaced by another content."""

    name: str
    part: int = 0
    size: int = 0  # raw bytes saved
    at: str = ""  # the first time on its lines, as written
    cwd: str = ""  # the first folder on its lines
    head: str = ""  # digest of its first bytes, see source.head
    seen: str = ""  # the file's signature when it was last saved whole
    tail: str = ""  # digest of what lies in the tail file, "" without one
    tail_size: int = 0
    segments: tuple[Stored, ...] = ()

    @property
    def settled(self) -> int:
        """Return how many raw bytes the segments hold; the tail begins there."""
        return self.size - self.tail_size


class Manifest(NamedTuple):
    session: str
    saved_at: str = ""
    closed: bool = False
    transcripts: tuple[Transcript, ...] = ()

    def current(self, name: str) -> Transcript | None:
        """Return the newest part of the transcript ``name``."""
        found = [one for one in self.transcripts if one.name == name]
        return max(found, key=_part, default=None)

    def with_transcript(self, new: Transcript) -> Manifest:
        kept = [one for one in self.transcripts if (one.name, one.part) != (new.name, new.part)]
        return self._replace(transcripts=tuple(sorted([*kept, new], key=_place)))


def _part(transcript: Transcript) -> int:
    return transcript.part


def _place(transcript: Transcript) -> tuple[int, str, int]:
    return transcript.name.count("/"), transcript.name, transcript.part  # the session's own first


def namespace(installation: str) -> Namespace:
    """Return what an archive is stamped for: the installation; no brain has a say in it."""
    return Namespace(installation, NO_BRAIN)


def name_of(space: Namespace, session: str) -> str:
    return key(space, KIND, session) + ".json"


def encode(manifest: Manifest, space: Namespace) -> bytes:
    transcripts = [
        {**one._asdict(), "segments": [list(segment) for segment in one.segments]}
        for one in manifest.transcripts
    ]
    body = {**manifest._asdict(), "v": VERSION, "transcripts": transcripts}
    document = stamp(space, KIND, body)
    return canonical({**document, "sum": short_digest(canonical(document))}) + b"\n"


def parse(data: bytes | None, space: Namespace) -> Manifest | None:
    """Read a manifest; None for damage of any kind, a foreign stamp or a version not known."""
    found = load_object(data)
    if found is None or found.get("v") != VERSION:
        return None
    said = found.pop("sum", None)
    if said != short_digest(canonical(found)) or not admits(found, space, KIND):
        return None
    try:
        return _manifest(found)
    except (KeyError, TypeError, ValueError):
        return None


def _manifest(found: Mapping[str, Any]) -> Manifest:
    transcripts = tuple(_transcript(one) for one in found["transcripts"])
    session, saved_at = _texts(found["session"], found["saved_at"])
    return Manifest(session, saved_at, found["closed"] is True, transcripts)


def _transcript(found: Mapping[str, Any]) -> Transcript:
    texts = ("name", "at", "cwd", "head", "seen", "tail")
    _texts(*(found[name] for name in texts))
    segments = tuple(_stored(row) for row in found["segments"])
    made = Transcript(**{**{n: found[n] for n in Transcript._fields}, "segments": segments})
    sizes = sum(segment.size for segment in segments)
    if sizes != made.settled or min(made.size, made.tail_size, made.part) < 0:
        raise ValueError("sizes that do not add up")
    return made


def _stored(row: Any) -> Stored:
    stored = Stored(*row)
    _texts(stored.body, stored.own)
    if stored.body and not is_hex(stored.body, 64):
        raise ValueError("not a digest")
    return stored


def _texts(*values: object) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise TypeError("not a text")
    return tuple(str(value) for value in values)
