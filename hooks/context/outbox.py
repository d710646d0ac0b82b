"""One file per marker that no brain has acknowledged yet: readable by hand, named by time and key.

``{type, content, attrs, idempotency_key, session_id, agent_name, project, ts}`` are never
renamed, other programs drain them; a file of an older installation lacks the key. Ours add
``redacted``, ``principal`` (whose it is, where it is personal), ``prompt_id`` (a marker that no
transcript showed yet) and ``sighting``.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.clock import compact, parse_iso
from hooks.context.outbox_document import checked
from hooks.errors import OutboxError
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hooks.context.brains import Item

    Document = dict[str, object]

MAX_BYTES = 16 << 20  # a marker is part of a line of at most 2 MiB; escaped it can grow sixfold
_ENDING = ".json"
REASON = ".reason.txt"  # behind the name of a quarantined file: why it is there
_KEY_LENGTH = 32
_LONGEST_NAME = 180  # bytes; with what is put behind it, it stays below every filesystem's 255
_HEX = frozenset("0123456789abcdef")
_NO_TIME = "0" * 8 + "T" + "0" * 12


def folder(home: str) -> str:
    return os.path.join(home, "brain-outbox")


def quarantine_folder(home: str) -> str:
    return os.path.join(folder(home), "quarantine")


def backlog_folder(home: str) -> str:
    """Where an older version put what it could not deliver for long; nothing new comes there."""
    return os.path.join(home, "brain-outbox-backlog")


def names(home: str) -> list[str]:
    """Return the waiting files' names, the earliest marker first."""
    return names_in(folder(home))


def backlog_names(home: str) -> list[str]:
    """Return the backlog's names, the earliest marker first; they go before the others."""
    return names_in(backlog_folder(home))


def names_in(place: str) -> list[str]:
    try:
        found = os.listdir(place)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in found if name.endswith(_ENDING) and name[0] != ".")


def is_empty(home: str) -> bool:
    return not names(home) and not backlog_names(home)


def name_of(document: Mapping[str, object]) -> str:
    """Return the file name: the marker's own time, so that a repeated Stop names it the same."""
    at = parse_iso(document.get("ts"))
    when = _NO_TIME if at is None else compact(at)
    return f"{when}-{document['idempotency_key']}{_ENDING}"


def encode(document: Mapping[str, object]) -> bytes:
    return dumps(document).encode("ascii") + b"\n"


def parse(data: bytes | str | None) -> Document | None:
    """Return a document that can be kept and posted, or None. See ``checked``."""
    found = load_object(data)
    try:
        return None if found is None else checked(found)
    except ValueError:
        return None


def write(home: str, document: Mapping[str, object]) -> bool:
    """Make the document durable unless its key has a file; say whether we did."""
    if files_of(home, str(document["idempotency_key"])):
        return False
    return write_new(home, document)


def write_new(home: str, document: Mapping[str, object], *, durable: bool = True) -> bool:
    """As ``write``, by one who knows that no other name has the key."""
    path = os.path.join(folder(home), name_of(document))
    return atomic.link_new(path, encode(document), durable=durable)


def is_torn(home: str, name: str) -> bool:
    """Say whether the file is what a power cut leaves of one: empty, or all zeros, or cut."""
    try:
        data = atomic.read(os.path.join(folder(home), name), MAX_BYTES)
    except OSError:
        return False
    return data is not None and load_object(data) is None


def write_again(home: str, name: str, document: Mapping[str, object]) -> None:
    """Replace a file that a power cut tore by what its receipt holds."""
    atomic.write(os.path.join(folder(home), name), encode(document))


def key_in(name: str) -> str:
    """Return the key that a file name ends in; "" for a name that another program gave."""
    key = name.rpartition("-")[2].removesuffix(_ENDING)
    return key if len(key) == _KEY_LENGTH and _HEX.issuperset(key) else ""


def time_in(place: str, name: str) -> str:
    """Return what orders a waiting file: the marker's time, as our own file names begin.

    The name of another program's, or of an older version's, file may say anything.
    """
    first = name.partition("-")[0]
    if key_in(name):
        return first
    try:
        document = parse(atomic.read(os.path.join(place, name), MAX_BYTES)) or {}
    except OSError:
        return first
    at = parse_iso(document.get("ts"))
    return first if at is None else compact(at)


def files_of(home: str, key: str) -> list[str]:
    ending = f"-{key}{_ENDING}"
    return [name for name in names(home) if name.endswith(ending)]


def read(home: str, name: str) -> Document:
    """Read one waiting document.

    Raises:
        OutboxError: it cannot be read or is not one; it will never be.
        FileNotFoundError: somebody else (another program, a person's forget) took it.
    """
    return _read_in(folder(home), name)


def _read_in(place: str, name: str) -> Document:
    path = os.path.join(place, name)
    try:
        data = atomic.read(path, MAX_BYTES)
    except OSError as err:
        raise OutboxError(path, err.strerror or "unreadable") from None
    if data is None:
        if not os.path.lexists(path):
            raise FileNotFoundError(path)
        raise OutboxError(path, f"no regular file of at most {MAX_BYTES} bytes")
    found = load_object(data)
    if found is None:
        raise OutboxError(path, "not a marker in JSON")
    try:
        return checked(found)
    except ValueError as err:
        raise OutboxError(path, f"not a marker: {err}") from None


def exists(home: str, name: str) -> bool:
    return os.path.lexists(os.path.join(folder(home), name))


def size(home: str, name: str) -> int:
    try:
        return os.lstat(os.path.join(folder(home), name)).st_size
    except OSError:
        return 0


def remove(home: str, name: str) -> None:
    try:
        os.unlink(os.path.join(folder(home), name))
    except FileNotFoundError:
        return


def remove_key(home: str, key: str) -> int:
    """Erase every file of ``key``, quarantined ones too; return how many there were."""
    count = 0
    for place in (folder(home), quarantine_folder(home)):
        try:
            found = os.listdir(place)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name in found:
            if f"-{key}{_ENDING}" in name:  # the file, its reason, and what a killed writer left
                os.unlink(os.path.join(place, name))
                count += name.endswith(_ENDING)
    return count


def quarantine(home: str, name: str, reason: str) -> None:
    """Move a file out of the way of those behind it, with the reason beside it. Nothing is lost.

    Whatever it is moves: a folder, a pipe, a file that another one in quarantine is named like.
    """
    place, source = quarantine_folder(home), os.path.join(folder(home), name)
    kept = free_name(place, name, source)
    atomic.write(os.path.join(place, kept + REASON), reason.encode("utf-8", "replace"))
    try:
        atomic.move(source, os.path.join(place, kept))
    except FileNotFoundError:
        return
    atomic.sync_folder(place)


def free_name(place: str, name: str, source: str) -> str:
    """Return a name for ``source`` in ``place``: its own, or one that is free and short enough.

    The key stays at its end, by which a person's forget finds it.
    """
    own = os.urandom(4).hex()
    if len(os.fsencode(name)) > _LONGEST_NAME:  # what stands beside it has a longer name yet
        head, tail = os.fsencode(name)[:64].decode("ascii", "replace"), key_in(name) or own
        return f"{head}.{own}-{tail}{_ENDING}"
    path = os.path.join(place, name)
    if not os.path.lexists(path) or _same(path, source):
        return name
    head, _, tail = name.rpartition("-")
    return f"{head or _NO_TIME}.{own}-{tail}"


def _same(path: str, other: str) -> bool:
    try:
        data = atomic.read(path, MAX_BYTES)
        return data is not None and data == atomic.read(other, MAX_BYTES)
    except OSError:
        return False


def take_in(home: str, name: str) -> str:
    """Move one backlog file to those that wait; return its name there."""
    source = os.path.join(backlog_folder(home), name)
    atomic.make_folder(folder(home))
    kept = free_name(folder(home), name, source)
    atomic.move(source, os.path.join(folder(home), kept))
    atomic.sync_folder(folder(home))
    return kept


def body(document: Mapping[str, object]) -> Document:
    """Return what a brain is sent."""
    names = ("type", "content", "attrs", "principal")
    return {name: document[name] for name in names if name in document}


def newest(home: str, limit: int) -> list[Document]:
    """Return at most ``limit`` waiting documents, the newest first; damaged ones are left out.

    The backlog's come last: they go first.
    """
    found: list[Document] = []
    for place in (folder(home), backlog_folder(home)):
        for name in reversed(names_in(place)):
            if len(found) == limit:
                return found
            try:
                found.append(_read_in(place, name))
            except (OutboxError, FileNotFoundError):  # the drainer deals with them
                continue
    return found


def as_item(document: Mapping[str, object], principal: str) -> Item | None:
    """Return a waiting document as its reader would see it later; None without a recorded key.

    It is its own principal's, as recorded; ``principal``'s where it records none.
    """
    from hooks.context.brains import Item, signer
    from scripts.swarm_v2.scope_key import Identity, ScopeKeyError, resolve_scope_key

    key, attrs = document.get("idempotency_key"), document["attrs"]
    if not isinstance(key, str) or not key or not isinstance(attrs, dict):
        return None
    session = attrs.get("session_id", "")
    scope = attrs.get("scope", "")
    try:
        scope_key = resolve_scope_key(
            scope if scope in ("user", "session") else "space",
            Identity(signer(document, principal), session),
        )
    except ScopeKeyError:
        return None
    return Item(
        id=key,
        type=str(document["type"]),
        text=str(document["content"]),
        cls="person" if attrs.get("class") == "person" else "agent",
        severity=attrs.get("severity", ""),
        title=attrs.get("title", ""),
        at=attrs.get("ts", ""),
        project="" if attrs.get("share") == "fleet" else attrs.get("project_id", ""),
        scope_key=scope_key,
        session=session,
        message_id=attrs.get("message_id", ""),
        path=attrs.get("path", ""),
        supersedes=attrs.get("supersedes", ""),
        state="waiting",
    )
