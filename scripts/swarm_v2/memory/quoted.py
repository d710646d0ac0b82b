"""What goes with erased documents: their links in the index, and what was derived from them.

Whichever door an erasure comes through, and whatever its author thought of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import DERIVED, INDEX, erased, slug_of
from scripts.swarm_v2.memory.store import ABSENT, Write
from scripts.swarm_v2.scope_key import DirtyKey, parse_scope_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scripts.swarm_v2.memory.store import DocumentStore


def unlinking(store: DocumentStore, space: str, writes: Iterable[Write]) -> tuple[Write, ...]:
    """Return what takes erased memories out of their indexes, with what those said before."""
    asked = tuple(writes)
    own = {(one.scope_key, slug) for one in asked for slug in _unlinked(one)}
    gone = [
        (one.scope_key, slug)
        for one in asked
        if one.op == "erase" and (slug := slug_of(one.id)) and (one.scope_key, slug) not in own
    ]
    keys = {scope_key: InstanceKey(space, scope_key, INDEX) for scope_key, _ in gone}
    heads = store.heads(keys.values()) if keys else {}
    return tuple(
        erased(slug, scope_key)[1]
        for scope_key, slug in dict.fromkeys(gone)
        if heads[keys[scope_key]] != ABSENT
    )


def _unlinked(write: Write) -> list[str]:
    """Return the slugs that a write takes out of an index and its history."""
    links = write.value.get("links") if isinstance(write.value, dict) else None
    if write.id != INDEX or write.op != "erase" or not isinstance(links, dict):
        return []
    return [slug for slug, entry in links.items() if entry is None]


def quoting(
    store: DocumentStore, space: str, scope_keys: Iterable[str], source: str = ""
) -> tuple[Write, ...]:
    """Return the erasing of every derived instance that documents of ``scope_keys`` may be in.

    Also of one that quotes them no more, or was deleted: its history may. ``source`` is the space
    of those documents where it is another one: then of what was made from that space.
    """
    owners = {_owner(key) for key in scope_keys}
    instances = [
        DirtyKey(one.scope_key, one.action)
        for one in store.basis(space)
        if one.action in DERIVED
        and (None in owners or _owner(one.scope_key) in owners)
        and (not source or any(seen.space == source for seen in one.seen))
    ]
    return tuple(
        Write(key.id, key.scope_key, "erase") for key in _not_erased(store, space, instances)
    )


def _not_erased(store: DocumentStore, space: str, keys: list[DirtyKey]) -> list[DirtyKey]:
    """Return those that hold anything; where one is damaged, all of them."""
    try:
        found = store.read_many(space, keys)
    except MemoryRefused as refused:
        if refused.code != "store-damaged":
            raise
        return keys  # what is erased already is passed over
    return [key for key, document in found.items() if document.op != "erase"]


def quoting_elsewhere(
    store: DocumentStore, source: str, scope_keys: Iterable[str]
) -> Iterator[tuple[str, tuple[Write, ...]]]:
    """Yield what ``quoting`` says of each other space: a person's aliases make one read another."""
    keys = tuple(scope_keys)
    for space in store.spaces():
        writes = quoting(store, space, keys, source) if space != source else ()
        if writes:
            yield space, writes


def _owner(scope_key: str) -> str | None:
    parsed = parse_scope_key(scope_key)
    return parsed.principal if parsed else None
