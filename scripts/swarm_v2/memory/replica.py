"""What one long-lived client holds of one space: confirmed documents, and its own on their way.

Several identities may run in it (a process that serves); their instances lie side by side. Used
from one thread, in which loads settle too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.address import Address, InstanceKey, declared_scope
from scripts.swarm_v2.memory.document import MISSING, at, merge, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.pending_loads import LoadReservations, PendingLoads
from scripts.swarm_v2.memory.store import ABSENT
from scripts.swarm_v2.scope_key import (
    DirtyKey,
    Identity,
    can_resolve,
    is_scope_key,
    resolve_scope_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scripts.swarm_v2.memory.frames import Remove, SyncFrame, Upsert
    from scripts.swarm_v2.memory.pending_loads import Reservation
    from scripts.swarm_v2.memory.store import Op
    from scripts.swarm_v2.scope_key import Scope

    Loaded = Callable[[BaseException | None], None]
    Load = Callable[[Address, Loaded], None]


class Entry(NamedTuple):
    """One instance as one identity sees it: ``seq`` of the confirmed state, ``pending`` on top.

    ``seq`` is ``ABSENT`` for what is known never to have been; the value is MISSING then, and
    for a deleted one.
    """

    seq: int
    value: object
    pending: bool = False


class Sealed(NamedTuple):
    """A commit that was handed over and has no verdict yet.

    ``bases`` has, for each of ``keys``, the number its author built on; None where that is
    another commit of the same author that has no verdict itself: wait for it.
    """

    number: int
    identity: Identity
    keys: tuple[InstanceKey, ...]
    bases: tuple[int | None, ...]


class _Confirmed(NamedTuple):
    seq: int
    value: object


class _Layer(NamedTuple):
    number: int
    identity: Identity
    op: Op
    value: object


_NEVER = _Confirmed(ABSENT, MISSING)


class Replica:
    """Documents by instance: a confirmed state, and layers of commits without a verdict.

    ``running`` is who acts now; None is nobody in particular, and then ``own`` is meant. A layer
    is seen by the identity that sealed it and by no other.

    ``load`` is handed what was never seen: it sets a watch (or asks, and has it let go after
    use), and calls back once with the failure or None when the answer was applied. ``pulls``
    and ``missing_links`` are who has set out to load what; ``loads`` is what runs.
    """

    def __init__(
        self, space: str, own: Identity, load: Load | None = None, *, branch: str = ""
    ) -> None:
        self.space, self.own, self.branch = space, own, branch
        self.loads = PendingLoads()
        self.pulls, self.missing_links = LoadReservations(), LoadReservations()
        self._load = load
        # boundary: replica documents (R1), the confirmed state of each instance
        self._confirmed: dict[DirtyKey, _Confirmed] = {}
        # boundary: replica documents (R1), what was sealed over it and has no verdict
        self._layers: dict[DirtyKey, list[_Layer]] = {}
        # boundary: the replica's own instance by scope name, which its one identity fixes
        self._own_keys: dict[Scope, str] = {}
        self._sealed = 0
        self._told = 0  # up to where frames came

    def instance(self, address: Address, running: Identity | None) -> InstanceKey:
        """Return the instance of an address: its own key, else ``running``'s, else ``own``'s.

        A scope that cannot be resolved is keyed by its name: for anonymous readers.
        """
        key = address.scope_key
        if key is None:
            key = self._own_key(address.scope) if running is None else _key(address.scope, running)
        return InstanceKey(address.space, key, address.id)

    def read(self, address: Address, running: Identity | None) -> object:
        """Return the value at the address's path, or MISSING; what was never seen starts a load.

        One load per instance, that names the instance only where it is not ``own``'s; after a
        failed one the next read loads again.

        Raises:
            Exception: what ``load`` raised at once; the instance can be loaded again.
        """
        key = self._here(address, running)
        if not self.knows(key):
            self._pull(address, key)
        found = self.entry(key, running)
        return at(found.value, address.path) if found else MISSING

    def missing(self, address: Address, running: Identity | None) -> bool:
        """Load the target of a link that was not there; False where that was done before.

        The target is ``running``'s instance, as all that is loaded for one request.

        Raises:
            Exception: as ``read``.
        """
        key = self._here(address, running)
        mine = self.missing_links.reserve(key)
        if mine is None:
            return False
        if not self._pull(address, key, mine):
            # Somebody's pull is under way, or was: when it fails, this one can be tried again.
            self.loads.when_settled([key], lambda failure: self._settle_missing(mine, failure))
        return True

    def let_go(self, key: InstanceKey) -> None:
        """Have the next read load ``key`` again: nothing watches it any more."""
        self.pulls.drop(key)
        self.missing_links.drop(key)
        self._confirmed.pop(_local(key), None)

    def knows(self, key: InstanceKey) -> bool:
        """Say whether the confirmed state is here, be it that there never was one."""
        return _local(key) in self._confirmed

    def entry(self, key: InstanceKey, identity: Identity | None) -> Entry | None:
        """Return what ``identity`` sees; None where the instance was never seen."""
        base = self._confirmed.get(_local(key))
        mine = self._mine(key, identity)
        if base is None and not mine:
            return None
        seq, value = base or _NEVER
        return Entry(seq, _fold(value, mine), bool(mine))

    def confirmed(self, key: InstanceKey) -> object:
        """Return the confirmed value, or MISSING: what a change set compares."""
        return self._confirmed.get(_local(key), _NEVER).value

    def keys_of(self, frame: SyncFrame) -> tuple[DirtyKey, ...]:
        """Return the instances that applying ``frame`` may change: for a change set."""
        entries: list[Upsert | Remove] = [*frame.upserts, *frame.removes]
        named = [self._of(entry) for entry in entries if self._is(entry)]
        return tuple(dict.fromkeys([*named, *(self._confirmed if frame.reset else ())]))

    def apply(self, frame: SyncFrame) -> tuple[InstanceKey, ...]:
        """Take a frame in; return the instances whose confirmed state changed.

        A state older than what is held changes nothing. Layers stay.

        Raises:
            MemoryRefused: ``request-invalid`` for another space's frame; nothing was changed.
        """
        if frame.space != self.space:
            raise MemoryRefused("request-invalid", "the frame is another space's")
        before = {key: self._confirmed.get(key) for key in self.keys_of(frame)}
        if frame.reset:
            self._begin_anew(frame.seq)
        self._told = max(frame.seq, self._told)
        upserts = {self._of(one): one for one in frame.upserts if self._is(one)}
        going = [self._of(one) for one in frame.removes if self._is(one)]
        going += [key for key in self._confirmed if key not in upserts] if frame.reset else []
        for key in going:
            self._confirmed.pop(key, None)
        for key, entry in upserts.items():
            self._take(key, entry)
        return self._changed(before)

    def _begin_anew(self, seq: int) -> None:
        """Drop what a frame replaces that is everything up to ``seq``: not what is newer.

        All of it where the numbers went back, as they do where the server lost commits.
        """
        if seq < self._told:
            self._told = 0
            self._confirmed.clear()
        for key in [key for key, held in self._confirmed.items() if held.seq <= seq]:
            del self._confirmed[key]

    def seal(self, identity: Identity, writes: Sequence[tuple[Address, Op, object]]) -> Sealed:
        """Lay a commit of ``identity`` over what it sees, until ``confirm`` or ``roll_back``."""
        self._sealed += 1
        bases: dict[InstanceKey, int | None] = {}
        for address, op, value in writes:
            key = self._here(address, identity)
            if key not in bases:
                ((_, bases[key]),) = self.basis(identity, [address])
            layer = _Layer(self._sealed, identity, op, value)
            self._layers.setdefault(_local(key), []).append(layer)
        return Sealed(self._sealed, identity, tuple(bases), tuple(bases.values()))

    def basis(
        self, identity: Identity, addresses: Iterable[Address]
    ) -> tuple[tuple[InstanceKey, int | None], ...]:
        """Return the number of what ``identity`` saw at each, from its own records.

        None where that is a commit of its own without a verdict.
        """
        keys = [self._here(address, identity) for address in addresses]
        return tuple((key, self._base(key, identity)) for key in keys)

    def confirm(self, sealed: Sealed, seq: int) -> tuple[InstanceKey, ...]:
        """Make that commit's layers confirmed at ``seq``; nobody else's are touched.

        Returns the instances whose confirmed state changed. A newer state that came before the
        verdict stays; of a patch, the server's own frame has the last word.
        """
        before = {_local(key): self._confirmed.get(_local(key)) for key in sealed.keys}
        for key, held in before.items():
            layers = self._drop(key, sealed)
            base = held or _NEVER
            if layers and seq > base.seq:
                self._confirmed[key] = _Confirmed(seq, _fold(base.value, layers))
        return self._changed(before)

    def roll_back(self, sealed: Sealed) -> tuple[InstanceKey, ...]:
        """Drop that commit's layers, nobody else's; return the instances that had one."""
        return tuple(key for key in sealed.keys if self._drop(_local(key), sealed))

    def _own_key(self, scope: Scope) -> str:
        if scope not in self._own_keys:
            self._own_keys[scope] = _key(scope, self.own)
        return self._own_keys[scope]

    def _here(self, address: Address, running: Identity | None) -> InstanceKey:
        if address.space != self.space:
            raise MemoryRefused("request-invalid", "the address is another space's")
        return self.instance(address, running)

    def _base(self, key: InstanceKey, identity: Identity) -> int | None:
        if self._mine(key, identity):
            return None
        return self._confirmed.get(_local(key), _NEVER).seq

    def _mine(self, key: InstanceKey, identity: Identity | None) -> list[_Layer]:
        who = self.own if identity is None else identity
        return [one for one in self._layers.get(_local(key), ()) if one.identity == who]

    def _drop(self, key: DirtyKey, sealed: Sealed) -> list[_Layer]:
        layers = self._layers.pop(key, [])
        left = [one for one in layers if one.number != sealed.number]
        if left:
            self._layers[key] = left
        return [one for one in layers if one.number == sealed.number]

    def _is(self, entry: Upsert | Remove) -> bool:
        return entry.branch == self.branch

    def _of(self, entry: Upsert | Remove) -> DirtyKey:
        key = self._own_key(entry.scope) if entry.scope_key is None else entry.scope_key
        return DirtyKey(key, entry.id)

    def _take(self, key: DirtyKey, entry: Upsert) -> None:
        # Equal numbers: the server's word replaces what a confirmed patch was taken to mean.
        if entry.seq >= self._confirmed.get(key, _NEVER).seq:
            value = MISSING if entry.deleted else entry.value
            self._confirmed[key] = _Confirmed(entry.seq, value)

    def _changed(self, before: dict[DirtyKey, _Confirmed | None]) -> tuple[InstanceKey, ...]:
        return tuple(
            InstanceKey(self.space, key.scope_key, key.id)
            for key, held in before.items()
            if not _alike(held, self._confirmed.get(key))
        )

    def _pull(self, address: Address, key: InstanceKey, also: Reservation | None = None) -> bool:
        if self._load is None or not is_scope_key(key.scope_key):
            return False  # keyed by name: nobody could say whose it is
        reservation = self.pulls.reserve(key)
        if reservation is None:
            return False
        scope = declared_scope(address)
        named = None if key.scope_key == self._own_key(scope) else key.scope_key
        ticket = self.loads.start(key)

        def settled(failure: BaseException | None) -> None:
            if failure is None:
                self._confirmed.setdefault(_local(key), _NEVER)
            else:
                reservation.release()
                if also is not None:
                    also.release()
            self.loads.finish(ticket, failure)

        try:
            self._load(Address(self.space, key.id, scope, (), named), settled)
        except BaseException as failure:
            settled(failure)
            raise
        return True

    def _settle_missing(self, mine: Reservation, failure: BaseException | None) -> None:
        if failure is not None or mine.key not in self.pulls:
            mine.release()


def _key(scope: Scope, identity: Identity) -> str:
    return resolve_scope_key(scope, identity) if can_resolve(scope, identity) else scope


def _local(key: InstanceKey) -> DirtyKey:
    return DirtyKey(key.scope_key, key.id)


def _fold(value: object, layers: Iterable[_Layer]) -> object:
    for layer in layers:
        if layer.op == "set":
            value = layer.value
        elif layer.op == "patch":
            value = merge({} if value is MISSING else value, layer.value)
        else:
            value = MISSING
    return value


def _alike(one: _Confirmed | None, other: _Confirmed | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.seq == other.seq and same(one.value, other.value)
