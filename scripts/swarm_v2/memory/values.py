"""What a walked graph amounts to: a document's value with its links replaced by their targets.

A link stands as it was written where its target is being built already (a circle), where it
lies deeper than ``MAX_LINK_DEPTH`` containers, and where the whole would exceed ``MAX_NODES``.
A target that is not there, or that the schema rejects, leaves its member out and makes a list's
item null.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.document import MISSING
from scripts.swarm_v2.memory.selectors import EVERYTHING, as_link, locate
from scripts.swarm_v2.memory.traversal import MAX_HOPS, target
from scripts.swarm_v2.scope_key import SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    from scripts.swarm_v2.memory.address import InstanceKey
    from scripts.swarm_v2.memory.document import Link
    from scripts.swarm_v2.memory.loader import DocumentLoader
    from scripts.swarm_v2.memory.selectors import Schema
    from scripts.swarm_v2.memory.traversal import SchemaMemo

    Wanted = tuple[Schema, ...]
else:
    from hooks.record import NamedTuple

MAX_LINK_DEPTH = 48  # containers around a link that is still followed
MAX_NODES = 500_000  # JSON values in one result: the largest index with all its memories


class MemoKey(NamedTuple):
    """An address as it was asked for, by the name of its scope, and what was wanted there."""

    address: Address
    schemas: tuple[str, ...]


_ALL: Wanted = (EVERYTHING,)


class _Asked(NamedTuple):
    """A target to build, what to show where it cannot be, and the containers around it."""

    address: Address
    key: InstanceKey
    wanted: Wanted
    standing: object
    depth: int


class Built(NamedTuple):
    """A value and what it cost: JSON values, redirects in a row, containers down to a link."""

    value: object
    size: int
    hops: int
    reach: int


def flat(schemas: Iterable[Schema]) -> Wanted:
    """Return schemas without branches whose union is wanted, each once, in one order."""
    found: dict[str, Schema] = {}
    heap = list(schemas)
    seen: set[int] = set()
    while heap:
        schema = heap.pop()
        if schema.everything:
            return _ALL
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        if schema.any_of is not None:
            heap += schema.any_of
        elif not schema.nothing:
            found[schema.text] = schema
    return tuple(found[text] for text in sorted(found))


class ValueBuilder:
    """Builds from what a loader has cached; never asks the store."""

    def __init__(self, loader: DocumentLoader, memo: SchemaMemo) -> None:
        """Bind ``memo`` to the loader's identity.

        Raises:
            MemoryRefused: ``identity-changed`` where the memo is another identity's.
        """
        memo.bind(loader.identity)
        self._loader, self._memo = loader, memo
        self._open: set[MemoKey] = set()  # being built, around where we are
        self._size = 0
        self._full = False  # the limit was met: from here on links stand
        # Of the innermost build: whether some link was left standing, the deepest one followed.
        self._cut, self._deepest = False, 0

    def build(self, root: Address, key: InstanceKey, schema: Schema) -> object:
        """Return the value at a root whose instance is ``key``; MISSING where there is none."""
        return self._build(_Asked(root, key, flat((schema,)), MISSING, 0))

    def _build(self, asked: _Asked) -> object:
        """Build one target, and remember it where it is the same wherever it is asked for."""
        outer, before = (self._cut, self._deepest), self._size
        self._cut, self._deepest = False, asked.depth
        chain: list[MemoKey] = []  # redirects in a row; a loop, since a call each would be too deep
        try:
            value, hops = self._follow(asked, chain)
        finally:
            self._open.difference_update(chain)
        if not self._cut:
            size, reach = self._size - before, self._deepest - asked.depth
            for behind, name in enumerate(reversed(chain)):
                self._memo.values[name] = Built(value, size, hops + behind, reach)
        self._cut, self._deepest = self._cut or outer[0], max(self._deepest, outer[1])
        return value

    def _follow(self, asked: _Asked, chain: list[MemoKey]) -> tuple[object, int]:
        """Return what stands at the end of redirects, and how many a memo has followed of them."""
        address, key = asked.address, asked.key
        texts = tuple(schema.text for schema in asked.wanted)
        while True:
            name = MemoKey(address, texts)
            if name in self._open:
                return self._stand(MISSING if name in chain else asked.standing), 0
            built = self._memo.values.get(name)
            if built is not None and asked.depth + built.reach <= MAX_LINK_DEPTH:
                return self._remembered(built, asked, len(chain)), built.hops + 1
            chain.append(name)
            self._open.add(name)
            found, rest = self._find(address, key)
            link = as_link(found)
            if link is None:
                return MISSING if rest else self._take(found, asked.wanted, asked.depth), 0
            behind = target(self._loader.space, link, self._loader.identity)
            if behind is None:
                return MISSING, 0
            if len(chain) > MAX_HOPS:
                return self._stand(MISSING), 0
            address, key = self._address(link, rest), behind

    def _find(self, address: Address, key: InstanceKey) -> tuple[object, tuple[str, ...]]:
        document = self._loader.cached(key)
        if document is None or document.deleted:
            return MISSING, ()
        return locate(document.value, address.path)

    def _remembered(self, built: Built, asked: _Asked, hops: int) -> object:
        """Take a value from the memo, as far as the limits let us have it here."""
        if hops + built.hops > MAX_HOPS:
            return self._stand(MISSING)
        if self._size + built.size > MAX_NODES:
            self._full = True
            return self._stand(asked.standing)
        self._size += built.size
        self._deepest = max(self._deepest, asked.depth + built.reach)
        return built.value

    def _stand(self, shown: object) -> object:
        """Show something for a target, and keep what is around it out of the memo."""
        self._cut = True
        self._size += 1
        return shown

    def _address(self, link: Link, rest: tuple[str, ...]) -> Address:
        return Address(self._loader.space, link.id, link.scope or SPACE, link.path + rest, None)

    def _take(self, value: object, wanted: Wanted, depth: int) -> object:
        if not isinstance(value, (dict, list)) and wanted == _ALL:
            self._size += value is not MISSING
            return value
        link = as_link(value)
        if link is not None:
            return self._behind(link, value, wanted, depth)
        accepting = [schema for schema in wanted if schema.accepts(value)]
        if value is MISSING or not accepting:
            return MISSING
        self._size += 1
        if isinstance(value, dict):
            return self._members(value, accepting, depth + 1)
        if isinstance(value, list):
            items = flat(schema.items for schema in accepting if schema.items is not None)
            taken = [self._take(one, items, depth + 1) for one in value]
            return [None if one is MISSING else one for one in taken]
        return value

    def _members(
        self, value: dict[str, object], accepting: list[Schema], depth: int
    ) -> dict[str, object]:
        members: dict[str, object] = {}
        wanted = _ALL
        everything = accepting[0].everything
        for name, one in value.items():
            if not everything:
                schemas = [schema.member(name) for schema in accepting]
                wanted = flat(schema for schema in schemas if schema is not None)
            taken = self._take(one, wanted, depth) if wanted else MISSING
            if taken is not MISSING:
                members[name] = taken
        return members

    def _behind(self, link: Link, standing: object, wanted: Wanted, depth: int) -> object:
        key = target(self._loader.space, link, self._loader.identity)
        if key is None or not wanted:
            return MISSING
        self._full = self._full or self._size >= MAX_NODES
        if self._full or depth > MAX_LINK_DEPTH:
            return self._stand(standing)
        self._deepest = max(self._deepest, depth)
        return self._build(_Asked(self._address(link, ()), key, wanted, standing, depth))
