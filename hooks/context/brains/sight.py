"""Who may see which memory of a brain of ours: the one rule, for spaces that aliases join."""

from __future__ import annotations

from hooks.context.remote import apply_alias
from hooks.errors import HookError
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key, sessions_prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple

    from hooks.context.brains import Item
else:
    from hooks.record import NamedTuple

FLEET = "fleet"  # the space of what was shared with everybody
UNKNOWN = "unknown"  # the space of what belongs to no known project


def aliases(home: str) -> dict[str, str]:
    """Return the person's project aliases; a damaged registry joins nothing (status says so)."""
    from hooks.context import registry

    try:
        return dict(registry.load(home).aliases)
    except HookError:
        return {}


class Sight(NamedTuple):
    """One principal's sight of one project; ``""`` and ``unknown`` show nothing of their own."""

    project: str
    mine: str  # the key of what is this principal's
    run: str  # the beginning of what its sessions noted: no other principal's is longer
    aliases: Mapping[str, str]

    def owns(self, item: Item) -> bool:
        """Say whether this principal may see it at all."""
        return item.scope_key in ("space", self.mine) or item.scope_key.startswith(self.run)

    def shows(self, item: Item, space: str) -> bool:
        """Say whether the project's memory has it: its own, and what is personal and accepted."""
        if item.scope_key == self.mine and item.accepted:
            return True
        if self.project in ("", UNKNOWN) or not self.owns(item):
            return False
        return apply_alias(space, self.aliases) == apply_alias(self.project, self.aliases)


def sight(project: str, who: str, joined: Mapping[str, str]) -> Sight:
    mine = resolve_scope_key("user", Identity(who))
    return Sight(project, mine, sessions_prefix(who), joined)


def crosses(item: Item, space: str) -> bool:
    """Say whether it would be seen in other projects, once a person accepted it."""
    return item.type == "signal" or space == FLEET or item.scope_key != "space"
