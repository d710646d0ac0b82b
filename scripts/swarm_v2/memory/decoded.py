"""Large values as they were read last, decoded: reading one again costs a look at its head.

An index of ten thousand links takes tens of milliseconds to decode, and everybody's context is
made from it. What is kept is what the store holds now: a value that moved by patches is patched,
any other is read anew.
"""

from __future__ import annotations

from scripts.swarm_v2.memory import sqlite_rows
from scripts.swarm_v2.memory.document import merge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from hooks.context.database import Database
    from scripts.swarm_v2.memory.sqlite_rows import Head, Place
else:
    from hooks.record import NamedTuple

MOST = 8 << 20  # characters of all that are kept; decoded they take about six times as much


class _Kept(NamedTuple):
    at: Head
    value: object


class DecodedValues:
    """Of one store, of states that were committed. Values are shared: change none."""

    def __init__(self) -> None:
        # boundary: decoded values, by instance, with its scope key; the one used last stands last.
        self._kept: dict[Place, _Kept] = {}

    def value(self, db: Database, place: Place, at: Head) -> object:
        """Return the value of a live head, as ``sqlite_rows.value``."""
        kept = self._kept.pop(place, None)
        if size(at) < sqlite_rows.LARGE:
            return sqlite_rows.value(db, place, at)
        if kept is None or not _leads_to(kept.at, at):
            value = sqlite_rows.value(db, place, at)
        elif kept.at == at:
            value = kept.value
        else:
            value = kept.value
            for patch in sqlite_rows.patches(db, place, (kept.at.seq, kept.at.op_index)):
                value = merge(value, patch)
        self._kept[place] = _Kept(at, value)
        self._shrink()
        return value

    def clear(self) -> None:
        self._kept.clear()

    def _shrink(self) -> None:
        while len(self._kept) > 1 and sum(size(one.at) for one in self._kept.values()) > MOST:
            del self._kept[next(iter(self._kept))]


def size(at: Head) -> int:
    """Return how many characters of stored text a live value is put together from."""
    return at.base_bytes + at.patch_bytes


def _leads_to(old: Head, new: Head) -> bool:
    """Say whether only patches lie between two heads: they stand upon the same whole value."""
    same = (old.base_seq, old.base_index, old.snap) == (new.base_seq, new.base_index, new.snap)
    return same and (old.seq, old.op_index) <= (new.seq, new.op_index)
