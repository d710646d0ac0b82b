"""A memory as documents: ``memory/<slug>`` itself, and its link in the ``index`` of its instance.

The two are always written in one commit. An index links the memories of its own instance only:
the space's those of the project, a person's that person's, a session's that session's. So a
private note neither wakes anybody nor shows that it exists.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.document import make_link
from scripts.swarm_v2.memory.store import Write
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from scripts.swarm_v2.scope_key import Scope

INDEX = "index"
PREFIX = "memory/"
PERSON = "person"  # the space of what a person lets cross projects: user instances only
FLEET = "fleet"  # the space of what was accepted for everybody
SHELF = "shelf"  # rows of no known project: nobody opens a session in it, nothing indexes it
DERIVED = ("context", "digest", "status")  # made from memories: they repeat their words
SUMMARY_CHARS = 120
MOST_INDEX = 3 << 20  # characters of an index: some 15,000 memories; then the least are not linked
_COPIED = ("type", "cls", "severity", "at", "priority", "until", "home")


def document_id(slug: str) -> str:
    return PREFIX + slug


def slug_of(document: str) -> str | None:
    """Return the slug of a memory's document id; None for every other document."""
    return document[len(PREFIX) :] or None if document.startswith(PREFIX) else None


def entry_of(slug: str, value: Mapping[str, object], scope: Scope) -> dict[str, object]:
    """Return what an index says of one memory; what is empty is left out."""
    text = str(value.get("text", ""))
    summary = " ".join(text[: 2 * SUMMARY_CHARS].split())
    if len(summary) > SUMMARY_CHARS:
        summary = summary[: SUMMARY_CHARS - 2].rstrip() + " …"
    said = {"title": value.get("title", ""), "summary": summary}
    said |= {name: value.get(name, "") for name in _COPIED}
    kept: dict[str, object] = {name: what for name, what in said.items() if what}
    kept["memory"] = make_link(document_id(slug), scope)
    return kept


def writes_for(
    slug: str,
    value: Mapping[str, object],
    scope_key: str,
    scope: Scope,
    *,
    base: int | None = None,
    is_new: bool = False,
) -> tuple[Write, Write]:
    """Return the memory's ``set`` and the patch that links it; ``base`` is the memory's.

    ``is_new`` spares the patch what takes an earlier entry's members away.
    """
    entry = entry_of(slug, value, scope)
    if not is_new:
        entry = {**dict.fromkeys(("title", "summary", *_COPIED)), **entry}
    return (
        Write(document_id(slug), scope_key, "set", dict(value), base),
        Write(INDEX, scope_key, "patch", {"links": {slug: entry}}),
    )


def unlinked(slug: str, scope_key: str) -> Write:
    """Return the patch that takes a memory out of the index; its words stay in the history."""
    return Write(INDEX, scope_key, "patch", {"links": {slug: None}})


def erased(slug: str, scope_key: str) -> tuple[Write, Write]:
    """Return what leaves no word of a memory in its instance: the text, and its link's history."""
    gone = {"links": {slug: None}}
    return (
        Write(document_id(slug), scope_key, "erase"),
        Write(INDEX, scope_key, "erase", gone),
    )


def least(links: Mapping[str, object], chars: int) -> list[str]:
    """Return slugs to unlink, so that at least ``chars`` characters of an index become free.

    The oldest go first, an agent's before a person's. The memories stay; they are only not told
    to a starting session, which is told the best-ranked hundred.
    """
    found, free = [], 0
    for slug in sorted(links, key=lambda slug: _standing(links[slug])):
        if free >= chars:
            break
        free += len(dumps(links[slug])) + len(slug) + 4
        found.append(slug)
    return found


def _standing(entry: object) -> tuple[bool, str]:
    said = entry if isinstance(entry, dict) else {}
    return (said.get("cls") == "person", str(said.get("at", "")))
