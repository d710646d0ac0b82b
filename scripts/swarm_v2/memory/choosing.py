"""Which memories of an index are worth loading: ranked by what the index itself says. Pure.

The rank is the one of what is told (``compose.rank``), so that the memories loaded are those that
would be told first. An index of ten thousand is ranked without loading a single body.
"""

from __future__ import annotations

from hooks.context.brains import Item
from hooks.context.compose import rank
from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.document import is_link, parse_link
from scripts.swarm_v2.scope_key import SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import NamedTuple

    from scripts.swarm_v2.scope_key import Scope

    Links = dict[str, dict[str, object]]
    # A link of an index, not chosen yet: its slug, what is said of it, where it was read.
    Listed = tuple[str, dict[str, object], "Index"]
    # Slugs by what their rank is made of: class, severity, priority.
    Groups = dict[tuple[object, object, object], list[str]]
else:
    from hooks.record import NamedTuple

MOST_LOADED = 128  # a session start tells about forty
MOST_ENDING = MOST_LOADED // 2  # of them may have an end: those that are over cost no other's place


class Entry(NamedTuple):
    """One chosen link of an index: what it says of a memory, and where that is."""

    slug: str
    said: dict[str, object]
    address: Address


class Index(NamedTuple):
    """One index as it was read; ``section`` holds its memories, "" for by the link's scope."""

    space: str
    scope: Scope
    value: object
    section: str = ""


class Part(NamedTuple):
    """What of one index belongs to one section; a section is a list of these."""

    source: Index
    links: Links
    groups: Groups

    @property
    def size(self) -> int:
        return sum(map(len, self.groups.values()))


class Chosen(NamedTuple):
    entries: tuple[Entry, ...]
    left_out: int


def gather(
    indexes: Iterable[Index], names: Mapping[Scope, str], home: Sequence[str]
) -> dict[str, list[Part]]:
    """Return the links of every index by section; of one slug the first index's counts.

    ``names`` are the sections of links by their scope; what lies elsewhere and has its home in
    one of the spaces ``home`` is shown with what they hold.
    """
    found: dict[str, list[Part]] = {}
    taken: set[str] = set()
    for index in indexes:
        links = index.value.get("links") if isinstance(index.value, dict) else None
        if not isinstance(links, dict) or not links:
            continue
        news = links
        if not taken.isdisjoint(links):
            news = {slug: said for slug, said in links.items() if slug not in taken}
        elsewhere = bool(index.section)
        sections = _elsewhere(index, news, names, home) if elsewhere else _by_scope(news, names)
        for section, groups in sections.items():
            if groups:
                found.setdefault(section, []).append(Part(index, links, groups))
        taken.update(links)
    return found


def _by_scope(links: Links, names: Mapping[Scope, str]) -> dict[str, Groups]:
    # Ten thousand times on a session's way: each link is looked at once, and nothing is built.
    found: dict[str, Groups] = {name: {} for name in names.values()}
    by_scope = {scope: found[name] for scope, name in names.items()}
    for slug, said in links.items():
        try:
            groups = by_scope[said["memory"]["$link"].get("scope") or SPACE]  # type: ignore[index]
            who = (said.get("cls"), said.get("severity"), said.get("priority"))
            if who in groups:
                groups[who].append(slug)
            else:
                groups[who] = [slug]
        except (AttributeError, KeyError, TypeError):
            continue  # nothing that a memory could be found by
    return found


def _elsewhere(
    index: Index, links: Links, names: Mapping[Scope, str], home: Sequence[str]
) -> dict[str, Groups]:
    found: dict[str, Groups] = {}
    for slug, said in links.items():
        if isinstance(said, dict) and is_link(said.get("memory")):
            section = names[index.scope] if said.get("home") in home else index.section
            who = (said.get("cls"), said.get("severity"), said.get("priority"))
            found.setdefault(section, {}).setdefault(who, []).append(slug)
    return found


def choose(sections: Sequence[Sequence[Part]]) -> list[Chosen]:
    """Return the best-ranked of each section, at most ``MOST_LOADED`` of all.

    Each section has an equal part of the places; what one does not need goes to the first that
    can use it.
    """
    counts = [sum(part.size for part in parts) for parts in sections]
    rooms = [min(count, MOST_LOADED // max(len(counts), 1)) for count in counts]
    spare = MOST_LOADED - sum(rooms)
    for place, count in enumerate(counts):
        more = min(count - rooms[place], spare)
        rooms[place] += more
        spare -= more
    chosen = []
    ending = MOST_ENDING
    for parts, room, count in zip(sections, rooms, counts, strict=True):
        best = _best(parts, room, ending)
        ending -= sum("until" in said for _, said, _ in best)
        entries = tuple(Entry(slug, said, _address(index, said)) for slug, said, index in best)
        chosen.append(Chosen(entries, count - len(best)))
    return chosen


def _address(index: Index, said: dict[str, object]) -> Address:
    link = parse_link(said["memory"])
    return Address(index.space, link.id, link.scope or SPACE, link.path)


def _best(parts: Sequence[Part], room: int, ending: int) -> list[Listed]:
    """Return the first ``room`` by rank, then newest; no more than ``ending`` that have an end."""
    by_rank: dict[tuple[bool, int, int], list[tuple[Part, list[str]]]] = {}
    for part in parts:
        for (cls, severity, priority), slugs in part.groups.items():
            item = Item(
                "", "", "", _text(cls) or "agent", _text(severity), priority=_text(priority)
            )
            by_rank.setdefault(rank(item), []).append((part, slugs))
    best: list[Listed] = []
    for at in sorted(by_rank):
        if len(best) >= room:
            break
        group = [
            (slug, part.links[slug], part.source) for part, slugs in by_rank[at] for slug in slugs
        ]
        for one in sorted(group, key=_newness, reverse=True):
            ending -= "until" in one[1]
            if len(best) < room and ("until" not in one[1] or ending >= 0):
                best.append(one)
    return best


def _newness(listed: Listed) -> tuple[str, str]:
    return _text(listed[1].get("at")), listed[0]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
