"""``status``: what the status page shows one person of a space, each session's the same."""

from __future__ import annotations

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.derivations import Derivation, Output
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import INDEX
from scripts.swarm_v2.memory.preferences import PREFERENCES, malformed, read_preferences
from scripts.swarm_v2.scope_key import SPACE, USER, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripts.swarm_v2.memory.derivations import Roots
    from scripts.swarm_v2.memory.transactions import Transaction

FAULTS = "faults"  # as ``faults`` writes it, which no hook loads
UNREADABLE = ("store-damaged", "link-circle")


def run(tx: Transaction, roots: Roots) -> object:
    """Return ``{"shared", "own", "preferences", "errors"}`` of whom ``tx`` acts as.

    ``shared`` is the digest's counts, ``own`` the number of that person's memories here.
    ``errors`` are ``{"node", "scope", "code", "sentence"}`` of results that could not be made
    for this person or for the space: the last good ones are shown in their place.
    """
    digest = _read(tx, Address(roots.space, "digest", SPACE))
    index = _read(tx, Address(roots.space, INDEX, USER))
    preferences = _read(tx, Address(roots.space, PREFERENCES, USER))
    faults = [_read(tx, Address(roots.space, FAULTS, scope)) for scope in (SPACE, USER)]
    counts = digest if isinstance(digest, dict) else {}
    links = index.get("links") if isinstance(index, dict) else None
    return {
        "shared": {name: counts.get(name) for name in ("memories", "types", "severities")},
        "own": {"memories": len(links) if isinstance(links, dict) else 0},
        "preferences": _preferences(preferences),
        "errors": [*_mistyped(preferences), *(e for doc in faults for e in _errors(doc))],
    }


def _read(tx: Transaction, address: Address) -> object:
    """Return a value; None for what is damaged, so that the page still tells what is wrong."""
    try:
        return tx.read(address)
    except MemoryRefused as refused:
        if refused.code not in UNREADABLE:
            raise
        return None


def _preferences(value: object) -> object:
    """Return what is in force; None for what is damaged, which ``errors`` tell."""
    if value is None:
        return None
    read = read_preferences(value)
    return {"style": read.style, "verbosity": read.verbosity, "sections": list(read.sections)}


def _mistyped(value: object) -> list[dict[str, object]]:
    sentence = "" if value is None else malformed(value)
    if not sentence:
        return []
    where = {"node": PREFERENCES, "scope": USER}
    return [{**where, "code": "document-reserved", "sentence": sentence}]


def _errors(document: object) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    nodes = document if isinstance(document, dict) else {}
    for node, instances in sorted(nodes.items()):
        for key, fault in sorted(instances.items() if isinstance(instances, dict) else ()):
            if isinstance(fault, dict):
                scope = scope_of(str(key))
                said = {name: fault.get(name) for name in ("code", "sentence")}
                found.append({"node": node, "scope": scope, **said})
    return found


STATUS = Derivation("status", Output("status", USER), run)
