"""Which memories of an index are worth loading: ranked by what the index itself says. Pure.

The rank is the one of what is told (``compose.rank``), so that the memories loaded are those that
would be told first. An index of ten thousand is ranked without loading a single body.
"""

from __future__ import annotations

from hooks.context.brains import Item
from hooks.context.compose import rank
from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.document import is_link, parse_link
from scripts.swarm_v2.memory.memories import slug_of
from scripts.swarm_v2.scope_key import SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NamedTuple

    from scripts.swarm_v2.scope_key import Scope
else:
    from hooks.record import NamedTuple

MOST_LOADED = 128  # a session start tells about forty
MOST_ENDING = MOST_LOADED // 2  # of them may have an end: those that are over cost no other's place


class Entry(NamedTuple):
    """One link of an index: what it says of a memory, and where that is."""

    slug: str
    said: dict[str, object]
    address: Address


class Index(NamedTuple):
    """One index as it was read; ``section`` holds its memories, "" for by the link's scope."""

    space: str
    scope: Scope
    value: object
    section: str = ""


class Chosen(NamedTuple):
    entries: tuple[Entry, ...]
    left_out: int


def gather(
    indexes: Iterable[Index], names: dict[Scope, str], home: Sequence[str]
) -> dict[str, list[Entry]]:
    """Return the entries of every index by section; of one slug the first index's counts.

    ``names`` are the sections of links by their scope; what lies elsewhere and has its home in
    one of the spaces ``home`` is shown with what they hold.
    """
    found: dict[str, list[Entry]] = {}
    taken: set[str] = set()
    for index in indexes:
        links = index.value.get("links") if isinstance(index.value, dict) else None
        for slug, said in links.items() if isinstance(links, dict) else ():
            if slug in taken or not isinstance(said, dict) or not is_link(said.get("memory")):
                continue
            taken.add(slug)
            body = said["memory"]["$link"]
            scope = body.get("scope") or SPACE
            section = index.section or names[scope]
            if index.section and said.get("home") in home:
                section = names[index.scope]
            found.setdefault(section, []).append(Entry(slug, said, _address(index, body, scope)))
    return found


def _address(index: Index, body: dict[str, object], scope: Scope) -> Address:
    if body.keys() <= {"id", "scope"} and slug_of(str(body.get("id"))):
        return Address(index.space, str(body["id"]), scope)
    link = parse_link({"$link": body})
    return Address(index.space, link.id, scope, link.path)


def choose(sections: Sequence[Sequence[Entry]]) -> list[Chosen]:
    """Return the best-ranked of each section, at most ``MOST_LOADED`` of all.

    Each section has an equal part of the places; what one does not need goes to the first that
    can use it.
    """
    counts = [len(entries) for entries in sections]
    rooms = [min(count, MOST_LOADED // max(len(counts), 1)) for count in counts]
    spare = MOST_LOADED - sum(rooms)
    for place, count in enumerate(counts):
        more = min(count - rooms[place], spare)
        rooms[place] += more
        spare -= more
    chosen = []
    ending = MOST_ENDING
    for entries, room in zip(sections, rooms, strict=True):
        best = _best(entries, room, ending)
        ending -= sum("until" in entry.said for entry in best)
        chosen.append(Chosen(tuple(best), len(entries) - len(best)))
    return chosen


def _best(entries: Sequence[Entry], room: int, ending: int) -> list[Entry]:
    """Return the first ``room`` by rank, then newest; no more than ``ending`` that have an end."""
    if len(entries) <= min(room, ending):
        return list(entries)
    groups: dict[tuple[object, ...], list[Entry]] = {}
    for entry in entries:
        said = entry.said
        who = (said.get("cls"), said.get("severity"), said.get("priority"))
        groups.setdefault(who, []).append(entry)
    by_rank: dict[tuple[bool, int, int], list[Entry]] = {}
    for (cls, severity, priority), group in groups.items():
        item = Item("", "", "", _text(cls) or "agent", _text(severity), priority=_text(priority))
        by_rank.setdefault(rank(item), []).extend(group)
    best: list[Entry] = []
    for _, group in sorted(by_rank.items()):
        if len(best) >= room:
            break
        for entry in sorted(group, key=_newness, reverse=True):
            ending -= "until" in entry.said
            if len(best) < room and ("until" not in entry.said or ending >= 0):
                best.append(entry)
    return best


def _newness(entry: Entry) -> tuple[str, str]:
    return _text(entry.said.get("at")), entry.slug


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
