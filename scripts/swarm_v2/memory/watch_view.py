"""What a watcher has: the documents of its frames, and which watch covers which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from scripts.swarm_v2.memory.address import Address, InstanceKey, declared_scope, instance_key
from scripts.swarm_v2.memory.document import same
from scripts.swarm_v2.memory.selectors import Selector, compile_schema
from scripts.swarm_v2.scope_key import can_resolve, resolve_scope_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scripts.swarm_v2.memory.frames import Remove, SyncFrame, Upsert
    from scripts.swarm_v2.scope_key import Identity

Future = TypeVar("Future")


class ViewKey(NamedTuple):
    """Where an entry of a frame stands: under its key where it has one, else its scope's name."""

    branch: str
    instance: str
    id: str


def view_key(entry: Upsert | Remove) -> ViewKey:
    return ViewKey(entry.branch, entry.scope_key or entry.scope, entry.id)


class WatchView:
    """The newest state of everything that the frames of one session brought."""

    def __init__(self) -> None:
        # boundary: watch view (R9)
        self._entries: dict[ViewKey, Upsert] = {}

    def apply(self, frame: SyncFrame) -> tuple[ViewKey, ...]:
        """Take a frame in; return what came, changed or went."""
        upserts = {view_key(entry): entry for entry in frame.upserts}
        going = [view_key(entry) for entry in frame.removes]
        if frame.reset:
            going += [key for key in self._entries if key not in upserts]
        changed = [key for key in going if self._entries.pop(key, None) is not None]
        for key, entry in upserts.items():
            held = self._entries.get(key)
            if frame.reset or held is None or held.seq <= entry.seq:
                self._entries[key] = entry
                if held is None or not _alike(held, entry):
                    changed.append(key)
        return tuple(dict.fromkeys(changed))

    def get(self, key: ViewKey) -> Upsert | None:
        return self._entries.get(key)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[tuple[ViewKey, Upsert]]:
        return iter(list(self._entries.items()))


class _Watched(Generic[Future]):
    """One watch: the address and schema as they were asked for, and what came of it."""

    __slots__ = ("address", "future", "schema")

    def __init__(self, address: Address, schema: object, future: Future) -> None:
        self.address, self.schema, self.future = address, schema, future


class SelectorTracker(Generic[Future]):
    """What is being watched already, so that a narrower watch of the same instance can join it.

    ``identity`` says who this client is, whenever it is needed; an address's own key wins.
    """

    def __init__(self, identity: Callable[[], Identity]) -> None:
        self._identity = identity
        # boundary: selector tracker
        self._watched: dict[InstanceKey, dict[Selector, _Watched[Future]]] = {}

    def add(self, address: Address, schema: object, future: Future) -> None:
        """Note a watch of ``address``, of as much below it as ``schema`` wants.

        Raises:
            MemoryRefused: ``watch-invalid`` for what is no schema.
            ScopeKeyError: this client has no instance of ``address``.
        """
        key, selector = self._place(address, schema)
        self._watched.setdefault(key, {})[selector] = _Watched(address, schema, future)

    def superset(self, address: Address, schema: object) -> Future | None:
        """Return what came of a watch of the same instance that covers this one; else None.

        Raises:
            MemoryRefused: ``watch-invalid``.
            ScopeKeyError: as ``add``.
        """
        key, selector = self._place(address, schema)
        known = self._watched.get(key, {})
        return next((one.future for held, one in known.items() if held.covers(selector)), None)

    def discard(self, address: Address, schema: object) -> None:
        """Forget a watch that failed or ended; one that is not known is no error."""
        key, selector = self._place(address, schema)
        known = self._watched.get(key, {})
        known.pop(selector, None)
        if not known:
            self._watched.pop(key, None)

    def on_the_wire(self) -> Iterator[tuple[Address, object, Future]]:
        """Return every watch and what came of it, with a key only where it is another's."""
        own = self._identity()
        for key, known in list(self._watched.items()):
            for one in list(known.values()):
                scope = declared_scope(one.address)
                mine = can_resolve(scope, own) and resolve_scope_key(scope, own) == key.scope_key
                named = None if mine else key.scope_key
                yield one.address._replace(scope=scope, scope_key=named), one.schema, one.future

    def _place(self, address: Address, schema: object) -> tuple[InstanceKey, Selector]:
        key = instance_key(address, self._identity())
        return key, Selector(address.path, compile_schema(schema))


def _alike(one: Upsert, other: Upsert) -> bool:
    return one.seq == other.seq and one.deleted is other.deleted and same(one.value, other.value)
