"""What scoped memory must show, worked out slowly: from the rows as they lie there, anew each time.

Nothing of the engine is used but the words for keys (``scope_key``) and for values (``document``).
The lines that a context tells are written by ``compose``, as for every brain.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hooks.context.brains import Item
from hooks.context.compose import Section, compose
from scripts.swarm_v2.memory.document import MISSING, at, is_link, parse_link
from scripts.swarm_v2.scope_key import (
    DirtyKey,
    Identity,
    ScopeKeyError,
    resolve_scope_key,
)

if TYPE_CHECKING:
    from tests.support.memory_rows import Rows

SCOPES = ("space", "user", "session")
SECTIONS = {
    "project": "This project",
    "person": "This person",
    "brain": "From this brain",
    "session": "This session",
}
BUDGETS = {"brief": 1_000, "normal": 3_000, "full": 3_000}
MOST_HOPS = 16


class Faulty(Exception):
    """A result that cannot be made for this identity: the last good one stays."""


class Oracle:
    """What each identity may see of one space, with the spaces that its context reads besides."""

    def __init__(self, rows: Rows, space: str, person: str, fleet: str) -> None:
        self.space, self.person, self.fleet = space, person, fleet
        self.states = {one: rows.state(one) for one in (space, person, fleet)}
        self.rows = self.states[space]
        self.values = {key: row.value for key, row in self.rows.items() if row.value is not MISSING}

    def read(self, id: str, scope: str, who: Identity, path: Any = (), space: str = "") -> Any:
        """Return what ``who`` reads there, redirects followed into its own instances."""
        state = self.states[space or self.space]
        key, path = DirtyKey(self._key(scope, who), id), tuple(path)
        passed = [key]
        while True:
            value = state[key].value if key in state else MISSING
            if not is_link(value):
                return at(value, path)
            link = parse_link(value)
            key, path = DirtyKey(self._key(link.scope, who), link.id), (*link.path, *path)
            if key in passed or len(passed) > MOST_HOPS:
                raise Faulty("link-circle")
            passed.append(key)

    def _key(self, scope: str | None, who: Identity) -> str:
        try:
            return resolve_scope_key(scope, who)
        except ScopeKeyError:
            raise Faulty("identity-missing") from None

    def result(self, name: str, who: Identity) -> Any:
        """Return what is stored of a derivation for ``who``."""
        return self.read(name, "user" if name == "status" else "space", who)

    def derive(self, name: str, who: Identity) -> Any:
        """Return what should be stored of it, in the form of ``comparable``."""
        return {"context": self._context, "digest": self._digest, "status": self._status}[name](who)

    def _context(self, who: Identity) -> Any:
        style, verbosity, wanted = _preferences(self.read("preferences", "user", who))
        items: dict[str, list[Item]] = {name: [] for name in wanted}
        for name, slug, place, address in self._listed(who):
            if name in items:
                id, scope, path = address
                value = self.read(id, scope, who, path, place)
                if isinstance(value, dict) and isinstance(value.get("text"), str):
                    items[name].append(self._item(slug, value, place, scope, who))
        if style and "person" in items:
            key = self._key("user", who)
            items["person"].append(Item("preferences", "style", style, "person", scope_key=key))
        if "session" in items:
            items["session"] += self._noted(self.read("notes", "session", who), who)
        told = [(name, items[name]) for name in wanted if items[name]]
        sections = [Section(SECTIONS[name], some) for name, some in told]
        return {
            "plan": [name for name, _ in told],
            "sections": [(SECTIONS[name], sorted(some)) for name, some in told],
            "text": compose(self.space, sections, budget=BUDGETS[verbosity]).text,
            "budget": BUDGETS[verbosity],
            "project": self.space,
        }

    def _listed(self, who: Identity) -> list[tuple[str, str, str, Any]]:
        """Return section, slug, space and target of every link; of a slug the first one counts."""
        indexes = [(self.space, scope, "") for scope in reversed(SCOPES)]
        indexes += [(self.person, "user", "person"), (self.fleet, "space", "brain")]
        names = {"space": "project", "user": "person", "session": "session"}
        taken: set[str] = set()
        found = []
        for space, scope, section in indexes:
            links = _links(self.read("index", scope, who, (), space))
            for slug in links.keys() - taken:
                link = _target(links[slug])
                if link is not None:
                    here = section or names[link[1]]
                    found.append((here, slug, space, link))
            taken |= links.keys()
        return found

    def _item(self, slug: str, value: Any, space: str, scope: str, who: Identity) -> Item:
        said = {name: one for name, one in value.items() if isinstance(one, str)}
        said = {"type": "memory", **({"project": space} if space == self.space else {}), **said}
        said |= {"id": slug, "scope_key": self._key(scope, who), "state": "live"}
        item = Item.from_dict({**said, "accepted": value.get("accepted") is True})
        assert item is not None
        return item

    def _noted(self, notes: Any, who: Identity) -> list[Item]:
        found = []
        for name, said in notes.items() if isinstance(notes, dict) else ():
            some = said if isinstance(said, list) else [said]
            text = "; ".join(one for one in some if isinstance(one, str) and one)
            if text:
                key = self._key("session", who)
                found.append(Item(f"notes/{name}", name, text, scope_key=key))
        return found

    def _digest(self, who: Identity) -> Any:
        links = _links(self.read("index", "space", who))
        own = [one for one in links.values() if (_target(one) or ("", ""))[1] == "space"]
        types = [one["type"] for one in own if one.get("type")]
        return {"memories": len(own), "types": {one: types.count(one) for one in types}}

    def _status(self, who: Identity) -> Any:
        try:
            style, verbosity, wanted = _preferences(self.read("preferences", "user", who))
            told = {"style": style, "verbosity": verbosity, "sections": list(wanted)}
        except Faulty:
            told = None
        try:
            shared = self._digest(who)
        except Faulty:
            shared = comparable("digest", self.result("digest", who))
        return {
            "shared": shared,
            "own": len(_links(self.read("index", "user", who))),
            "preferences": told,
            "errors": sorted(node for node, _ in self.faults(who)),
        }

    def faults(self, who: Identity) -> list[tuple[str, str]]:
        """Return derivation and scope key of every fault recorded where ``who`` is told of it."""
        found = []
        for scope in ("space", "user"):
            document = self.read("faults", scope, who)
            for node, some in (document if isinstance(document, dict) else {}).items():
                found += [(node, key) for key in some]
        return found


def comparable(name: str, value: Any) -> Any:
    """Return a stored result in the form of ``Oracle.derive``."""
    if not isinstance(value, dict):
        return value
    if name == "context":
        kept = {one: value[one] for one in ("plan", "text", "budget", "project")}
        items = [[Item.from_dict(one) for one in some["items"]] for some in value["sections"]]
        titles = [some["title"] for some in value["sections"]]
        return {
            **kept,
            "sections": [(t, sorted(i)) for t, i in zip(titles, items, strict=True)],
        }
    if name == "digest":
        return {"memories": value["memories"], "types": value["types"]}
    return {
        "shared": {name: value["shared"][name] for name in ("memories", "types")},
        "own": value["own"]["memories"],
        "preferences": value["preferences"],
        "errors": sorted(one["node"] for one in value["errors"]),
    }


def _links(index: Any) -> dict[str, Any]:
    links = index.get("links") if isinstance(index, dict) else None
    return links if isinstance(links, dict) else {}


def _target(said: Any) -> tuple[str, str, tuple[str, ...]] | None:
    memory = said.get("memory") if isinstance(said, dict) else None
    if not is_link(memory):
        return None
    link = parse_link(memory)
    return link.id, link.scope or "space", link.path


def _preferences(value: Any) -> tuple[str, str, tuple[str, ...]]:
    if not isinstance(value, dict):
        value = {}
    style, verbosity = value.get("style", ""), value.get("verbosity", "normal")
    wanted = value.get("sections", list(SECTIONS))
    fits = isinstance(style, str) and verbosity in BUDGETS and isinstance(wanted, list)
    if not fits or not set(wanted) <= SECTIONS.keys():
        return _preferences({})
    return style.strip(), verbosity, tuple(dict.fromkeys(wanted)) or tuple(SECTIONS)


_MARK = re.compile(r"w(\d+)p(\d)(?:s(\d))?w")


def mark(number: int, scope: str, person: int, session: int) -> str:
    """Return a word that says whose it is: nobody else may ever be shown it."""
    whose = {"space": "", "user": f"p{person}", "session": f"p{person}s{session}"}
    return f"w{number}{whose[scope]}w"


def foreign_marks(text: str, person: int | None, session: int | None) -> list[str]:
    """Return the words in a text that neither this person nor this session wrote for itself."""
    return [
        found[0]
        for found in _MARK.finditer(text)
        if person is None or found[2] != str(person) or found[3] not in (None, str(session))
    ]
