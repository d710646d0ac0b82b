"""A mapping that many owners share until one of them writes.

Two hundred sessions that watch the same ten thousand documents hold one copy of the rows, and
each only its own changes.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.document import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Generic, TypeVar

    K = TypeVar("K")
    V = TypeVar("V")
else:  # importing typing costs more than all of this module's work

    class Generic:
        __slots__ = ()

        def __class_getitem__(cls, _: object) -> object:
            return cls

    K = V = None


class Overlay(Generic[K, V]):
    """A ``dict`` in what it answers; ``fork`` gives an independent one, sharing what is equal."""

    __slots__ = ("_base", "_own", "_size")

    def __init__(self, base: dict[K, V] | None = None) -> None:
        """Take ``base`` over: nobody may change it afterwards."""
        self._base: dict[K, V] = {} if base is None else base
        self._own: dict[K, Any] = {}
        self._size = len(self._base)

    def __len__(self) -> int:
        return self._size

    def __contains__(self, key: object) -> bool:
        if key in self._own:
            return self._own[key] is not MISSING
        return key in self._base

    def __getitem__(self, key: K) -> V:
        found: V = self._own[key] if key in self._own else self._base[key]
        if found is MISSING:
            raise KeyError(key)
        return found

    def get(self, key: K, default: V | None = None) -> V | None:
        try:
            return self[key]
        except KeyError:
            return default

    def __setitem__(self, key: K, value: V) -> None:
        self._size += key not in self
        self._own[key] = value

    def pop(self, key: K, default: V | None = None) -> V | None:
        """Take a key out and return what it had."""
        if key not in self:
            return default
        value = self[key]
        self._size -= 1
        if key in self._base:
            self._own[key] = MISSING
        else:
            del self._own[key]
        return value

    def __iter__(self) -> Iterator[K]:
        for key in self._base:
            if key not in self._own:
                yield key
        for key, mine in self._own.items():
            if mine is not MISSING:
                yield key

    def keys(self) -> Iterator[K]:
        return iter(self)

    def items(self) -> Iterator[tuple[K, V]]:
        for key in self:
            yield key, self[key]

    def values(self) -> Iterator[V]:
        for key in self:
            yield self[key]

    def fork(self) -> Overlay[K, V]:
        """Return an equal mapping; from now on neither sees what the other writes."""
        if self._own:
            self._base, self._own = dict(self.items()), {}
        return Overlay(self._base)
