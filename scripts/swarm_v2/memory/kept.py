"""What a client at a server keeps: what its watches brought, and its own commits on their way.

What no watch brings is asked for, used, and let go: nobody would tell of its changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.address import Address, InstanceKey, instance_key
from scripts.swarm_v2.memory.document import MISSING, is_link, parse_link
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import SyncFrame, Upsert
from scripts.swarm_v2.memory.redirects import hop
from scripts.swarm_v2.memory.replica import Replica
from scripts.swarm_v2.memory.store import ABSENT, Document
from scripts.swarm_v2.memory.watch_view import ViewKey, WatchView
from scripts.swarm_v2.scope_key import DirtyKey, scope_of
from scripts.swarm_v2.wire_json import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Protocol

    from scripts.swarm_v2.memory.proposals import Asked
    from scripts.swarm_v2.memory.replica import Loaded, Sealed
    from scripts.swarm_v2.memory.store import Op
    from scripts.swarm_v2.scope_key import Identity

    Body = Mapping[str, object]

    class Asks(Protocol):
        """Who speaks with the server."""

        def send(
            self, ask: str, fields: Body, answered: Callable[[Body | MemoryRefused], None]
        ) -> None: ...

        def wait_for(self, is_done: Callable[[], bool]) -> None: ...


class Kept:
    """Documents of one client, as one identity sees them."""

    def __init__(self, client: Asks, space: str, own: Identity) -> None:
        self._client, self._space, self._own = client, space, own
        self._replica = Replica(space, own, self._load)
        self._view = WatchView()
        # boundary: the documents that watches begin with, there or not
        self._roots: set[InstanceKey] = set()

    def apply(self, frame: SyncFrame) -> None:
        """Take a frame in."""
        touched = self._replica.keys_of(frame)
        self._view.apply(frame)
        self._replica.apply(frame)
        self.tidy(InstanceKey(self._space, *key) for key in touched)

    def follow(self, roots: Iterable[Address]) -> None:
        """Say with which documents all the watches begin."""
        before = self._roots
        self._roots = {instance_key(root, self._own) for root in roots}
        self.tidy(before - self._roots)

    def whole(self, last: SyncFrame) -> SyncFrame:
        """Return all that watches brought as one frame, up to where ``last`` is."""
        upserts = tuple(entry for _, entry in self._view)
        return SyncFrame(self._space, last.number, 0, last.seq, upserts, reset=True)

    def holds(self, address: Address) -> bool:
        """Say whether the document itself is kept, and kept up to date."""
        key = instance_key(address, self._own)
        return self._stays(key) and self._replica.entry(key, None) is not None

    def is_pending(self, key: InstanceKey) -> bool:
        """Say whether a commit of our own that has no verdict yet shows there."""
        entry = self._replica.entry(key, None)
        return entry is not None and entry.pending

    def seal(self, writes: Iterable[Asked]) -> Sealed:
        """Show a commit that was handed over."""
        return self._replica.seal(self._own, [_layer(self._space, one) for one in writes])

    def settle(self, sealed: Sealed, seq: int) -> None:
        """Take the verdict on it: its number, 0 where nothing of it was written."""
        if seq:
            self._replica.confirm(sealed, seq)
        else:
            self._replica.roll_back(sealed)
        self.tidy(sealed.keys)

    def reader(self, *, settled: bool) -> KeptReader:
        """Return what a transaction reads; ``settled`` waits for the verdicts on what it reads."""
        return KeptReader(self, self._own, settled=settled)

    def documents(
        self, keys: Sequence[InstanceKey], leads: set[InstanceKey], *, settled: bool
    ) -> dict[InstanceKey, Document]:
        """Return those of ``keys`` that ever were; what is not here is asked for, all at once.

        ``leads`` are those that a redirect led to.
        """
        if settled:
            self._client.wait_for(lambda: not any(map(self.is_pending, keys)))
        for key in keys:
            address = Address(self._space, key.id, scope_of(key.scope_key))
            if key in leads and not self._replica.knows(key):
                self._replica.missing(address, None)
            else:
                self._replica.read(address, None)
        outcome: list[BaseException | None] = []
        self._replica.loads.when_settled(keys, outcome.append)
        self._client.wait_for(lambda: bool(outcome))
        if outcome[0] is not None:
            raise outcome[0]
        found = {key: self._document(key) for key in keys}
        self.tidy(keys)
        return {key: one for key, one in found.items() if one is not None}

    def heads(self, keys: Iterable[InstanceKey]) -> dict[InstanceKey, int]:
        """Return the number that is held of each."""
        named = {
            key: Address(self._space, key.id, scope_of(key.scope_key), (), key.scope_key)
            for key in keys
        }
        return {key: seq or ABSENT for key, seq in self._replica.basis(self._own, named.values())}

    def tidy(self, keys: Iterable[InstanceKey]) -> None:
        """Let go of what nothing keeps up to date."""
        for key in list(keys):
            pending = self.is_pending(key)
            if not pending and not (self._stays(key) and self._replica.knows(key)):
                self._replica.let_go(key)

    def _stays(self, key: InstanceKey) -> bool:
        """Say whether the server tells of its changes."""
        place = ViewKey("", scope_of(key.scope_key), key.id)
        return self._view.get(place) is not None or key in self._roots

    def _document(self, key: InstanceKey) -> Document | None:
        entry = self._replica.entry(key, None)
        if entry is None or (entry.seq == ABSENT and entry.value is MISSING):
            return None
        deleted = entry.value is MISSING
        value = None if deleted else copied(entry.value)
        return Document(self._space, key.scope_key, key.id, entry.seq, value, deleted)

    def _load(self, address: Address, settled: Loaded) -> None:
        def answered(found: Body | MemoryRefused) -> None:
            if isinstance(found, MemoryRefused):
                settled(found)
                return
            document = found["document"]
            if isinstance(document, dict):
                self._replica.apply(_carrying(self._space, address, document))
            settled(None)

        fields = {"id": address.id, "scope": address.scope, "follow": False}
        self._client.send("read", fields, answered)


class KeptReader:
    """``store.Reader`` over what a client keeps, and the server behind it."""

    def __init__(self, kept: Kept, own: Identity, *, settled: bool) -> None:
        self._kept, self._own, self._settled = kept, own, settled
        # boundary: what redirects of this transaction led to: links whose targets are loaded
        self._leads: set[InstanceKey] = set()

    def read(self, space: str, scope_key: str, id: str, *, branch: str = "") -> Document | None:
        key = DirtyKey(scope_key, id)
        return self.read_many(space, [key], branch=branch).get(key)

    def read_many(
        self, space: str, keys: Iterable[DirtyKey], *, branch: str = ""
    ) -> dict[DirtyKey, Document]:
        del branch  # a server shows its clients the main one
        asked = [InstanceKey(space, *key) for key in keys]
        found = self._kept.documents(asked, self._leads, settled=self._settled)
        for key, document in found.items():
            if is_link(document.value):
                self._leads.add(hop(key, parse_link(document.value), self._own))
        return {DirtyKey(key.scope_key, key.id): one for key, one in found.items()}

    def heads(self, keys: Iterable[InstanceKey], *, branch: str = "") -> dict[InstanceKey, int]:
        del branch
        return self._kept.heads(keys)


def copied(value: object) -> object:
    """Return JSON that shares nothing with ``value``.

    Raises:
        MemoryRefused: ``request-invalid`` for what is no JSON.
    """
    try:
        return loads(dumps(value))
    except (TypeError, ValueError) as err:
        raise MemoryRefused("request-invalid", f"this is no JSON: {err}") from None


def _layer(space: str, asked: Asked) -> tuple[Address, Op, object]:
    # An erase with a value takes away what that patch removes, and leaves the rest.
    op: Op = "patch" if asked.op == "erase" and asked.value is not None else asked.op
    return Address(space, asked.id, asked.scope), op, asked.value


def _carrying(space: str, address: Address, document: Body) -> SyncFrame:
    """Return a frame that brings one document as the server told it."""
    deleted, seq = bool(document.get("deleted")), int(str(document["seq"]))
    value = document.get("value")
    entry = Upsert(address.id, address.scope, seq, None if deleted else value, deleted)
    return SyncFrame(space, 1, 0, seq, (entry,))
