"""What no brain has acknowledged yet, as the memories that it will be."""

from __future__ import annotations

from hooks.context import outbox
from hooks.context.brain_adapter import principal
from hooks.context.brains.sight import sight
from hooks.context.remote import UNKNOWN, apply_alias
from hooks.errors import StateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from hooks.context.brains import Item
    from hooks.verbs import VerbCtx

MOST = 1_000  # outbox files read for one answer, the newest


def not_delivered(ctx: VerbCtx, *, homeless: bool = False) -> list[Item]:
    """Return what waits in the outbox, the newest first; ``homeless``: only what has no project.

    An aliased project is the one it is now.
    """
    if outbox.is_empty(ctx.settings.home):
        return []
    mine, aliases = principal(ctx.settings), _aliases(ctx.settings.home)
    items, seen = [], sight("", mine, {})
    for document in outbox.newest(ctx.settings.home, MOST):
        item = outbox.as_item(document, mine)
        if item is not None and seen.owns(item) and (_is_homeless(document) or not homeless):
            items.append(item._replace(project=apply_alias(item.project, aliases)))
    return items


def _is_homeless(document: Mapping[str, object]) -> bool:
    """Say whether it goes to no project; what is shared with everybody goes to all."""
    attrs = document["attrs"]
    assert isinstance(attrs, dict)
    return attrs.get("share") != "fleet" and attrs.get("project_id", UNKNOWN) == UNKNOWN


def _aliases(home: str) -> Mapping[str, str]:
    from hooks.context import registry

    try:
        return registry.load(home).aliases
    except StateError:
        return {}
