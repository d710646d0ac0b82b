"""Why an instance has no new result, as a document: a user's own, and the space's.

So a person's ``status`` shows it like everything else that it is made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.document import at, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.instances import user_of
from scripts.swarm_v2.memory.store import Write

if TYPE_CHECKING:
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
    return _patch(store, space, fault, said)


def clearing(store: DocumentStore, space: str, node: str, scope_key: str) -> tuple[Write, ...]:
    """Return what takes a recorded fault back; () where there is none."""
    return _patch(store, space, Fault(node, scope_key, "", ""), None)


def _patch(
    store: DocumentStore, space: str, fault: Fault, said: dict[str, str] | None
) -> tuple[Write, ...]:
    owner = user_of(fault.scope_key)
    try:
        document = store.read(space, owner, FAULTS)
    except MemoryRefused as refused:
        if refused.code != "store-damaged":
            raise
        told = {} if said is None else {fault.node: {fault.scope_key: said}}
        return (Write(FAULTS, owner, "set", told),)
    value = document.value if document is not None and not document.deleted else {}
    before = at(value, (fault.node, fault.scope_key))
    if same(before, said) or (said is None and not before):
        return ()
    return (Write(FAULTS, owner, "patch", {fault.node: {fault.scope_key: said}}),)
