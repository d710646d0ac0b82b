"""``context``: what a starting session is told, composed for one identity.

It reads the indexes of its roots, follows the best-ranked links into that identity's own
instances, and adds what the person prefers and the session noted. What only the moment of telling
knows is left to ``told``.
"""

from __future__ import annotations

import gc

from hooks.context.brains import Item
from hooks.context.compose import Section, compose
from hooks.context.shelf import cut
from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.choosing import Index, choose, gather
from scripts.swarm_v2.memory.derivations import Derivation, Output
from scripts.swarm_v2.memory.document import MISSING
from scripts.swarm_v2.memory.memories import INDEX
from scripts.swarm_v2.memory.preferences import (
    NOTES,
    PREFERENCES,
    UNITS,
    note_items,
    read_preferences,
    style_item,
)
from scripts.swarm_v2.memory.transactions import of_one_moment
from scripts.swarm_v2.scope_key import SESSION, SPACE, USER, can_resolve, resolve_scope_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from scripts.swarm_v2.memory.choosing import Entry
    from scripts.swarm_v2.memory.derivations import Roots
    from scripts.swarm_v2.memory.preferences import Preferences
    from scripts.swarm_v2.memory.store import DocumentStore
    from scripts.swarm_v2.memory.transactions import Logged, Transaction
    from scripts.swarm_v2.scope_key import Identity, Scope

    T = TypeVar("T")

TITLES = {
    "project": "This project",
    "person": "This person",
    "brain": "From this brain",
    "session": "This session",
}
_BY_SCOPE: dict[Scope, str] = {SPACE: "project", USER: "person", SESSION: "session"}
_NARROW_FIRST = (SESSION, USER, SPACE)


def run(tx: Transaction, roots: Roots) -> object:
    """Return the ``context`` value of whom ``tx`` acts as.

    ``{"plan", "sections", "text", "sources", "left_out", "project", "budget", "until"}``: the
    sections that have something, their memories as ``Item.to_dict`` writes them, and the text for
    who is told now, in ``budget`` units, with nothing waiting. It holds until ``until``.
    """
    return _uncollected(lambda: _run(tx, roots))


def _uncollected(job: Callable[[], T]) -> T:
    """Do ``job`` with no search for garbage: a large index is a hundred thousand objects."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return job()
    finally:
        if collects:
            gc.enable()


def _run(tx: Transaction, roots: Roots) -> object:
    read = _read(tx, roots)
    wanted = read_preferences(read[Address(roots.space, PREFERENCES, USER)])
    found = gather(_indexes(roots, read), _BY_SCOPE, (roots.space, *roots.joined))
    names = [name for name in wanted.sections if found.get(name)]
    chosen = choose([found[name] for name in names])
    bodies = iter(tx.read_many([e.address for one in chosen for e in one.entries]))
    items: dict[str, list[Item]] = {name: [] for name in wanted.sections}
    left_out = dict.fromkeys(wanted.sections, 0)
    for name, one in zip(names, chosen, strict=True):
        loaded = [_item(tx, entry, next(bodies)) for entry in one.entries]
        items[name] = [cut(item) for item in loaded if item is not None]
        left_out[name] = one.left_out
    _add_own(tx, wanted, items, read[Address(roots.space, NOTES, SESSION)])
    plan = [name for name in wanted.sections if items[name] or left_out[name]]
    return _value(roots, plan, [Section(TITLES[n], items[n], left_out[n]) for n in plan], wanted)


def _value(
    roots: Roots, plan: list[str], sections: list[Section], wanted: Preferences
) -> dict[str, object]:
    budget = UNITS[wanted.verbosity]
    composed = compose(roots.title, sections, budget=budget)
    ends = [item.until for section in sections for item in section.items if item.until]
    return {
        "plan": plan,
        "sections": [
            {
                "title": section.title,
                "items": [item.to_dict() for item in section.items],
                "left_out": section.left_out,
            }
            for section in sections
        ],
        "text": composed.text,
        "sources": [
            {"ids": list(one.ids), "line": one.line, "prints": list(one.prints)}
            for one in composed.sources
        ],
        "left_out": composed.left_out,
        "project": roots.title,
        "budget": budget,
        "until": min(ends, default=""),
    }


def run_for(
    store: DocumentStore, roots: Roots, identity: Identity
) -> tuple[object, tuple[Logged, ...]]:
    """Return the ``context`` value of ``identity`` and what was read for it; nothing is written.

    Raises:
        MemoryRefused: as ``run``, and what the store says.
    """

    def whole() -> tuple[object, tuple[Logged, ...]]:
        value, tx = of_one_moment(store, roots.space, identity, lambda tx: _run(tx, roots))
        return value, tx.log

    return _uncollected(whole)  # what was read is let go before


CONTEXT = Derivation("context", Output("context"), run, reads_roots=True)


def _read(tx: Transaction, roots: Roots) -> dict[Address, object]:
    """Return every document that has no link to it; MISSING for what this identity cannot have."""
    wanted = [Address(roots.space, PREFERENCES, USER), Address(roots.space, NOTES, SESSION)]
    for space in (roots.space, *roots.joined):
        wanted += [Address(space, INDEX, scope) for scope in _NARROW_FIRST]
    if roots.person:
        wanted.append(Address(roots.person, INDEX, USER))
    if roots.fleet:
        wanted.append(Address(roots.fleet, INDEX, SPACE))
    mine = [one for one in wanted if can_resolve(one.scope, tx.identity)]
    values = dict(zip(mine, tx.read_many(mine), strict=True))
    return {one: values.get(one, MISSING) for one in wanted}


def _indexes(roots: Roots, read: dict[Address, object]) -> list[Index]:
    """Return the indexes in the order in which they name a memory first.

    The narrower instance overrides; a person's is not a project's, wherever it was written.
    """
    found = []
    for address, value in read.items():
        if address.id != INDEX:
            continue
        section = ""
        if address.space not in (roots.space, *roots.joined):
            section = "person" if address.space == roots.person else "brain"
        found.append(Index(address.space, address.scope, value, section))
    return found


def _item(tx: Transaction, entry: Entry, value: object) -> Item | None:
    """Return a memory as readers see it; None where there is none any more."""
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return None
    named = {name: said for name, said in value.items() if isinstance(said, str)}
    named.setdefault("type", "memory")
    if entry.address.space == tx.space:  # elsewhere it says which project's it is, or of none
        named.setdefault("project", tx.space)
    key = resolve_scope_key(entry.address.scope, tx.identity)
    said = {"id": entry.slug, "scope_key": key, "accepted": value.get("accepted") is True}
    return Item.from_dict({**named, **said, "state": "live"})


def _add_own(
    tx: Transaction, wanted: Preferences, items: dict[str, list[Item]], notes: object
) -> None:
    if wanted.style and "person" in items and can_resolve(USER, tx.identity):
        items["person"].append(style_item(wanted, resolve_scope_key(USER, tx.identity)))
    if "session" in items and can_resolve(SESSION, tx.identity):
        items["session"] += note_items(notes, resolve_scope_key(SESSION, tx.identity))
