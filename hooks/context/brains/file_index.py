"""What the pages of a folder come to: which are served, which replace which, what is set aside.

Nothing of this is stored: it is made anew from the pages, so two machines that see the same
pages come to the same. A tombstone wins over every copy of what it buries.
"""

from __future__ import annotations

from hooks.clock import from_epoch, iso
from hooks.context.brains import file_names, front_matter
from hooks.context.brains.file_folder import Aside
from hooks.context.brains.file_page import Grave, Memory, from_page, grave_on
from hooks.context.brains.replacing import may_replace
from hooks.context.lifetime import instant
from scripts.swarm_v2.wire_json import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hooks.context.brains.file_folder import Leaf

_NS = 1_000_000_000


class Index:
    """``space_of`` says which spaces are one: a project and what its aliases lead to."""

    def __init__(
        self, leaves: Iterable[Leaf], aside: Iterable[Aside], space_of: Callable[[str], str]
    ) -> None:
        self._space_of = space_of
        self.aside = list(aside)
        self.graves: dict[str, Grave] = {}
        self.files: dict[str, list[str]] = {}  # id -> every file that holds it, in any state
        self.where: dict[str, str] = {}  # id -> the file that is served
        self.without = 0  # Markdown files that are no memories and do not look like one
        self.newest_ns = 0
        self._by_thought: dict[tuple[str, str], str] = {}
        self._buried: set[tuple[str, str]] = set()
        served = self._unique(self._readable(leaves))
        self.memories = {memory.item.id: memory for memory in served}
        self.superseded: dict[str, str] = {}  # id -> the id of what replaced it
        self._replaces: dict[str, str] = {}
        for memory in served:
            self._link(memory)

    # Making it.

    def _readable(self, leaves: Iterable[Leaf]) -> list[tuple[Leaf, Memory]]:
        found = []
        for leaf in leaves:
            self.newest_ns = max(self.newest_ns, leaf.mtime_ns)
            name = leaf.where.rpartition("/")[2]
            if self._is_grave(leaf, name):
                continue
            memory = leaf.page if isinstance(leaf.page, str) else from_page(leaf.page, leaf.where)
            if isinstance(memory, Memory):
                self.files.setdefault(memory.item.id, []).append(leaf.where)
                found.append((leaf, memory))
            else:
                self._unreadable(leaf, name, memory)
        return found

    def _is_grave(self, leaf: Leaf, name: str) -> bool:
        key = file_names.grave_of(name)
        page = front_matter.Page({}, (), "") if isinstance(leaf.page, str) else leaf.page
        grave = grave_on(page, key)
        if grave is None:
            return False
        known = self.graves.get(grave.key)
        if known is None or not known.digest:  # the fullest of several copies
            self.graves[grave.key] = grave
        self._buried |= {(grave.message_id, grave.digest), (grave.session, grave.digest)}
        return True

    def _unreadable(self, leaf: Leaf, name: str, why: str) -> None:
        key = file_names.key_of(name)
        if key:
            self.files.setdefault(key, []).append(leaf.where)
        if why == front_matter.NO_FRONT_MATTER and not key and not leaf.copy:
            self.without += 1  # a README, say
        else:
            self.aside.append(Aside(clean(leaf.where), leaf.copy or why))

    def _unique(self, found: list[tuple[Leaf, Memory]]) -> list[Memory]:
        """Return one memory per id and per thought, in the order they are told: oldest first."""
        served: list[tuple[tuple[object, ...], Memory]] = []
        for leaf, memory in sorted(found, key=_preference):
            why = leaf.copy or self._why_not(memory)
            if why:
                self.aside.append(Aside(clean(leaf.where), why))
                continue
            key = memory.item.id
            self.where[key] = leaf.where
            if memory.thought[0]:
                self._by_thought[memory.thought] = key
            when = instant(memory.item.at) or iso(from_epoch(leaf.mtime_ns // _NS))
            served.append(((when, leaf.mtime_ns, leaf.where), memory))
        served.sort(key=lambda pair: pair[0])
        return [memory for _, memory in served]

    def _why_not(self, memory: Memory) -> str:
        key = memory.item.id
        if self.grave_of(memory) is not None:
            return "forgotten: its tombstone wins"
        if key in self.where:
            return f"it has the id of {clean(self.where[key])}"
        other = self._by_thought.get(memory.thought)
        return f"the same thought as {clean(self.where[other])}" if other else ""

    def _link(self, memory: Memory) -> None:
        """Note what ``memory`` replaces; what would close a circle replaces nothing."""
        targets = self.targets(memory)
        if len(targets) != 1 or not may_replace(memory.item, targets[0].item, memory.space):
            return
        old, new = targets[0].item.id, memory.item.id
        at = old
        while at:
            if at == new:
                return
            at = self._replaces.get(at, "")
        self._replaces[new] = old
        self.superseded.setdefault(old, new)

    # Asking it.

    def targets(self, memory: Memory) -> list[Memory]:
        """Return the memories that ``memory`` can mean by what it supersedes."""
        wanted = memory.item.supersedes
        if not wanted:
            return []
        whole = self.memories.get(wanted)
        named = [whole] if whole else [m for k, m in self.memories.items() if k.startswith(wanted)]
        return [other for other in named if self._is_beside(memory, other)]

    def _is_beside(self, memory: Memory, other: Memory) -> bool:
        same_space = self._space_of(memory.space) == self._space_of(other.space)
        same_scope = memory.item.scope_key == other.item.scope_key
        return same_space and same_scope and memory.item.id != other.item.id

    def is_live(self, key: str) -> bool:
        return key in self.memories and key not in self.superseded

    def history(self, key: str) -> list[str]:
        """Return the ids that ``key`` replaced, directly or not, the latest first."""
        found: list[str] = []
        wanted = [key]
        while wanted:
            newer = wanted.pop()
            older = [old for old, new in self.superseded.items() if new == newer][::-1]
            found += older
            wanted += older
        return found

    def record_of(self, memory: Memory) -> str:
        """Return the id under which this memory is here already, forgotten or not; else ""."""
        key = memory.item.id
        if key in self.files or key in self.graves:
            return key
        grave = self.grave_of(memory)
        if grave is not None:
            return grave.key
        return self._by_thought.get(memory.thought, "")

    def grave_of(self, memory: Memory) -> Grave | None:
        """Return the tombstone that keeps a memory away: by id, message or, an agent's, session."""
        item = memory.item
        grave = self.graves.get(item.id)
        if grave is not None or not self._buried:
            return grave
        session = item.session if item.cls != "person" else ""
        keys = {(name, memory.digest) for name in (item.message_id, session) if name}
        if not keys & self._buried:
            return None
        for grave in self.graves.values():
            if keys & {(grave.message_id, grave.digest), (grave.session, grave.digest)}:
                return grave
        return None


def _preference(pair: tuple[Leaf, Memory]) -> tuple[object, ...]:
    """Of several files with one id the one that is named by it counts; then the shortest name.

    Ids in their order, so that of two with one thought every machine serves the same.
    """
    leaf, memory = pair
    name = leaf.where.rpartition("/")[2]
    named = file_names.key_of(name) == memory.item.id
    return (memory.item.id, bool(leaf.copy), not named, len(leaf.where), leaf.where)
