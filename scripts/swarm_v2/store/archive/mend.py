"""Save again what is missing of a session: from the agent's own files, where they still have it.

A damaged file is left as it is; once the person has moved it away it is missing. Only bytes
that hash to the missing name are put back. The caller holds the session's lock.
"""

from __future__ import annotations

import os
import zlib

from hooks import atomic
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.store.archive import chunks, source
from scripts.swarm_v2.store.archive.save import load
from scripts.swarm_v2.store.archive.split import Segment, Splitter, pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from scripts.swarm_v2.store.archive.manifest import Manifest, Stored, Transcript
    from scripts.swarm_v2.store.archive.save import Place, Source


def mend(place: Place, session: str, sources: Iterable[Source]) -> int:
    """Put missing chunks and tails back; return how many files that were.

    Raises:
        ArchiveError: the session's manifest is damaged.
        OSError: a transcript could not be read, or the disk is full.
    """
    whole = load(place, session)
    mended = 0
    for one in sources:
        known = [saved for saved in whole.transcripts if saved.name == one.name]
        lacking = [saved for saved in known if _lacks(place, whole, saved)]
        fd = source.open_file(one.path) if lacking else -1
        if fd < 0:
            continue
        try:
            mended += sum(_mend(place, whole, saved, fd) for saved in lacking)
        finally:
            os.close(fd)
    return mended


def _lacks(place: Place, whole: Manifest, saved: Transcript) -> bool:
    if saved.tail and not os.path.lexists(place.tail(whole.session, saved.tail)):
        return True
    return any(_missing(place, segment) for segment in saved.segments)


def _missing(place: Place, segment: Stored) -> list[str]:
    named = [segment.body, segment.own[1:] if segment.own[:1] == "@" else ""]
    return [
        name for name in named if name and not os.path.lexists(os.path.join(place.chunks, name))
    ]


def _mend(place: Place, whole: Manifest, saved: Transcript, fd: int) -> int:
    at = before = mended = 0
    for segment in saved.segments:
        missing = _missing(place, segment)
        if missing:
            mended += _put_back(place, source.read(fd, at, segment.size), segment, missing, before)
        at, before = at + segment.size, before + segment.body_size
    path = place.tail(whole.session, saved.tail)
    if saved.tail and not os.path.lexists(path):
        rest = source.read(fd, at, saved.tail_size)
        if short_digest(rest) == saved.tail:
            atomic.write(path, chunks.encode(rest))
            mended += 1
    return mended


def _put_back(place: Place, raw: bytes, wanted: Stored, missing: list[str], before: int) -> int:
    if len(raw) != wanted.size or zlib.crc32(raw) != wanted.crc:
        return 0
    segment = _split(raw, before)
    parts = {chunks.digest_of(part): part for part in (segment.body, segment.own)}
    found = [parts[name] for name in missing if name in parts]
    for part in found:
        chunks.put(place.chunks, part)
    return len(found)


def _split(raw: bytes, before: int) -> Segment:
    """Cut as the save did: from the same place, the first end is the segment's."""
    splitter = Splitter(before)
    for piece in pieces([raw]):
        segment = splitter.feed(piece)
        if segment is not None:
            return segment
    return splitter.flush()
