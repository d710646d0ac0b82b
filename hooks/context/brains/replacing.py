"""Who may replace what by what it supersedes: the one rule of all brains of ours."""

from __future__ import annotations

from hooks.context.brains import MIN_PREFIX
from hooks.context.brains.sight import FLEET, crosses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.brains import Item


def may_replace(new: Item, old: Item, space: str) -> bool:
    """Say whether ``new``, of the same ``space`` and scope as ``old``, hides it.

    A person's does. An agent's hides no person's word, and nothing by a lucky guess. What a
    person let cross projects is hidden only by what a person let cross too: else an agent of one
    project decided what another one is told. Everybody writes to the fleet, so before that an
    agent corrects only its own session's there.
    """
    if new.cls == "person":
        return True
    if old.cls == "person" or len(new.supersedes) < MIN_PREFIX:
        return False
    if new.accepted or not crosses(old, space):
        return True
    return not old.accepted and (space != FLEET or new.session == old.session)


def space_of(item: Item) -> str:
    """Return the space of a memory by what a reader sees of it."""
    return item.project or FLEET
