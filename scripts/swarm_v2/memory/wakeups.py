"""How often what wakes may run: a token bucket for each instance of each derivation.

A chatty session rebuilds its own results at most ten times at once and then once a second, and
spends nobody else's tokens. What has to wait is held here, the newest of each item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

BURST = 10
REFILL_MS = 1_000
MOST_IDLE = 1_024  # buckets beyond which the full ones are dropped: full is what a new one is


class WakeGroup(NamedTuple):
    """Who shares one bucket: one instance of one derivation of one space."""

    space: str
    scope_key: str
    node: str


class Wake(NamedTuple):
    """One cause. Events are kept, each in its order; of data only the last of an item counts."""

    item: object
    commit: int = 0  # where it came from, which costs one token however much it changed; 0: own
    value: object = None
    is_event: bool = False


class _Bucket:
    """``since`` is when the last whole token came in."""

    def __init__(self, tokens: int, at_ms: int) -> None:
        self.tokens, self.since = tokens, at_ms
        self.paid = 0  # the commit that the last token was spent on
        self.queue: list[Wake] = []


class WakeShaper:
    """The clock, in milliseconds, is an argument of each call; it may step back."""

    def __init__(self, burst: int = BURST, refill_ms: int = REFILL_MS) -> None:
        self._burst, self._refill_ms = burst, refill_ms
        # boundary: wake shaping, by space, scope key and derivation.
        self._buckets: dict[WakeGroup, _Bucket] = {}
        # boundary: wake shaping, the groups that have a queue.
        self._waiting: dict[WakeGroup, None] = {}

    def offer(self, group: WakeGroup, wake: Wake, at_ms: int) -> tuple[Wake, ...]:
        """Return what may run now: nothing, or all that the group held, ``wake`` the last."""
        bucket = self._bucket(group, at_ms)
        if wake.commit and wake.commit == bucket.paid and not bucket.queue:
            return (wake,)
        bucket.queue.append(wake)
        self._waiting[group] = None
        return self._spend(group, bucket)

    def release(self, at_ms: int) -> list[tuple[WakeGroup, tuple[Wake, ...]]]:
        """Return what waited and may run now."""
        out = []
        for group in list(self._waiting):
            released = self._spend(group, self._bucket(group, at_ms))
            if released:
                out.append((group, released))
        return out

    def settle(self, group: WakeGroup) -> None:
        """Forget what waits of a group: it runs now, and reads the newest of everything."""
        bucket = self._buckets.get(group)
        if bucket is not None:
            bucket.queue.clear()
        self._waiting.pop(group, None)

    def drop(self, group: WakeGroup) -> None:
        """Forget a group that is no more."""
        self._buckets.pop(group, None)
        self._waiting.pop(group, None)

    def due_ms(self) -> int | None:
        """Return when the first of what waits may run; None where nothing waits."""
        return min(
            (self._buckets[one].since + self._refill_ms for one in self._waiting), default=None
        )

    @property
    def waiting(self) -> int:
        """Return how many groups wait."""
        return len(self._waiting)

    def __len__(self) -> int:
        return len(self._buckets)

    def _spend(self, group: WakeGroup, bucket: _Bucket) -> tuple[Wake, ...]:
        if not bucket.tokens:
            return ()
        bucket.tokens -= 1
        bucket.paid = bucket.queue[-1].commit
        released = coalesced(bucket.queue)
        self.settle(group)
        return released

    def _bucket(self, group: WakeGroup, at_ms: int) -> _Bucket:
        bucket = self._buckets.get(group)
        if bucket is None:
            self._sweep(at_ms)
            bucket = self._buckets[group] = _Bucket(self._burst, at_ms)
        self._refill(bucket, at_ms)
        return bucket

    def _refill(self, bucket: _Bucket, at_ms: int) -> None:
        whole = max(0, at_ms - bucket.since) // self._refill_ms
        bucket.tokens = min(self._burst, bucket.tokens + whole)
        bucket.since += whole * self._refill_ms
        if bucket.tokens == self._burst or at_ms < bucket.since:
            bucket.since = at_ms  # a full one gains nothing; a clock that stepped back starts anew

    def _sweep(self, at_ms: int) -> None:
        if len(self._buckets) < MOST_IDLE:
            return
        for group, bucket in list(self._buckets.items()):
            self._refill(bucket, at_ms)
            if bucket.tokens == self._burst and not bucket.queue:
                del self._buckets[group]


def coalesced(wakes: Sequence[Wake]) -> tuple[Wake, ...]:
    """Return every event, and of each item of data the last wake, in the order they came."""
    last = {wake.item: place for place, wake in enumerate(wakes) if not wake.is_event}
    return tuple(
        wake for place, wake in enumerate(wakes) if wake.is_event or last[wake.item] == place
    )
