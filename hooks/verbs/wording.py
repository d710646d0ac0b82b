"""How verbs write ids, dates and memories; dates, never ages."""

from __future__ import annotations

from hooks.clock import parse_iso
from hooks.context.compose import severity, shown_id
from scripts.swarm_v2.scope_key import SESSION, USER, parse_scope_key, scope_of
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.brains import Item

WHO = {"person": "you", "agent": "agent"}


def short(key: str) -> str:
    """Return an id as lists and answers have it; the beginning of a key is enough for a verb."""
    return one_line(shown_id(key))


def day(at: str) -> str:
    """Write the day of an ISO instant as ``2026-11-30`` (UTC); a dash where there is none."""
    when = parse_iso(at)
    return f"{when:%Y-%m-%d}" if when else "-"


def minute(at: str) -> str:
    when = parse_iso(at)
    return f"{when:%Y-%m-%d %H:%M} UTC" if when else "-"


# C0 but tab and newline, DEL, C1, and what turns the direction of a line: a terminal acts on them.
_TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ACTING = (*range(9), *range(11, 32), *range(127, 160), *_TURNING)
_PLAIN = dict.fromkeys(_ACTING, "\ufffd")


def plain(text: str) -> str:
    """Return a text in which nothing is left that a terminal would obey; blanks stay blanks."""
    return text.replace("\r", " ").replace("\f", " ").replace("\v", " ").translate(_PLAIN)


def label(document_id: str) -> str:
    """Write a document's id so that it is one word of a line and forges none.

    What a terminal shows as something else than its letters, and blanks that could pass for
    columns, stand in it as JSON has them.
    """
    odd = not document_id.isprintable() or document_id.startswith(('"', " "))
    if odd or document_id.endswith(" ") or "  " in document_id:
        return dumps(document_id).replace("  ", " \\u0020")
    return document_id


def one_line(text: str, width: int = 0) -> str:
    """Fold all blanks; with ``width``, cut to so many characters, the last one then ``…``."""
    folded = " ".join(plain(text).split())
    return folded[: width - 1].rstrip() + "…" if 0 < width < len(folded) else folded


def memory_line(item: Item, width: int = 0, times: int = 1) -> str:
    """Write ``3f2a9c11  2026-11-30  lesson     text  (agent, high)``; noted so many times."""
    notes = [
        WHO.get(item.cls, item.cls),
        severity(item),
        one_line(item.path),
        whose(item),
        "not delivered yet" if item.state == "waiting" else "",
        f"noted {times} times" if times > 1 else "",
    ]
    said = ", ".join(note for note in notes if note)
    text = one_line(item.text, width)
    return f"{short(item.id):<8}  {day(item.at):<10}  {one_line(item.type):<9}  {text}  ({said})"


def whose(item: Item) -> str:
    """Say of a personal memory and of a session's note what they are; "" for a project's."""
    instance = scope_of(item.scope_key)
    if instance == USER:
        return "personal"
    return f"only session {one_line(session_of(item))[:8]}" if instance == SESSION else ""


def session_of(item: Item) -> str:
    """Return whose session a session's memory is, by its instance: its text need not say it."""
    parsed = parse_scope_key(item.scope_key)
    return (parsed.session_id if parsed else None) or item.session


def size(number: object) -> str:
    """Write a number of bytes as ``812 B``, ``1.2 MB``; a megabyte is a million bytes."""
    value = float(str(number))
    for unit in ("B", "kB", "MB"):
        if value < 999.5:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.5 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
