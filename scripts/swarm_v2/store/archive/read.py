"""Give transcripts back byte for byte, list what there is, and prove that it is undamaged."""

from __future__ import annotations

import base64
import binascii
import os
import zlib

from hooks import atomic
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.store.archive import chunks, manifest
from scripts.swarm_v2.store.archive.chunks import MAX_CONTENT, ChunkError
from scripts.swarm_v2.store.archive.save import ArchiveError, load
from scripts.swarm_v2.store.archive.split import SplitError, join

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import NamedTuple

    from scripts.swarm_v2.store.archive.manifest import Manifest, Stored, Transcript
    from scripts.swarm_v2.store.archive.save import Place
else:
    from hooks.record import NamedTuple

ENDING = ".json"


class Damage(NamedTuple):
    """A file that is not what its name says, and whom it concerns."""

    path: str
    what: str
    session: str = ""


class Report(NamedTuple):
    """What ``verify`` read. ``unused`` chunks belong to no session: a killed save leaves them."""

    sessions: int
    chunks: int
    raw_bytes: int
    unused: int
    damage: tuple[Damage, ...]


def manifests(place: Place) -> tuple[list[Manifest], list[Damage]]:
    """Return every session's manifest, and those files that cannot be believed."""
    found, damage = [], []
    for name in _names(place.folder):
        if not name.endswith(ENDING):
            continue
        path = os.path.join(place.folder, name)
        one = manifest.parse(atomic.read(path, manifest.MAX_BYTES), place.space)
        if one is None or name != manifest.name_of(place.space, one.session):
            damage.append(Damage(path, "this manifest is damaged, or another installation's"))
        else:
            found.append(one)
    return found, damage


def export(place: Place, whole: Manifest, wanted: Transcript) -> Iterator[bytes]:
    """Yield the transcript's bytes, each block proven; see ``fresh`` for a session that lives.

    Raises:
        ChunkError: a part of it is missing or damaged; what was yielded before is right.
        OSError: a part of it cannot be read.
    """
    tail = _tail(place, whole.session, wanted)
    for segment in wanted.segments:
        yield _segment(place, segment)
    if tail:
        yield tail


def fresh(place: Place, session: str, name: str, part: int) -> Iterator[bytes]:
    """Yield a transcript's bytes by the manifest of now: a Stop may replace the tail meanwhile.

    Raises:
        ChunkError, ArchiveError, OSError: as ``export`` and ``load``.
    """
    whole, wanted, _ = _now(place, session, name, part)
    yield from export(place, whole, wanted)


def _now(place: Place, session: str, name: str, part: int) -> tuple[Manifest, Transcript, bytes]:
    """Return the session, the transcript and its tail as they are now; asked thrice at most."""
    for left in (2, 1, 0):
        whole = load(place, session)
        wanted = next(t for t in whole.transcripts if (t.name, t.part) == (name, part))
        try:
            return whole, wanted, _tail(place, session, wanted)
        except ChunkError:
            if not left:
                raise
    raise AssertionError("the last try returned or raised")


def _tail(place: Place, session: str, wanted: Transcript) -> bytes:
    if not wanted.tail:
        return b""
    path = place.tail(session, wanted.tail)
    data = chunks.get(path, wanted.tail)
    if len(data) != wanted.tail_size or short_digest(data) != wanted.tail:
        raise ChunkError(path, "it is damaged")
    return data


def _segment(place: Place, segment: Stored) -> bytes:
    body = _chunk(place, segment.body) if segment.body else b""
    own = _chunk(place, segment.own[1:]) if segment.own[:1] == "@" else _unpacked(segment.own)
    where = os.path.join(place.chunks, segment.body)
    try:
        raw = join(body, own)
    except SplitError as err:
        raise ChunkError(where, str(err)) from None
    if len(raw) != segment.size or zlib.crc32(raw) != segment.crc:
        raise ChunkError(where, "its parts do not make what was saved")
    return raw


def _chunk(place: Place, digest: str) -> bytes:
    return chunks.get(os.path.join(place.chunks, digest), digest)


def _unpacked(own: str) -> bytes:
    try:
        unpack = zlib.decompressobj()
        return unpack.decompress(base64.b64decode(own, validate=True), MAX_CONTENT)
    except (binascii.Error, zlib.error) as err:
        raise SplitError(str(err)) from None


def chunk_names(one: Transcript) -> Iterator[str]:
    """Yield the name of every chunk file that a transcript is made of."""
    for segment in one.segments:
        if segment.body:
            yield segment.body
        if segment.own[:1] == "@":
            yield segment.own[1:]


def sizes(place: Place) -> dict[str, int]:
    """Return the size on disk of every chunk and tail by its name."""
    found = {}
    for folder in (place.chunks, place.tails):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    found[entry.name] = entry.stat().st_size
        except FileNotFoundError:
            continue
    return found


def stored_size(place: Place, whole: Manifest, known: dict[str, int]) -> int:
    """Return what a session takes on disk, with chunks that it shares counted in full."""
    names = {name for one in whole.transcripts for name in chunk_names(one)}
    names |= {f"{place.stem(whole.session)}-{one.tail}" for one in whole.transcripts if one.tail}
    return sum(known.get(name, 0) for name in names)


def verify(place: Place, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Read and hash everything that is saved; nothing is changed, whatever it finds."""
    found, damage = manifests(place)
    used: set[str] = set()
    raw_bytes = 0
    for whole in found:
        progress(whole.session)
        for one in whole.transcripts:
            used.update(chunk_names(one))
            for block in _proven(place, whole, one, damage):
                raw_bytes += len(block)
    every = {name for name in _names(place.chunks) if not name.endswith(".tmp")}
    for name in sorted(every - used):
        try:
            _chunk(place, name)
        except ChunkError as err:
            damage.append(_damage(err, ""))
        except OSError as err:
            damage.append(Damage(os.path.join(place.chunks, name), err.strerror or "unreadable"))
    once = tuple(dict.fromkeys(damage))
    return Report(len(found), len(every), raw_bytes, len(every - used), once)


def _proven(
    place: Place, whole: Manifest, one: Transcript, damage: list[Damage]
) -> Iterator[bytes]:
    """Yield the blocks that are right, and note those that are not: one must not hide others."""
    for segment in one.segments:
        try:
            yield _segment(place, segment)
        except (ChunkError, SplitError) as err:
            damage.append(_damage(err, whole.session))
    try:
        yield _now(place, whole.session, one.name, one.part)[2] if one.tail else b""
    except (ChunkError, ArchiveError) as err:
        damage.append(_damage(err, whole.session))


def _damage(err: ValueError, session: str) -> Damage:
    return Damage(getattr(err, "path", ""), getattr(err, "what", str(err)), session)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
