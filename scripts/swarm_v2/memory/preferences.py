"""What a person wants to be told, and what a session notes for itself: two documents' shapes."""

from __future__ import annotations

from hooks.context.brains import Item
from scripts.swarm_v2.memory.document import MISSING
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.told import DEFAULT_UNITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

PREFERENCES, NOTES = "preferences", "notes"
SECTIONS = ("project", "person", "brain", "session")  # in the order in which they are told
UNITS = {"brief": 1_000, "normal": DEFAULT_UNITS, "full": DEFAULT_UNITS}
DEFAULT_PREFERENCES: dict[str, object] = {
    "style": "",
    "verbosity": "normal",
    "sections": list(SECTIONS),
}
DEFAULT_NOTES: dict[str, object] = {"goals": [], "files": [], "questions": []}


class Preferences(NamedTuple):
    style: str = ""  # the person's own words on how to work with them; told as such
    verbosity: str = "normal"
    sections: tuple[str, ...] = SECTIONS  # those wanted, in the order wanted


def read_preferences(value: object) -> Preferences:
    """Read the document ``preferences``; MISSING gives the defaults, as does a member left out.

    Raises:
        MemoryRefused: ``derivation-failed``, saying what is malformed.
    """
    if value is MISSING:
        return Preferences()
    if not isinstance(value, dict):
        raise _malformed("it is no object")
    style, verbosity = value.get("style", ""), value.get("verbosity", "normal")
    wanted = value.get("sections", list(SECTIONS))
    if not isinstance(style, str):
        raise _malformed("style is no text")
    if not isinstance(verbosity, str) or verbosity not in UNITS:
        raise _malformed("verbosity is none of " + ", ".join(UNITS))
    if not isinstance(wanted, list) or not all(one in SECTIONS for one in wanted):
        raise _malformed("sections is no list of " + ", ".join(SECTIONS))
    return Preferences(style.strip(), str(verbosity), tuple(dict.fromkeys(wanted)) or SECTIONS)


def _malformed(what: str) -> MemoryRefused:
    hint = "brainhooks memory edit preferences --scope user"
    return MemoryRefused("derivation-failed", f"the preferences are malformed: {what}", hint)


def style_item(style: str, scope_key: str) -> Item:
    return Item(PREFERENCES, "style", style, cls="person", scope_key=scope_key)


def note_items(value: object, scope_key: str) -> list[Item]:
    """Return the notes of a session, one for each member that says something, by name."""
    if isinstance(value, str) and value.strip():
        return [Item(NOTES, "note", value.strip(), scope_key=scope_key)]
    if not isinstance(value, dict):
        return []
    found = []
    for name in sorted(value):
        said = value[name]
        texts = [one for one in said if isinstance(one, str)] if isinstance(said, list) else [said]
        text = "; ".join(one.strip() for one in texts if isinstance(one, str) and one.strip())
        if text:
            found.append(Item(f"{NOTES}/{name}", name, text, scope_key=scope_key))
    return found
