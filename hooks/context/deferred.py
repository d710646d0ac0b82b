"""Context that a session start could not show: composed by the worker, told at the next prompt."""

from __future__ import annotations

import os

from hooks.clock import iso
from hooks.context import injections, project_cache
from hooks.context.brain_adapter import namespace
from hooks.context.compose import Source, compose
from hooks.context.memory_view import Where, view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import NamedTuple

    from hooks.context.memory_view import View
    from hooks.settings import Settings
else:
    from hooks.record import NamedTuple


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
    sources = injections.rows_of(composed.sources)
    payload: dict[str, object] = {"text": composed.text, "sources": sources}
    space = namespace(settings)
    project_cache.defer_project_context(
        settings.home, space, where.session_id, payload, at=where.at
    )
    return True


class Deferred(NamedTuple):
    """What waited for a session."""

    waited: bool
    text: str = ""  # to be said as it is: nothing on this disk says it better
    claimed: str = ""  # path to remove once it was said
    again: frozenset[str] = frozenset()  # memories that a killed hook may have noted and not said


def deliver(settings: Settings, seen: View, session_id: str, event: str, at: datetime) -> Deferred:
    """Take what waits for the session.

    Memories that can be told by now are told anew, with all that is news: some of them may be
    told, changed or forgotten since they were left to wait. Else they are recorded as injected
    before they are said, so that they are not news.
    """
    home, space = settings.home, namespace(settings)
    claimed = project_cache.document_path(home, space, "pending", session_id) + ".taken"
    is_repeat = os.path.exists(claimed)
    taken = project_cache.take_project_context(home, space, session_id, at=at)
    if taken is None:
        return Deferred(waited=False)
    payload, claimed = taken
    text = str(payload.get("text", ""))
    sources = [Source(ids, line) for ids, line in injections.pairs(payload.get("sources"))]
    ids = frozenset(one for source in sources for one in source.ids)
    if sources and (seen.items or seen.unreadable or ids & seen.buried):
        return Deferred(True, "", claimed, ids if is_repeat else frozenset())
    try:
        injections.note(home, session_id, event, text, sources, at=iso(at))
    except OSError as err:  # told all the same; only ``explain`` knows less
        from hooks.log import log

        log(home, iso(at), event, session_id, f"the record of what was told: {err}")
    return Deferred(True, text, claimed)
