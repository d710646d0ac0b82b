"""A commit, checked and encoded before anything is asked of a store: the last gate of its rows."""

from __future__ import annotations

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.document import check_id, check_space, decode, encode, is_link
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.store import ABSENT
from scripts.swarm_v2.scope_key import SESSION, is_scope_key, scope_of
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    from scripts.swarm_v2.memory.store import Basis, Commit, Op, Seen, Write
    from scripts.swarm_v2.scope_key import DirtyKey
else:
    from hooks.record import NamedTuple

OPS = ("set", "patch", "delete", "erase")
KINDS = ("authored", "derived", "system")
DEAD = ("delete", "erase")


class Put(NamedTuple):
    """One write with the canonical text of its value; "" where it has none."""

    id: str
    scope_key: str
    op: Op
    text: str = ""
    base: int | None = None


class Prepared(NamedTuple):
    puts: tuple[Put, ...]
    annotations: str | None


def prepare(space: str, commit: Commit) -> Prepared:
    """Check every key and value of a commit; nothing has been read from the store yet.

    Raises:
        MemoryRefused: ``scope-key-malformed``, ``space-invalid``, ``id-invalid``,
            ``request-invalid``, or what is wrong with a value.
    """
    check_space(space)
    if commit.kind not in KINDS:
        raise MemoryRefused("request-invalid", f"there is no class {commit.kind!r} of commits")
    check_keys(w.scope_key for w in commit.writes)
    if commit.session_key:
        check_session_key(commit.session_key)
    _check_seen(commit.reads)
    for basis in commit.basis:
        _check_basis(basis)
    puts = tuple(Put(check_id(w.id), w.scope_key, w.op, _text(w), w.base) for w in commit.writes)
    notes = commit.annotations
    return Prepared(puts, dumps(dict(notes), sort_keys=True) if notes else None)


def _text(write: Write) -> str:
    if write.op not in OPS:
        raise MemoryRefused("request-invalid", f"there is no operation {write.op!r}")
    if write.op in ("set", "patch"):
        return encode(write.value)
    if write.value is None:
        return ""
    if write.op == "erase" and isinstance(write.value, dict):
        return encode(write.value)
    raise MemoryRefused("request-invalid", f"{write.op} takes no value")


def check_keys(keys: Iterable[object]) -> None:
    """Refuse whatever is no canonical scope key.

    Raises:
        MemoryRefused: ``scope-key-malformed``.
    """
    for key in keys:
        if not is_scope_key(key):
            raise MemoryRefused("scope-key-malformed", f"{key!r} is no scope key")


def check_session_key(key: str) -> str:
    """Return the key of one session's instances.

    Raises:
        MemoryRefused: ``scope-key-malformed``.
    """
    check_keys((key,))
    if scope_of(key) != SESSION:
        raise MemoryRefused("scope-key-malformed", f"{key!r} is no session's key")
    return key


def _check_seen(seen: Iterable[Seen]) -> None:
    for one in seen:
        check_space(one.space)
        check_keys((one.scope_key,))
        check_id(one.id)


def _check_basis(basis: Basis) -> None:
    check_id(basis.action)
    check_keys((basis.scope_key, *basis.drop))
    _check_seen(basis.seen)


def merge_into(target: object, patch: object) -> object:
    """Apply a JSON merge patch as ``document.merge`` does, changing ``target`` where it can.

    For values that nobody else holds: thousands of patches of one large object.
    """
    if not isinstance(patch, dict) or is_link(patch):
        return patch
    merged = target if isinstance(target, dict) and not is_link(target) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            merged[name] = merge_into(merged.get(name), value)
        else:
            merged[name] = value
    return merged


def scrubbed(text: str, mask: object) -> str:
    """Return a stored value or patch without the members that ``mask`` removes (JSON null)."""
    if not any(dumps(name) in text for name in _removed(mask)):
        return text
    return dumps(_pruned(decode(text), mask), sort_keys=True)


def _removed(mask: object) -> Iterable[str]:
    if isinstance(mask, dict):
        for name, value in mask.items():
            if value is None:
                yield name
            yield from _removed(value)


def _pruned(value: object, mask: object) -> object:
    if not isinstance(value, dict) or not isinstance(mask, dict):
        return value
    for name in value.keys() & mask.keys():
        if mask[name] is None:
            del value[name]
        else:
            value[name] = _pruned(value[name], mask[name])
    return value


def stale(code: str, key: tuple[str, str, str], current: int) -> MemoryRefused:
    """Return the refusal of a commit that saw another head of ``key``: (space, scope key, id)."""
    what = "is not there any more" if current == ABSENT else f"is at {current} now"
    sentence = f"{key[2]!r} {what}; read it again and decide anew"
    return MemoryRefused(code, sentence, key=InstanceKey(*key), current=current)


def cut(keys: Iterable[DirtyKey], limit: int) -> list[DirtyKey]:
    """Return a page by id, then scope key: ``limit`` of them, and what else has the last id."""
    ordered = sorted(keys, key=lambda one: (one.id, one.scope_key))
    end = limit
    while 0 < end < len(ordered) and ordered[end].id == ordered[end - 1].id:
        end += 1
    return ordered[:end]


def after_prefix(prefix: str) -> str | None:
    """Return the least text behind every text that begins with ``prefix``; None: there is none."""
    while prefix:
        number = ord(prefix[-1]) + 1
        if number == 0xD800:
            number = 0xE000
        if number <= 0x10FFFF:
            return prefix[:-1] + chr(number)
        prefix = prefix[:-1]
    return None
