"""Tell a session something once: compose, record, and leave the door's note."""

from __future__ import annotations

import os

from hooks import atomic
from hooks.clock import iso
from hooks.context import injections, project_cache
from hooks.context.brain_adapter import brain_kind, namespace
from hooks.context.compose import GONE, compose, print_of
from hooks.context.memory_view import Where, view, watched
from hooks.context.scope_log import valid_session
from hooks.quick import door_note, signature
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hooks.context import switch
    from hooks.context.brains import Item
    from hooks.context.compose import Composed
    from hooks.context.deferred import Deferred
    from hooks.context.memory_view import View
    from hooks.ctx import Ctx
    from hooks.settings import Settings

    Reader = Callable[[Settings, Mapping[str, str], Where], View]

NEWS_UNITS = 1_500  # news interrupt a prompt; the rest is a command away


def where(ctx: Ctx) -> Where:
    session = ctx.event.session_id
    return Where(ctx.project.id, session if valid_session(session) else "", ctx.at)


def memory_off(ctx: Ctx) -> switch.Off | None:
    """Return the stretch that forbids telling anything now, after noting it for the door."""
    from hooks.context import switch

    place = where(ctx)
    before = {switch.path(ctx.settings.home): signature(switch.path(ctx.settings.home))}
    off = switch.load(ctx.settings.home).off(ctx.at, place.project, place.session_id)
    if off is not None and not off.until:
        _leave_note(ctx, before)
    return off


def look(ctx: Ctx, read: Reader = view) -> tuple[View, dict[str, str]]:
    """Return what may be told now, and the signatures of its files taken before they were read.

    Signatures first: a file that changes in between is news next time, never missed.
    """
    place = where(ctx)
    paths = list(watched(ctx.settings, place))
    if place.session_id:
        space = namespace(ctx.settings)
        home = ctx.settings.home
        paths.append(project_cache.document_path(home, space, "pending", place.session_id))
    before = {path: signature(path) for path in paths}
    return read(ctx.settings, ctx.env, place), before


def news(ctx: Ctx, seen: View, room: int, deferred: Deferred) -> Composed:
    """Compose what this session was not told yet, or otherwise, in at most ``room`` units.

    Its own markers are no news to it. What was told and is gone since is taken back.
    """
    session = where(ctx).session_id
    told = injections.told(ctx.settings.home, session)
    sections = [
        section._replace(
            items=[
                item
                for item in section.items
                if (item.id in deferred.again or not is_told(ctx, told, item))
                and (item.session != session or item.cls == "person")
            ]
        )
        for section in seen.sections
    ]
    most = ctx.settings.budget_units if deferred.waited else NEWS_UNITS
    budget = min(most, ctx.settings.budget_units, room)
    return compose(ctx.project.id, sections, budget=budget, gone=_gone(ctx, seen, told))


def is_told(ctx: Ctx, told: Mapping[str, str], item: Item) -> bool:
    """Say whether a session was told a memory as it is; only a page's text changes under an id."""
    said = told.get(item.id, GONE)
    changes = brain_kind(ctx.settings) == "file"
    return said != GONE and (said in ("", print_of(item)) or not changes)


def _gone(ctx: Ctx, seen: View, told: Mapping[str, str]) -> list[str]:
    """Return what was told and is forgotten; of a folder also what lies no more in it.

    What was replaced is no news of its own: what replaced it is.
    """
    there = {item.id for item in seen.items}
    left = [key for key, said in told.items() if said != GONE and key not in there]
    everything = seen.complete and not any(section.left_out for section in seen.sections)
    if brain_kind(ctx.settings) != "file" or not everything:
        return [key for key in left if key in seen.buried]
    by = tuple(item.supersedes for item in seen.items if item.supersedes)
    replaced = {key for key in left if any(key.startswith(one) for one in by)}
    return [key for key in left if key in seen.buried or key not in replaced]


def record(ctx: Ctx, told: Composed, before: dict[str, str]) -> None:
    """Note what was told, then what the door may compare: in this order, so a kill repeats.

    A home that cannot be written still tells: only ``explain`` and the door know less then.
    """
    record_only(ctx, told)
    try:
        _leave_note(ctx, before)
    except OSError as err:
        ctx.log(f"the note for the next prompt: {err}")


def record_only(ctx: Ctx, told: Composed) -> None:
    session = where(ctx).session_id
    if session and told.text:
        home, name = ctx.settings.home, ctx.event.name
        try:
            injections.note(home, session, name, told.text, told.sources, at=iso(ctx.at))
        except OSError as err:
            ctx.log(f"the record of what was told: {err}")


def _leave_note(ctx: Ctx, watch: dict[str, str]) -> None:
    session = where(ctx).session_id
    if session:
        path = door_note(ctx.settings.home, session)
        atomic.write(path, dumps({"watch": watch}).encode("ascii"), durable=False)


def first_time_here(ctx: Ctx) -> bool:
    """Say whether no session of this project was greeted before; true once."""
    from scripts.swarm_v2.digest import short_digest

    folder = os.path.join(ctx.settings.home, "brain", "greeted")
    try:
        atomic.make_folder(folder)
        path = os.path.join(folder, short_digest(ctx.project.id.encode("utf-8", "replace")))
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    except OSError as err:
        ctx.log(f"the note of who was greeted: {err}")
        return False
    return True
