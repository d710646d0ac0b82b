"""How much of a brain a cached document holds: what could ever be told, best ranked first. Pure."""

from __future__ import annotations

from hooks.context.compose import ranked
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    from hooks.context.brains import Item
else:
    from hooks.record import NamedTuple

MOST_ITEMS = 500  # a session start tells about forty
MOST_CHARS = 1_000  # of one text; a line that is told is cut before that


class Shelf(NamedTuple):
    items: tuple[dict[str, object], ...]  # as ``Item.to_dict`` writes them
    left_out: int = 0


def shelve(items: Iterable[Item], max_bytes: int) -> Shelf:
    """Return what of ``items`` fits a document of ``max_bytes``.

    A document above its kind's limit would be a miss on every read, and a project with much to
    tell would be told nothing.
    """
    everything = ranked(items)
    shelved: list[dict[str, object]] = []
    room = max_bytes // 2  # the stamp is small; the rest is for texts that grow when escaped again
    for item in everything[:MOST_ITEMS]:
        row = cut(item).to_dict()
        room -= len(dumps(row)) + 1
        if room < 0:
            break
        shelved.append(row)
    return Shelf(tuple(shelved), len(everything) - len(shelved))


def cut(item: Item) -> Item:
    """Return a memory as a cached document holds it: enough of it for every line that is told."""
    if len(item.text) <= MOST_CHARS:
        return item
    return item._replace(text=item.text[:MOST_CHARS].rstrip() + " …")
