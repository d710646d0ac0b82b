"""What a person wants to be told, and what a session notes for itself: two documents' shapes."""

from __future__ import annotations

from hooks.context.brains import Item
from scripts.swarm_v2.memory.document import MISSING
from scripts.swarm_v2.memory.reserved import NOTES as NOTES
from scripts.swarm_v2.memory.reserved import PREFERENCES as PREFERENCES
from scripts.swarm_v2.memory.reserved import SECTIONS as SECTIONS
from scripts.swarm_v2.memory.reserved import preferences_fault
from scripts.swarm_v2.memory.told import DEFAULT_UNITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

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
    cls: str = "person"  # who wrote the style: "agent" where an agent's shell did


def read_preferences(value: object) -> Preferences:
    """Read the document ``preferences``; MISSING gives the defaults, as does a member left out.

    So does what is malformed, as an older version may have stored it: no memory waits for it to
    be mended, and ``status`` and ``doctor`` say that it should be.
    """
    if not isinstance(value, dict) or preferences_fault(value):
        return Preferences()
    style, verbosity = str(value.get("style", "")), str(value.get("verbosity", "normal"))
    sections = tuple(dict.fromkeys(value.get("sections", SECTIONS))) or SECTIONS
    return Preferences(style.strip(), verbosity, sections, str(value.get("cls", "person")))


def malformed(value: object) -> str:
    """Say what is wrong with stored preferences, and what is done; "" where nothing is."""
    fault = "" if value is MISSING else preferences_fault(value)
    return fault and f"the preferences are malformed: {fault}; the defaults are used"


def style_item(wanted: Preferences, scope_key: str) -> Item:
    return Item(PREFERENCES, "style", wanted.style, cls=wanted.cls, scope_key=scope_key)


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
