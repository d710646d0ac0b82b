"""Three people with two sessions each, at two runtimes over one store; and what must be true."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from hooks.clock import iso
from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.dependencies import Reader
from scripts.swarm_v2.memory.derivations import Roots
from scripts.swarm_v2.memory.document import MISSING, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import encode
from scripts.swarm_v2.memory.stored_context import read_context
from scripts.swarm_v2.scope_key import DirtyKey, Identity, resolve_scope_key
from scripts.swarm_v2.wire_json import dumps
from tests.support.memory_model import Faulty, Oracle, comparable, foreign_marks
from tests.support.memory_rows import Rows
from tests.support.memory_seats import DERIVED, Host, Keeper, Seat

if TYPE_CHECKING:
    from tests.support.store_worlds import World

THIEF = "another:0"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
_numbers = count()


class Play:
    def __init__(self, world: World, principals: Any, sessions: Any) -> None:
        number = next(_numbers)
        self.world, self.rows, self.now = world, Rows(world), NOON
        self.space = f"git.example.org/team/app{number}"
        self.roots = Roots(self.space, (), f"person{number}", f"fleet{number}")
        self.spaces = (self.space, self.roots.person, self.roots.fleet)
        self.people = [[Identity(one, s) for s in sessions] for one in principals]
        each = [(p, s, who) for p, some in enumerate(self.people) for s, who in enumerate(some)]
        self.owners: dict[str, tuple[int | None, int | None]] = {
            **{resolve_scope_key("user", who): (p, None) for p, _, who in each},
            **{resolve_scope_key("session", who): (p, s) for p, s, who in each},
        }
        self.epoch = 0  # counts losses of the lease
        self.ran: dict[Any, Any] = {}
        self.forgotten: set[str] = set()
        self.hosts = [Host(self), Host(self)]

    def close(self) -> None:
        for host in self.hosts:
            host.runtime.close()
            host.store.close()
        self.rows.close()

    def oracle(self) -> Oracle:
        return Oracle(self.rows, self.space, self.roots.person, self.roots.fleet)

    # What happens.

    def commit(self, seat: Seat, writes: list[dict[str, Any]], **more: Any) -> int | str:
        """Commit as a client does; return the number, or the code it was refused with."""
        before = self.rows.dump(*self.spaces)
        plain = all(one["op"] in ("set", "patch", "delete") or "value" not in one for one in writes)
        asked = [
            (Address(self.space, one["id"], one["scope"]), one["op"], one.get("value"))
            for one in writes
        ]
        sealed = seat.client.replica.seal(seat.who, asked) if plain else None
        code, seq = "", 0
        try:
            proposal = {"writes": writes, **more}
            seq = seat.host.runtime.commit(seat.session, proposal, iso(self.now))
        except MemoryRefused as refused:
            code = refused.code
        if code:
            left = self.rows.dump(*self.spaces) != before
            assert not left, f"{code} left something behind"
        if sealed and seq:
            seat.written |= {DirtyKey(key.scope_key, key.id) for key in sealed.keys}
            seat.client.replica.confirm(sealed, seq)
        elif sealed:
            seat.client.replica.roll_back(sealed)
        return code or seq

    def watch(self, seat: Seat, name: str, wanted: Any) -> None:
        id, scope, path, schema = wanted
        if seat.person is None and scope != "space":
            assert self.refused_to_nobody(seat, wanted)
            return
        frame = seat.host.runtime.watch(seat.session, name, id, scope, path=path, schema=schema)
        seat.watches[name] = wanted
        seat.take(frame)
        naive = seat.walk(self.oracle())
        seat.ever |= naive.tracked | naive.missed
        self.account(seat.host)

    def refused_to_nobody(self, seat: Seat, wanted: Any) -> bool:
        try:
            seat.host.runtime.watch(seat.session, "it", *wanted[:2])
        except MemoryRefused as refused:
            return refused.code == "identity-missing"
        return False

    def unwatch(self, seat: Seat, name: str) -> None:
        seat.take(seat.host.runtime.unwatch(seat.session, name))
        seat.watches.pop(name, None)

    def restart(self, place: int, crash: bool) -> None:
        """End a process, with or without a farewell, and start another."""
        if not crash:
            self.hosts[place].runtime.close()
        self.hosts[place].store.close()
        self.hosts[place] = Host(self)
        self.epoch += 1

    def lose_lease(self, thief: bool) -> None:
        self.rows.end_lease(self.space)
        self.epoch += 1
        if thief:
            assert self.hosts[0].store.acquire(self.space, THIEF, 3_600_000)

    def return_lease(self) -> None:
        if self.hosts[0].store.release(self.space, THIEF):
            self.epoch += 1

    def keep(self, host: Host, key: DirtyKey) -> None:
        """Let a service name somebody's document, with the lease if it is free."""
        if host.keeper is None:
            host.keeper = Keeper(host)
        was = host.keeper.lease.live()
        holds = host.keeper.lease.acquire()
        self.epoch += holds and not was
        code = host.keeper.watch(key)
        if holds:
            assert code == ""
        elif key.scope_key != "space" and key not in host.keeper.watches:
            assert code in ("instance-refused", "instances-ambiguous")

    def retire(self, who: Identity, host: Host) -> None:
        """Let a session have ended a month ago, and one process clear up."""
        session_key = resolve_scope_key("session", who)
        host.store.retire(self.space, session_key, iso(self.now))
        self.now += timedelta(days=31)
        before = self.oracle().rows
        gone = host.runtime.retention.sweep(self.now)
        after = self.oracle().rows
        here = any(seat.who == who for seat in host.seats.values())
        assert not (here and (self.space, session_key) in gone), "it is open here"
        swept = {key for space, key in gone if space == self.space}
        for key, row in after.items():
            if key.scope_key in swept:
                assert row.op == "erase", f"{key} is still there"
            else:
                assert row == before[key]
        assert not {key for _, key in self.rows.derived(self.space)} & swept
        for name, key in list(self.ran):
            if key in swept:
                del self.ran[(name, key)]

    def pump(self, host: Host, lost: Any = (), *, told: bool = True) -> int:
        """Pump and check; return how many frames there were.

        The frames of the seats in ``lost`` vanish; a later pump is ``told`` of it.
        """
        whole = {seat for seat in host.seats.values() if seat.late and told}
        for seat in whole:
            for frame in seat.late:
                host.runtime.failed(seat.session, frame)
            seat.late = []
        self._before(host)
        frames = host.runtime.pump()
        assert not any(host.runtime.subscriptions.refused.values())
        by_session = {seat.session: seat for seat in host.seats.values()}
        for session, frame in frames:
            if session.holder:
                host.keeper.take(frame)
                continue
            seat = by_session[session]
            if (seat.person, seat.place) in lost:
                seat.check_words(encode(frame))
                seat.late.append(frame)
            else:
                seat.take(frame)
        self.account(host)
        self.check(host, whole)
        return len(frames)

    def _before(self, host: Host) -> None:
        for seat in host.seats.values():
            seat.looked_at = host.runtime.subscriptions.looked_at(seat.session)

    # What must be true.

    def check(self, host: Host, whole: set[Seat]) -> None:
        """Compare every replica of a process that has just pumped with the rows."""
        oracle = self.oracle()
        self._check_rows(oracle)
        touched = {one.key for one in self.rows.log(self.space) if one.seq > host.told}
        host.told = self.rows.numbers(self.space)[-1]
        for seat in host.seats.values():
            if seat.late:
                continue
            looked = host.runtime.subscriptions.looked_at(seat.session) - seat.looked_at
            needed = seat in whole or seat.ever & touched
            assert not looked or needed, f"{seat.who} was evaluated for others' changes"
            naive = seat.walk(oracle)
            seat.ever |= naive.tracked | naive.missed
            self._check_seat(seat, oracle, naive.tracked)
        if host.keeper is not None:
            host.keeper.check(oracle)
        if host.runtime.due_s() is None:
            self.check_derived(host, oracle)

    def _check_seat(self, seat: Seat, oracle: Oracle, reached: set[DirtyKey]) -> None:
        for key in reached | oracle.rows.keys():
            held = seat.held(key)
            if key.scope_key not in seat.own:
                assert held is MISSING, f"{seat.who} has {key}"
            elif key in reached:
                value = oracle.values.get(key, MISSING)
                assert same(held, value), f"{seat.who} has {held} for {key}, there is {value}"
            elif oracle.rows[key].op == "erase" and key not in seat.written:
                assert held is MISSING, f"{seat.who} still has the erased {key}"

    def _check_rows(self, oracle: Oracle) -> None:
        for state in oracle.states.values():
            for key, row in state.items():
                if row.value is MISSING:
                    continue
                person, session = self._owner(key.scope_key)
                foreign = foreign_marks(dumps(row.value), person, session)
                assert not foreign, f"{key} holds {foreign}"

    def _owner(self, scope_key: str) -> tuple[int | None, int | None]:
        if scope_key == "space":
            return None, None
        return self.owners[scope_key]  # a KeyError: a row of nobody's

    def check_derived(self, host: Host, oracle: Oracle) -> None:
        """Compare what is stored for everybody who wants it here with what a naive run gives."""
        for seat in host.seats.values():
            if seat.person is None:
                continue
            for name in DERIVED:
                if seat.wants(name):
                    self._check_result(seat, oracle, name)

    def _check_result(self, seat: Seat, oracle: Oracle, name: str) -> None:
        told = [key for node, key in oracle.faults(seat.who) if node == name]
        mine = [key for key in told if key in seat.own]
        try:
            expected = oracle.derive(name, seat.who)
        except Faulty:
            assert mine, f"{name} of {seat.who} has a fault that nobody is told of"
            return
        assert not mine, f"{name} of {seat.who} has no fault, but {mine} tells one"
        stored = comparable(name, oracle.result(name, seat.who))
        assert stored == expected, f"{name} of {seat.who}: {stored} for {expected}"

    def account(self, host: Host) -> None:
        """See that whatever ran since the last time had an input, or a result, that moved."""
        for scheduler in host.schedulers():
            for name, node in scheduler.nodes.items():
                for scope_key, instance in node.instances.items():
                    if instance.runs > host.runs.get(instance, 0):
                        host.runs[instance] = instance.runs
                        self._check_needed(scheduler, name, scope_key, instance)

    def _check_needed(self, scheduler: Any, name: str, scope_key: str, instance: Any) -> None:
        output = scheduler.nodes[name].derivation.output.id
        reads = [*scheduler.index.reads(Reader(name, scope_key))]
        results = [InstanceKey(self.space, key, output) for key in ("space", scope_key)]
        stands = scheduler.store.heads([*reads, *results])
        fault = instance.fault is not None
        before = self.ran.get((name, scope_key))
        self.ran[(name, scope_key)] = (stands, fault, instance, self.epoch)
        if before is None:
            return
        stood, failed, last, epoch = before
        moved = any(
            stands[key] != stood[key] if key in stood else self._is_there(key) for key in stands
        )
        again = failed and (last is not instance or epoch != self.epoch)
        assert moved or again, f"{name} of {scope_key} ran though nothing moved"

    def _is_there(self, key: InstanceKey) -> bool:
        row = self.rows.state(key.space).get(DirtyKey(key.scope_key, key.id))
        return row is not None and row.value is not MISSING

    def settle(self) -> None:
        """Let each process in turn do all there is to do, and look at everything."""
        self.return_lease()
        for host in self.hosts:
            self.lose_lease(thief=False)
            self._calm(host)
            assert host.runtime.due_s() is None
        for host in self.hosts:
            self.pump(host)
            self._check_whole(host)
        self._check_hooks()
        for space in self.spaces:
            numbers = self.rows.numbers(space)
            assert numbers == [*range(1, len(numbers) + 1)]
        everything = repr(self.rows.dump(*self.spaces))
        assert not [word for word in self.forgotten if word in everything]

    def _check_hooks(self) -> None:
        """A starting session finds what a process made for it, or makes it itself."""
        if self.world.kind != "sqlite":
            return
        oracle = self.oracle()
        for host in self.hosts:
            for seat in [one for one in host.seats.values() if one.wants("context")]:
                db = host.store._db
                found = read_context(db, self.roots.everything, seat.who)
                try:
                    expected = oracle.derive("context", seat.who)
                except Faulty:
                    continue
                assert seat.person is None or comparable("context", found) == expected

    def _calm(self, host: Host) -> None:
        for _ in range(40):
            self.now += timedelta(minutes=1)
            before = [self.rows.numbers(space) for space in self.spaces]
            if not self.pump(host) and before == [self.rows.numbers(one) for one in self.spaces]:
                return
        raise AssertionError("it never comes to rest")

    def _check_whole(self, host: Host) -> None:
        """Have everything evaluated anew: then nobody has what it does not watch."""
        for seat in host.seats.values():
            frame = host.runtime.unwatch(seat.session, "none of these")
            host.runtime.failed(seat.session, frame)
        self._before(host)
        everybody: list[Any] = [*host.seats.values(), host.keeper]
        for session, frame in host.runtime.pump():
            next(one for one in everybody if one and one.session is session).take(frame)
        oracle = self.oracle()
        for seat in host.seats.values():
            reached = seat.walk(oracle).tracked
            self._check_seat(seat, oracle, reached)
            for key in oracle.rows.keys() - reached - seat.written:
                assert seat.held(key) is MISSING, f"{seat.who} still has {key}"
