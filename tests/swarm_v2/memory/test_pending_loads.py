from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import Address, InstanceKey, instance_key
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.pending_loads import LoadReservations, PendingLoads
from scripts.swarm_v2.scope_key import Identity, ScopeKeyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

quick = settings(deadline=None, max_examples=100)
A, B = Identity("did:key:zA", "a1"), Identity("did:key:zB", "b1")
PREFERENCES = Address("proj", "preferences", "user")
OF_A, OF_B = instance_key(PREFERENCES, A), instance_key(PREFERENCES, B)
DOWN = MemoryRefused("store-busy", "the store did not answer")


def at_once(run: Callable[[], None]) -> None:
    run()


def nothing_linked(key: InstanceKey) -> Iterable[Address]:
    return ()


def test_waiters_settle_when_the_last_of_the_overlapping_loads_has_ended() -> None:
    loads, told = PendingLoads(), []
    one, two = loads.start(OF_A), loads.start(OF_A)
    loads.when_settled([OF_A], told.append)
    loads.finish(one)
    assert (told, loads.count(OF_A)) == ([], 1)
    loads.finish(two)
    assert (told, loads.count(OF_A)) == ([None], 0)


def test_the_first_failure_is_what_waiters_see_whatever_ends_after_it() -> None:
    loads, told = PendingLoads(), []
    tickets = [loads.start(OF_A) for _ in range(3)]
    loads.when_settled([OF_A], told.append)
    loads.finish(tickets[0])
    loads.finish(tickets[1], DOWN)
    loads.finish(tickets[2], MemoryRefused("store-damaged", "later"))
    assert told == [DOWN]


def test_a_later_load_has_a_new_generation_and_nothing_of_the_failure_before() -> None:
    loads, told = PendingLoads(), []
    first = loads.start(OF_A)
    assert loads.start(OF_A).generation == first.generation
    loads = PendingLoads()
    first = loads.start(OF_A)
    loads.finish(first, DOWN)
    second = loads.start(OF_A)
    assert second.generation > first.generation
    loads.when_settled([OF_A], told.append)
    loads.finish(first, DOWN)  # of the generation before: it changes nothing
    assert told == []
    loads.finish(second)
    assert told == [None]


def test_a_ticket_that_comes_back_twice_counts_once() -> None:
    loads = PendingLoads()
    one, two = loads.start(OF_A), loads.start(OF_A)
    loads.finish(one)
    loads.finish(one, DOWN)
    assert loads.count(OF_A) == 1
    loads.finish(two)
    assert loads.count(OF_A) == 0


def test_a_key_that_stands_twice_in_a_wait_counts_once() -> None:
    loads, told = PendingLoads(), []
    ticket = loads.start(OF_A)
    loads.when_settled([OF_A, OF_A, OF_B], told.append)
    loads.finish(ticket)
    assert told == [None]


def test_a_wait_for_several_instances_ends_with_the_last_and_sees_the_first_failure() -> None:
    loads, told = PendingLoads(), []
    one, two = loads.start(OF_A), loads.start(OF_B)
    loads.when_settled([OF_A, OF_B], told.append)
    loads.finish(two, DOWN)
    assert told == []
    loads.finish(one, MemoryRefused("store-damaged", "later"))
    assert told == [DOWN]


def test_a_wait_for_nothing_under_way_ends_at_once() -> None:
    loads, told = PendingLoads(), []
    loads.when_settled([OF_A], told.append)
    assert told == [None]
    assert loads.wait([OF_A], 0)


def test_a_blocking_wait_says_false_after_its_time_and_raises_the_failure() -> None:
    loads = PendingLoads()
    ticket = loads.start(OF_A)
    assert not loads.wait([OF_A], 0)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(loads.wait, [OF_A], 30)
        loads.finish(ticket, DOWN)
        # Either the wait saw the failure, or it came after the end and there was none to see.
        failure = waiting.exception(30)
    assert failure in (DOWN, None)


def test_one_persons_failure_is_not_seen_by_another_and_two_waiters_share_one_read() -> None:
    """Scenario 20."""
    loads, reads, told = PendingLoads(), [], {"a": [], "a again": [], "b": []}
    slow = threading.Event()

    def read(key: InstanceKey) -> Iterable[Address]:
        reads.append(key)
        assert slow.wait(30)
        if key == OF_A:
            raise DOWN
        return ()

    with ThreadPoolExecutor(4) as pool:
        first = loads.load(PREFERENCES, A, read, pool.submit, told["a"].append)
        again = loads.load(PREFERENCES, A, read, pool.submit, told["a again"].append)
        loads.load(PREFERENCES, B, read, pool.submit, told["b"].append)
        slow.set()
    assert sorted(reads) == sorted([OF_A, OF_B])
    assert told == {"a": [DOWN], "a again": [DOWN], "b": [None]}
    assert first == again
    retried = loads.load(PREFERENCES, A, nothing_linked, at_once, told["a"].append)
    assert retried > first
    assert told["a"] == [DOWN, None]


def test_a_submit_that_raises_gives_the_entry_back_and_tells_its_waiters() -> None:
    loads, told = PendingLoads(), []
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(RuntimeError) as closed:
        loads.load(PREFERENCES, A, nothing_linked, pool.submit, told.append)
    assert told == [closed.value]
    assert loads.count(OF_A) == 0


def test_what_a_plain_call_raises_releases_every_entry_of_the_walk() -> None:
    loads, told = PendingLoads(), []
    links = [Address("proj", f"memory/{n}") for n in range(3)]

    def read(key: InstanceKey) -> Iterable[Address]:
        if key == OF_A:
            return links
        msg = "a bug"
        raise ZeroDivisionError(msg)

    with pytest.raises(ZeroDivisionError):
        loads.load(PREFERENCES, A, read, at_once, told.append)
    assert told == [None]  # of the root, which was read
    assert [loads.count(instance_key(link, A)) for link in links] == [0, 0, 0]


def test_links_are_followed_as_the_one_who_asked_and_circles_end() -> None:
    loads, reads, told = PendingLoads(), [], []
    index, note = Address("proj", "index"), Address("proj", "memory/x", "user")
    linked = {"index": [note, note], "memory/x": [index, Address("proj", "notes", "session")]}

    def read(key: InstanceKey) -> Iterable[Address]:
        reads.append(key)
        return linked.get(key.id, [])

    for who in (A, B):
        reads.clear()
        loads.load(index, who, read, at_once, told.append)
        notes = instance_key(Address("proj", "notes", "session"), who)
        assert reads == [instance_key(index, who), instance_key(note, who), notes]
    assert told == [None, None]


def test_a_link_that_the_asker_has_no_instance_of_is_left_out_and_such_a_root_refused() -> None:
    loads, reads = PendingLoads(), []
    nobody = Identity(None, None)

    def read(key: InstanceKey) -> Iterable[Address]:
        reads.append(key)
        return [PREFERENCES]

    loads.load(Address("proj", "index"), nobody, read, at_once, lambda failure: None)
    assert reads == [InstanceKey("proj", "space", "index")]
    with pytest.raises(ScopeKeyError):
        loads.load(PREFERENCES, nobody, read, at_once, lambda failure: None)


def test_a_chain_of_ten_thousand_links_is_no_recursion() -> None:
    loads, reads = PendingLoads(), []

    def read(key: InstanceKey) -> Iterable[Address]:
        reads.append(key)
        return [Address("proj", str(int(key.id) + 1))] if int(key.id) < 10_000 else []

    loads.load(Address("proj", "0"), A, read, at_once, lambda failure: None)
    assert len(reads) == 10_001


def test_a_thousand_loads_by_eight_threads_all_settle_and_leave_nothing_behind() -> None:
    loads, told = PendingLoads(), []
    addresses = [Address("proj", f"memory/{n % 20}", "user") for n in range(500)]

    def read(key: InstanceKey) -> Iterable[Address]:
        if key.id == "memory/3" and key.scope_key == OF_A.scope_key:
            raise DOWN
        return [Address("proj", "index"), Address("proj", "memory/7", "user")]

    with ThreadPoolExecutor(8) as readers, ThreadPoolExecutor(8) as askers:
        for address in addresses:
            for who in (A, B):
                ask: Any = loads.load
                askers.submit(ask, address, who, read, readers.submit, told.append)
        askers.shutdown()
        keys = {instance_key(address, who) for address in addresses for who in (A, B)}
        for key in keys - {instance_key(addresses[3], A)}:
            assert loads.wait([key], 30)
    assert len(told) == 1000
    assert set(told) == {None, DOWN}
    assert not any(loads.count(key) for key in keys)


def test_a_reservation_is_given_once_and_given_back_by_its_holder_alone() -> None:
    held = LoadReservations()
    mine = held.reserve(OF_A)
    assert mine is not None
    assert held.reserve(OF_A) is None
    assert held.reserve(OF_B) is not None
    mine.release()
    others = held.reserve(OF_A)
    assert others is not None
    mine.release()  # again: it is somebody else's now
    assert OF_A in held
    assert OF_B in held
    held.drop(OF_A)
    assert OF_A not in held


steps = st.lists(
    st.tuples(st.sampled_from(["start", "finish", "fail", "wait"]), st.integers(0, 5)), max_size=30
)


@quick
@given(steps)
def test_every_wait_ends_exactly_once_when_the_loads_it_met_have_ended(  # noqa: C901
    todo: list[tuple[str, int]],
) -> None:
    loads, open_tickets, waits = PendingLoads(), [], []
    for step, number in todo:
        key = (OF_A, OF_B)[number % 2]
        if step == "start":
            open_tickets.append(loads.start(key))
        elif step == "wait":
            met = [ticket for ticket in open_tickets if ticket.key == key]
            told: list[BaseException | None] = []
            loads.when_settled([key, key], told.append)
            waits.append((met, told))
        elif open_tickets:
            ticket = open_tickets.pop(number % len(open_tickets))
            loads.finish(ticket, DOWN if step == "fail" else None)
        for met, told in waits:
            if not met:
                assert told == [None]
            elif any(ticket in open_tickets for ticket in met):
                assert told == []
    for ticket in open_tickets:
        loads.finish(ticket)
    assert all(len(told) == 1 for _, told in waits)
