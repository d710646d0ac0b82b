"""Token buckets with an injected clock (part 1 section 7, scenario 32; part 2 section 7)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.wakeups import MOST_IDLE, Wake, WakeGroup, WakeShaper, coalesced

MINE = WakeGroup("proj", "user:a", "context")
THEIRS = WakeGroup("proj", "user:b", "context")


def released(shaper: WakeShaper, at_ms: int) -> list[int]:
    return [wake.commit for _, wakes in shaper.release(at_ms) for wake in wakes]


def test_ten_run_at_once_and_then_one_a_second_with_the_last_value() -> None:
    shaper = WakeShaper()
    now = [shaper.offer(MINE, Wake("notes", number, number), 1_000) for number in range(1, 51)]
    assert [len(one) for one in now] == [1] * 10 + [0] * 40
    assert released(shaper, 1_999) == []
    assert released(shaper, 2_000) == [50]
    assert released(shaper, 2_000) == []
    assert shaper.offer(MINE, Wake("notes", 51), 2_500) == ()
    assert released(shaper, 3_000) == [51]


def test_nobody_spends_anothers_tokens() -> None:
    shaper = WakeShaper()
    for number in range(1, 51):
        shaper.offer(MINE, Wake("notes", number), 1_000)
    assert shaper.offer(THEIRS, Wake("notes", 51), 1_000) == (Wake("notes", 51),)


def test_one_commit_costs_one_token_however_much_it_changed() -> None:
    shaper = WakeShaper()
    for number in range(50):
        assert shaper.offer(MINE, Wake(number, 7), 0)
    assert sum(bool(shaper.offer(MINE, Wake("x", 8 + n), 0)) for n in range(20)) == 9


def test_events_stay_in_their_order_and_data_keeps_the_last_of_each_item() -> None:
    wakes = [
        Wake("a", 1, "old"),
        Wake("e", 2, "first", is_event=True),
        Wake("b", 3, "only"),
        Wake("a", 4, "new"),
        Wake("e", 5, "second", is_event=True),
    ]
    assert [wake.value for wake in coalesced(wakes)] == ["first", "only", "new", "second"]


def test_a_group_that_runs_meanwhile_has_nothing_left_to_wait_for() -> None:
    shaper = WakeShaper(burst=1)
    shaper.offer(MINE, Wake("notes", 1), 0)
    shaper.offer(MINE, Wake("notes", 2), 0)
    assert (shaper.waiting, shaper.due_ms()) == (1, 1_000)
    shaper.settle(MINE)
    assert (shaper.waiting, shaper.due_ms(), released(shaper, 5_000)) == (0, None, [])


def test_a_clock_that_steps_back_starves_nobody() -> None:
    shaper = WakeShaper(burst=1)
    shaper.offer(MINE, Wake("notes", 1), 3_600_000)
    shaper.offer(MINE, Wake("notes", 2), 0)
    assert released(shaper, 1_000) == [2]


def test_buckets_of_the_idle_are_let_go() -> None:
    shaper = WakeShaper()
    for number in range(MOST_IDLE):
        shaper.offer(WakeGroup("proj", f"user:{number}", "context"), Wake("notes", 1), 0)
    assert len(shaper) == MOST_IDLE
    shaper.offer(MINE, Wake("notes", 1), 60_000)
    assert len(shaper) == 1


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 700), st.booleans()), max_size=60))
def test_no_window_holds_more_than_the_burst_and_the_refill_and_the_last_wake_comes_out(
    steps: list[tuple[int, bool]],
) -> None:
    shaper, at_ms, ran, last = WakeShaper(burst=3), 0, [], 0
    seen = 0
    for number, (wait_ms, offers) in enumerate(steps, start=1):
        at_ms += wait_ms
        out = [w for _, wakes in shaper.release(at_ms) for w in wakes]
        if out:
            ran.append(at_ms)
            seen = out[-1].commit
        if offers:
            last = number
            out = list(shaper.offer(MINE, Wake("notes", number), at_ms))
            if out:
                ran.append(at_ms)
                seen = out[-1].commit
    for start in ran:
        assert sum(start <= one < start + 2_000 for one in ran) <= 3 + 2
    if shaper.waiting:
        due = shaper.due_ms()
        assert due is not None
        out = [w for _, wakes in shaper.release(max(due, at_ms)) for w in wakes]
        seen = out[-1].commit
    assert seen == last
