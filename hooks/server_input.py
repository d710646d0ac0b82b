"""What the agent gives the server door of an event: every field as a text, "" for what is absent.

A hook that is a tool is called with its fields filled into a template, and whatever a field was,
it arrives as a text. Here each gets back the kind that standard input gives it.
Two things cannot be told any more, and no handler asks for them: a field that was absent from one
that was empty; and a tool's answer that was a text from one that was the object this text spells.
"""

from __future__ import annotations

from scripts.swarm_v2.wire_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Of the fields that the template asks for; every other one is a text.
DOCUMENTS = ("tool_input", "tool_response")  # an object, a list; the answer may be a text, too
NUMBERS = ("index", "duration_ms")
SWITCHES = ("final", "is_interrupt")
_SWITCHED = {"true": True, "false": False}


def restored(given: Mapping[str, object]) -> dict[str, object]:
    """Return the fields as standard input would have given them."""
    return {
        name: _value(name, value) if isinstance(value, str) else value
        for name, value in given.items()
        if value != ""
    }


def _value(name: str, text: str) -> object:
    if name in DOCUMENTS:
        return _document(text)
    if name in SWITCHES:
        return _SWITCHED.get(text, text)
    if name in NUMBERS and text.isascii() and text.isdigit() and len(text) < 20:
        return int(text)
    return text


def _document(text: str) -> object:
    if text[0] not in "{[":
        return text
    try:
        return loads(text)
    except ValueError:  # a text that only begins like one
        return text
