"""How documents lie in Redis: names of keys, heads, revisions, the entries of the feed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.document import MISSING, decode
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.prepared import DEAD, KINDS, OPS, merge_into
from scripts.swarm_v2.memory.redis_link import damaged
from scripts.swarm_v2.memory.store import Change, Document, Revision
from scripts.swarm_v2.scope_key import DirtyKey, is_scope_key
from scripts.swarm_v2.wire_json import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BASES = ("r", "s", "e", "-")


class Names:
    """The keys of one space. All have its hash tag, so they lie on one slot of a cluster."""

    def __init__(self, prefix: str, space: str) -> None:
        # A brace would end the tag, or begin another.
        tag = space.replace("%", "%25").replace("{", "%7B").replace("}", "%7D")
        self._start = f"{prefix}:memory:{{{tag}}}:"

    def of(self, name: str) -> str:
        return self._start + name

    def revisions(self, field: str) -> str:
        return f"{self._start}revisions:{field}"

    def live(self, branch: str, scope_key: str) -> str:
        return f"{self._start}live:{dumps([branch, scope_key])}"

    def instances(self, scope_key: str) -> str:
        """Return the key of the fields that one session's instances have, on any branch."""
        return f"{self._start}instances:{scope_key}"

    def request(self, request: str) -> str:
        return f"{self._start}request:{request}"


def field_of(branch: str, scope_key: str, document_id: str) -> str:
    return dumps([branch, scope_key, document_id])


def basis_field(branch: str, action: str, scope_key: str) -> str:
    return dumps([branch, action, scope_key])


def parse_field(field: str) -> tuple[str, str, str]:
    """Return branch, scope key and id.

    Raises:
        MemoryRefused: ``store-damaged``.
    """
    match _loads(field):
        case [str(branch), str(scope_key), str(document_id)] if is_scope_key(scope_key):
            return branch, scope_key, document_id
    raise damaged("the name of an instance")


def _loads(text: bytes | str) -> object:
    try:
        return loads(text)
    except ValueError:
        raise damaged("it is no JSON") from None


class Head(NamedTuple):
    """Where an instance stands, as ``commit.lua`` writes it."""

    seq: int
    op: str
    base: str
    patches: int
    base_bytes: int
    patch_bytes: int

    def __str__(self) -> str:
        return " ".join(map(str, self))

    @property
    def alive(self) -> bool:
        return self.op not in DEAD


def parse_head(data: bytes) -> Head:
    """Read a head.

    Raises:
        MemoryRefused: ``store-damaged``.
    """
    try:
        seq, op, base, *numbers = data.decode("ascii").split(" ")
        head = Head(int(seq), op, base, *map(int, numbers))
    except (ValueError, TypeError):
        raise damaged("a head that no commit wrote") from None
    if head.op not in OPS or head.base not in _BASES or min(head[3:]) < 0 or head.seq < 1:
        raise damaged("a head that no commit wrote")
    if head.alive == (head.base == "-"):
        raise damaged("a head that no commit wrote")
    return head


class State(NamedTuple):
    """One instance as ``read.lua`` returns it, read: its head, and its value where it lives."""

    head: Head | None
    value: object = MISSING


def parse_state(answer: Sequence[bytes | None]) -> State:
    """Put an instance together from head, snapshot and revisions.

    Raises:
        MemoryRefused: ``store-damaged``.
    """
    if answer[0] is None:
        return State(None)
    head, entries = parse_head(answer[0]), [_entry(data) for data in answer[2:] if data is not None]
    if not head.alive:
        return State(head)
    if len(entries) != head.patches + (head.base == "r"):
        raise damaged("revisions are missing")
    value: object = MISSING
    if head.base == "s":
        value = _value(answer[1] or b"")
    elif head.base == "r":
        value = _value(entries.pop(0)[2])
    for _, patch, text in entries:
        if patch[0] != "patch":
            raise damaged("a whole value stands among patches")
        value = merge_into(value, _value(text))
    return State(head, value)


def _value(text: bytes) -> object:
    try:
        return decode(text.decode("ascii"))
    except UnicodeDecodeError:
        raise damaged("a value is no JSON") from None


def header(op: str, kind: str, at: str, session_key: str) -> str:
    """Return what stands in a revision between its number and its value."""
    return dumps([op, kind, at, session_key])


def entry(seq: int, head: str, text: str) -> str:
    return f"{seq} {head}\n{text}"


def _entry(data: bytes) -> tuple[int, list[str], bytes]:
    start, _, text = data.partition(b"\n")
    number, _, head = start.partition(b" ")
    match _loads(head):
        case [str(op), str(kind), str(at), str(session)] if op in OPS and kind in KINDS:
            if number.isdigit():
                return int(number), [op, kind, at, session], text
    raise damaged("a revision that no commit wrote")


def raw_entry(data: bytes) -> tuple[int, str, str]:
    """Return number, header and text of a revision, to write it anew."""
    seq, said, text = _entry(data)
    return seq, dumps(said), text.decode("ascii", "replace")


def parse_revision(data: bytes) -> Revision:
    seq, (op, kind, at, session_key), text = _entry(data)
    value = None if op in DEAD else _value(text)
    return Revision(seq, op, value, kind, at, session_key)  # type: ignore[arg-type]  # checked


def document(space: str, key: DirtyKey, state: State) -> Document | None:
    head = state.head
    if head is None:
        return None
    value = state.value if head.alive else None
    return Document(space, key.scope_key, key.id, head.seq, value, not head.alive, head.op)  # type: ignore[arg-type]


def parse_change(entry_id: bytes, fields: dict[bytes, bytes], branch: str) -> Change:
    """Read an entry of the feed; only instances of ``branch`` are told.

    Raises:
        MemoryRefused: ``store-damaged``.
    """
    try:
        said = {name.decode(): data.decode() for name, data in fields.items()}
        seq = int(entry_id.partition(b"-")[0])
        kind, touched = said["class"], _loads(said["touched"])
        who = (said["session"], said["holder"])
    except (ValueError, KeyError):
        raise damaged("a commit that nobody made") from None
    if kind not in KINDS or not isinstance(touched, list):
        raise damaged("a commit that nobody made")
    places = [parse_field(dumps(one)) for one in touched]
    once = dict.fromkeys(DirtyKey(key, name) for there, key, name in places if there == branch)
    return Change(seq, kind, tuple(once), *who)  # type: ignore[arg-type]  # checked


def mark_of(fields: Mapping[bytes, bytes]) -> str:
    """Return what only this entry of the feed says: its request, in an old one its instant."""
    return (fields.get(b"request") or fields.get(b"at") or b"").decode("utf-8", "replace") or "-"


def refuse_again() -> MemoryRefused:
    return MemoryRefused("store-busy", "the documents moved each time they were read", "try again")
