"""The last step from a ``context`` value to what one recipient is told. Pure.

Hook and server both use it and nothing else, so that they say the same bytes. All that depends
on who is told, where and when is in ``Facts``; the value is the same for every recipient.
"""

from __future__ import annotations

from hooks.context.brains import Item
from hooks.context.brains.replacing import may_replace, space_of
from hooks.context.compose import Composed, Section, Source, compose
from hooks.context.lifetime import is_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

WAITING = "Just marked, not delivered yet"
DEFAULT_UNITS = 3_000  # of a text that is stored: the default of BRAIN_CONTEXT_BUDGET


class Facts(NamedTuple):
    """What only the moment of telling knows."""

    project: str  # as it stands in the frame
    now: str  # as ``clock.iso`` writes it
    budget: int = DEFAULT_UNITS
    how_to: bool = False
    waiting: tuple[Item, ...] = ()  # marked here and not delivered yet
    buried: frozenset[str] = frozenset()  # ids that were forgotten


def tell(value: object, facts: Facts) -> Composed:
    """Return what a recipient is told of a ``context`` value; of None, what waits alone."""
    if _is_as_stored(value, facts):
        assert isinstance(value, dict)
        return Composed(value["text"], _sources(value["sources"]), _left_out(value))
    budget = facts.budget
    wish = value.get("budget") if isinstance(value, dict) else None
    if isinstance(wish, int) and wish < DEFAULT_UNITS:  # the person wants it shorter
        budget = min(budget, wish)
    return compose(facts.project, sections(value, facts), budget=budget, how_to=facts.how_to)


def sections(value: object, facts: Facts) -> list[Section]:
    """Return what may be told, in its order: live, not forgotten, each memory once.

    What a waiting marker is about to hide is hidden already; the waiting ones come last.
    """
    known = set(facts.buried)
    found = []
    waiting = list(facts.waiting)
    for section in stored_sections(value):
        items = [item for item in section.items if not is_over(item.until, facts.now)]
        items = [item for item in items if item.id not in known]
        known.update(item.id for item in items)
        found.append(section._replace(items=items))
    waiting = [item for item in waiting if item.id not in known]
    shown = [
        section._replace(items=[item for item in section.items if not _hidden(item, waiting)])
        for section in found
    ]
    return [*shown, Section(WAITING, waiting)]


def stored_sections(value: object) -> list[Section]:
    """Return the sections of a value as they were composed; [] of anything else."""
    rows = value.get("sections") if isinstance(value, dict) else None
    found = []
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, dict) or not isinstance(row.get("items"), list):
            continue
        items = [item for item in map(Item.from_dict, row["items"]) if item is not None]
        left_out = row.get("left_out")
        count = left_out if isinstance(left_out, int) else 0
        found.append(Section(str(row.get("title", "")), items, count))
    return found


def _is_as_stored(value: object, facts: Facts) -> bool:
    """Say whether composing again would give the stored text."""
    if not isinstance(value, dict) or facts.how_to or facts.waiting or facts.buried:
        return False
    same_frame = value.get("project") == facts.project
    most = value.get("budget")
    fits = most == facts.budget or (
        isinstance(most, int) and most < DEFAULT_UNITS and most < facts.budget
    )
    until = value.get("until")
    return same_frame and fits and isinstance(until, str) and not is_over(until, facts.now)


def _sources(rows: Sequence[dict[str, object]]) -> tuple[Source, ...]:
    return tuple(
        Source(_texts(row["ids"]), str(row["line"]), _texts(row["prints"])) for row in rows
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _left_out(value: dict[str, object]) -> int:
    found = value.get("left_out", 0)
    return found if isinstance(found, int) else 0


def _hidden(item: Item, waiting: Sequence[Item]) -> bool:
    """Say whether a waiting marker is about to hide ``item``, by the rule the brain applies."""
    return any(
        new.supersedes
        and item.id.startswith(new.supersedes)
        and item.scope_key == new.scope_key
        and may_replace(new, item, space_of(item))
        for new in waiting
    )
