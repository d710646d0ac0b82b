"""What an author may send: writes and reads by scope *name*, with no field for whose they are."""

from __future__ import annotations

from scripts.swarm_v2.memory.document import (
    MAX_INDEX_NODES,
    MAX_INTEGER,
    MAX_NODES,
    SCOPES,
    check_id,
    count_nodes,
)
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import INDEX
from scripts.swarm_v2.memory.reserved import check_authored as check_authored
from scripts.swarm_v2.scope_key import SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from scripts.swarm_v2.memory.store import Op
    from scripts.swarm_v2.scope_key import Scope
else:
    from hooks.record import NamedTuple

MAX_WRITES = 1000  # of one commit
MAX_READS = 10_000
OPS: tuple[Op, ...] = ("set", "patch", "delete", "erase")
VALUED = ("set", "patch")
_IDENTITY = frozenset(
    name + part
    for name in ("scope", "principal", "user", "actor", "identity", "session")
    for part in ("", "_key", "Key", "_id", "Id")
    if name + part != "scope"
)


class Asked(NamedTuple):
    """A write as its author asks for it: the scope by name, ``base`` of the author's instance."""

    id: str
    scope: Scope
    op: Op
    value: object = None
    base: int | None = None


class AskedRead(NamedTuple):
    """What a proposal relies on: the author's own instance as it was at ``seq``."""

    id: str
    scope: Scope
    seq: int


class Proposal(NamedTuple):
    writes: tuple[Asked, ...]
    reads: tuple[AskedRead, ...] = ()


def parse_proposal(document: object) -> Proposal:
    """Read ``{"writes": [{id, scope, op, value, base}], "reads": [{id, scope, seq}]}``.

    ``scope`` is ``space`` and ``op`` is ``set`` where they are left out.

    An ``erase`` may have a patch as its value: then only what the patch removes is erased.

    Raises:
        MemoryRefused: ``identity-in-commit``, ``field-unknown``, ``request-invalid``,
            ``scope-unknown``, ``id-invalid``. Values are looked at by the door.
    """
    fields = _fields(document, ("writes", "reads"))
    writes = _items(fields.get("writes", []), "writes", MAX_WRITES)
    _check_nodes(writes)
    reads = _items(fields.get("reads", []), "reads", MAX_READS)
    return Proposal(tuple(map(_asked, writes)), tuple(map(_asked_read, reads)))


def _fields(item: object, known: tuple[str, ...]) -> dict[object, object]:
    if not isinstance(item, dict):
        raise MemoryRefused("request-invalid", "a commit, and each part of it, is a JSON object")
    for name in item:
        if name in _IDENTITY:
            sentence = f"a commit cannot say whose instance it is ({name})"
            hint = "name the scope; whose it is follows from the session"
            raise MemoryRefused("identity-in-commit", sentence, hint)
    for name in item:
        if name not in known:
            sentence = f"there is no field {ascii(name)[:60]}; there are {', '.join(known)}"
            raise MemoryRefused("field-unknown", sentence)
    return item


def _items(value: object, name: str, most: int) -> list[object]:
    if not isinstance(value, list) or len(value) > most:
        raise MemoryRefused("request-invalid", f"{name} is a list of at most {most}")
    return value


def _check_nodes(writes: list[object]) -> None:
    """Refuse what would take long to look at, by its mere size, before it is looked at."""
    left = MAX_INDEX_NODES
    for item in writes:
        value = item.get("value") if isinstance(item, dict) else None
        most = MAX_INDEX_NODES if isinstance(item, dict) and item.get("id") == INDEX else MAX_NODES
        nodes = count_nodes(value, most)
        left -= nodes
        if nodes > most or left < 0:
            sentence = (
                f"at most {MAX_NODES} values are in a document, {MAX_INDEX_NODES} in a commit"
            )
            hint = "split it into several documents and commits"
            raise MemoryRefused("document-too-large", sentence, hint)


def _asked(item: object) -> Asked:
    fields = _fields(item, ("id", "scope", "op", "value", "base"))
    op, base = check_op(fields.get("op", "set")), fields.get("base")
    if not _value_fits(op, fields):
        sentence = "set and patch have a value, delete has none; that of an erase is an object"
        raise MemoryRefused("request-invalid", sentence)
    number = None if base is None else check_number(base, "base")
    scope = check_scope(fields.get("scope", SPACE))
    return Asked(check_id(fields.get("id")), scope, op, fields.get("value"), number)


def _value_fits(op: object, fields: dict[object, object]) -> bool:
    if op == "erase":  # its value, where it has one, is the patch whose nulls say what goes
        return isinstance(fields.get("value", {}), dict)
    return (op in VALUED) == ("value" in fields)


def _asked_read(item: object) -> AskedRead:
    fields = _fields(item, ("id", "scope", "seq"))
    scope = check_scope(fields.get("scope", SPACE))
    return AskedRead(check_id(fields.get("id")), scope, check_number(fields.get("seq"), "seq"))


def check_op(op: object) -> Op:
    """Return the operation; raise ``request-invalid`` for what is none."""
    for known in OPS:
        if op == known and isinstance(op, str):
            return known
    raise MemoryRefused("request-invalid", f"op is one of {', '.join(OPS)}")


def check_scope(scope: object) -> Scope:
    """Return the scope; raise ``scope-unknown`` for what is none."""
    for known in SCOPES:
        if scope == known and isinstance(scope, str):
            return known
    sentence = f"there is no scope {ascii(scope)[:60]}; there are {', '.join(SCOPES)}"
    raise MemoryRefused("scope-unknown", sentence)


def check_number(value: object, name: str) -> int:
    """Return a sequence number; raise ``request-invalid`` for what is none."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INTEGER:
        raise MemoryRefused("request-invalid", f"{name} is a sequence number")
    return value
