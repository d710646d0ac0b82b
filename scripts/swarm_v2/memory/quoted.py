"""Whose derived documents may quote what is erased: they go with it, and are made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.memories import DERIVED
from scripts.swarm_v2.memory.store import Write
from scripts.swarm_v2.scope_key import DirtyKey, parse_scope_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scripts.swarm_v2.memory.store import DocumentStore


def quoting(store: DocumentStore, space: str, scope_keys: Iterable[str]) -> tuple[Write, ...]:
    """Return the erasing of every derived instance that documents of ``scope_keys`` may be in.

    Also of one that quotes them no more: its history may.
    """
    owners = {_owner(key) for key in scope_keys}
    instances = [
        DirtyKey(one.scope_key, one.action)
        for one in store.basis(space)
        if one.action in DERIVED and (None in owners or _owner(one.scope_key) in owners)
    ]
    found = store.read_many(space, instances)
    return tuple(
        Write(key.id, key.scope_key, "erase")
        for key, document in found.items()
        if not document.deleted
    )


def _owner(scope_key: str) -> str | None:
    parsed = parse_scope_key(scope_key)
    return parsed.principal if parsed else None
