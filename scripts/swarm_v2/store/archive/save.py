"""Save what a session wrote: chunks, then the tail, then the manifest, then the old tail goes.

In that order a kill between any two steps leaves the manifest of before, or the new one, whole,
with all that it names. The caller holds the session's lock: of two that saved at once the later
manifest would win, and it may know less.
"""

from __future__ import annotations

import base64
import os
import zlib
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from hooks import atomic
from hooks.clock import iso
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.store.archive import chunks, manifest, source
from scripts.swarm_v2.store.archive.manifest import Manifest, Stored, Transcript
from scripts.swarm_v2.store.archive.split import Splitter, pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from datetime import datetime
    from typing import NamedTuple

    from scripts.swarm_v2.keyspace import Namespace
    from scripts.swarm_v2.store.archive.split import Segment
else:
    from hooks.record import NamedTuple

INLINE = 2048  # packed bytes of an own that stands in the manifest itself
THREADS = 2  # zlib and SHA-256 let go of the interpreter; more than two wait for the disk
_AHEAD = 2 * THREADS  # segments in memory


class ArchiveError(ValueError):
    """A session's manifest is damaged or foreign. It is left as it is."""

    def __init__(self, path: str, what: str) -> None:
        self.path, self.what = path, what
        super().__init__(f"{path}: {what}")


class Place(NamedTuple):
    """An archive: its folder, and the installation it is stamped for."""

    folder: str
    space: Namespace

    def manifest(self, session: str) -> str:
        return os.path.join(self.folder, manifest.name_of(self.space, session))

    @property
    def chunks(self) -> str:
        return os.path.join(self.folder, "chunks")

    @property
    def tails(self) -> str:
        return os.path.join(self.folder, "tails")

    def tail(self, session: str, digest: str) -> str:
        return os.path.join(self.tails, f"{self.stem(session)}-{digest}")

    def stem(self, session: str) -> str:
        return manifest.name_of(self.space, session).removesuffix(".json")


class Source(NamedTuple):
    """A transcript: the name it is saved under, and where it lies."""

    name: str
    path: str


def load(place: Place, session: str) -> Manifest:
    """Return the session's manifest, an empty one where it was never saved.

    Raises:
        ArchiveError: there is one that cannot be believed.
        OSError: it cannot be read.
    """
    path = place.manifest(session)
    data = atomic.read(path, manifest.MAX_BYTES)
    if data is None and not os.path.lexists(path):
        return Manifest(session)
    found = manifest.parse(data, place.space)
    if found is None or found.session != session:
        raise ArchiveError(path, "this manifest is damaged, or another installation's")
    return found


def save(
    place: Place, session: str, sources: Iterable[Source], at: datetime, *, close: bool = False
) -> int:
    """Save what the session's transcripts gained; return how many raw bytes that were.

    A transcript that is gone, or shorter than what was saved of it, changes nothing. One that
    no longer goes on from what was saved becomes another part; the earlier one stays.
    ``close`` ends the last segment: nothing more is expected, though it may come.

    Raises:
        ArchiveError, ChunkError: the archive is damaged there; nothing was changed.
        OSError: a transcript could not be read, or the disk is full.
    """
    before = load(place, session)
    after = before
    for one in sources:
        fd = source.open_file(one.path)
        if fd < 0:
            continue
        try:
            saved = _save_transcript(place, after, one.name, fd, close=close)
        finally:
            os.close(fd)
        after = after.with_transcript(saved) if saved is not None else after
    if after.transcripts:
        after = after._replace(closed=close)
    if after == before:
        return 0
    data = manifest.encode(after._replace(saved_at=iso(at)), place.space)
    atomic.write(place.manifest(session), data)
    drop_old_tails(place, after)
    return _raw(after) - _raw(before)


def _raw(found: Manifest) -> int:
    return sum(one.size for one in found.transcripts)


def _save_transcript(
    place: Place, known: Manifest, name: str, fd: int, *, close: bool
) -> Transcript | None:
    """Return the transcript as it is saved now; None where nothing is to be done."""
    seen = source.signature(fd)
    size = os.fstat(fd).st_size
    saved = known.current(name)
    if saved is not None:
        if saved.seen == seen and not (close and saved.tail):
            return None
        if not source.goes_on(fd, saved):
            if size <= saved.size and _is_beginning(place, known, saved, fd):
                return None
            saved = Transcript(name, saved.part + 1)
    saved = saved or Transcript(name)
    return _extend(place, known.session, saved, fd, size, close=close)._replace(seen=seen)


def _is_beginning(place: Place, known: Manifest, saved: Transcript, fd: int) -> bool:
    """Say whether the file is a beginning of what was saved: it was cut, nothing is new."""
    from scripts.swarm_v2.store.archive.read import export

    at = 0
    for block in export(place, known, saved):
        mine = source.read(fd, at, len(block))
        if mine != block[: len(mine)]:
            return False
        if len(mine) < len(block):
            return True
        at += len(block)
    return True


def _extend(
    place: Place, session: str, saved: Transcript, fd: int, size: int, *, close: bool
) -> Transcript:
    """Read on from the last segment to ``size``; what is written meanwhile is for next time."""
    start = saved.settled
    splitter = Splitter(sum(segment.body_size for segment in saved.segments))
    found = _segments(splitter, source.blocks(fd, start, size), close=close)
    added = _put_all(lambda segment: _put(place, segment), found)
    segments = (*saved.segments, *added)
    settled = sum(segment.size for segment in segments)
    rest = source.read(fd, settled, size - settled)
    tail = short_digest(rest) if rest else ""
    if tail and tail != saved.tail:
        atomic.write(place.tail(session, tail), chunks.encode(rest))
    described = (saved.at, saved.cwd) if saved.at and saved.cwd else source.described(fd)
    return saved._replace(
        size=settled + len(rest),
        at=described[0],
        cwd=described[1],
        head=source.head(source.read(fd, 0, min(source.HEAD, settled + len(rest)))),
        tail=tail,
        tail_size=len(rest),
        segments=segments,
    )


def _segments(splitter: Splitter, blocks: Iterable[bytes], *, close: bool) -> Iterator[Segment]:
    for piece in pieces(blocks):
        segment = splitter.feed(piece)
        if segment is not None:
            yield segment
    if close and not splitter.empty:
        yield splitter.flush()


def _put_all(put: Callable[[Segment], Stored], found: Iterator[Segment]) -> list[Stored]:
    """Store segments a few at once, in their order, never many in memory."""
    first = next(found, None)
    if first is None:
        return []
    stored: list[Stored] = []
    waiting: deque[Future[Stored]] = deque()
    with ThreadPoolExecutor(THREADS) as pool:
        waiting.append(pool.submit(put, first))
        for segment in found:
            waiting.append(pool.submit(put, segment))
            if len(waiting) > _AHEAD:
                stored.append(waiting.popleft().result())
        stored += [one.result() for one in waiting]
    return stored


def _put(place: Place, segment: Segment) -> Stored:
    body = chunks.put(place.chunks, segment.body) if segment.body else ""
    packed = zlib.compress(segment.own, 6)
    if len(packed) <= INLINE:
        own = base64.b64encode(packed).decode("ascii")
    else:
        own = "@" + chunks.put(place.chunks, segment.own)
    return Stored(segment.size, segment.crc, body, len(segment.body), own)


def drop_old_tails(place: Place, found: Manifest) -> None:
    """Remove the tails of this session that its manifest no longer names."""
    stem = place.stem(found.session)
    named = {f"{stem}-{one.tail}" for one in found.transcripts if one.tail}
    try:
        names = os.listdir(place.tails)
    except FileNotFoundError:
        return
    for name in names:
        if name.startswith(stem + "-") and name not in named:
            os.unlink(os.path.join(place.tails, name))
