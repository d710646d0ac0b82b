"""Why an instance has no new result, as a document: a user's own, and the space's.

So a person's ``status`` shows it like everything else that it is made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.document import MISSING, at, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.instances import user_of
from scripts.swarm_v2.memory.store import Write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scripts.swarm_v2.memory.store import DocumentStore

FAULTS = "faults"
SENTENCE_CHARS = 300


class Fault(NamedTuple):
    """Why one instance has no new result; its last good one stays."""

    node: str
    scope_key: str
    code: str
    sentence: str


def noting(store: DocumentStore, space: str, fault: Fault) -> tuple[Write, ...]:
    """Return what records ``fault`` at the instance of whose it is; () where it is recorded."""
    said = {"code": fault.code, "sentence": fault.sentence[:SENTENCE_CHARS]}
    owner = user_of(fault.scope_key)
    value = _recorded(store, space, owner)
    if value is MISSING:
        return (Write(FAULTS, owner, "set", {fault.node: {fault.scope_key: said}}),)
    if same(at(value, (fault.node, fault.scope_key)), said):
        return ()
    return (Write(FAULTS, owner, "patch", {fault.node: {fault.scope_key: said}}),)


def clearing(
    store: DocumentStore, space: str, node: str, scope_keys: Iterable[str]
) -> tuple[Write, ...]:
    """Return what takes recorded faults back; () where there are none.

    ``scope_keys`` are an instance's and each broader one's: who is narrower now is not served by
    those any more, so that nobody else would ever take theirs back.
    """
    gone: dict[str, list[str]] = {}
    for key in scope_keys:
        gone.setdefault(user_of(key), []).append(key)
    found = []
    for owner, keys in gone.items():
        value = _recorded(store, space, owner)
        if value is MISSING:
            found.append(Write(FAULTS, owner, "set", {}))
            continue
        told = [key for key in keys if at(value, (node, key))]
        if told:
            found.append(Write(FAULTS, owner, "patch", {node: dict.fromkeys(told)}))
    return tuple(found)


def _recorded(store: DocumentStore, space: str, owner: str) -> object:
    """Return what is recorded for an owner; MISSING where it is damaged: it is written anew."""
    try:
        document = store.read(space, owner, FAULTS)
    except MemoryRefused as refused:
        if refused.code != "store-damaged":
            raise
        return MISSING
    return document.value if document is not None and not document.deleted else {}
