"""Context that a session start could not show: composed by the worker, told at the next prompt."""

from __future__ import annotations

from hooks.clock import iso
from hooks.context import injections, project_cache
from hooks.context.brain_adapter import namespace
from hooks.context.compose import Source, compose
from hooks.context.memory_view import Where, view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hooks.settings import Settings


def defer(settings: Settings, env: Mapping[str, str], where: Where) -> bool:
    """Leave what the session was not told yet; say whether there was anything.

    Raises:
        ValueError: ``installation.json`` breaks its grammar.
    """
    told = {one for row in injections.read(settings.home, where.session_id) for one in row.ids}
    sections = [
        section._replace(items=[item for item in section.items if item.id not in told])
        for section in view(settings, env, where).sections
    ]
    composed = compose(where.project, sections, budget=settings.budget_units)
    if not composed.text:
        return False
    sources = [{"ids": list(source.ids), "line": source.line} for source in composed.sources]
    payload: dict[str, object] = {"text": composed.text, "sources": sources}
    space = namespace(settings)
    project_cache.defer_project_context(
        settings.home, space, where.session_id, payload, at=where.at
    )
    return True


def deliver(settings: Settings, session_id: str, event: str, at: datetime) -> tuple[str, str]:
    """Take what waits for the session: (text, path to remove once it is printed), or ("", "").

    It is recorded as injected before it is printed, so that the same memories are not news.
    """
    home = settings.home
    taken = project_cache.take_project_context(home, namespace(settings), session_id, at=at)
    if taken is None:
        return "", ""
    payload, claimed = taken
    text = str(payload.get("text", ""))
    sources = [Source(ids, line) for ids, line in injections.pairs(payload.get("sources"))]
    try:
        injections.note(home, session_id, event, text, sources, at=iso(at))
    except OSError as err:  # told all the same; only ``explain`` knows less
        from hooks.log import log

        log(home, iso(at), event, session_id, f"the record of what was told: {err}")
    return text, claimed
