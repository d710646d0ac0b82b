"""``lessons [QUERY]``: what is remembered for this project; an id shows that memory whole.

``lessons --no-project`` lists what was kept for no project, and so is told to no session.
"""

from __future__ import annotations

from hooks.clock import iso
from hooks.context import outbox
from hooks.context.brain_adapter import principal
from hooks.context.compose import fold, is_key, severity
from hooks.context.lifetime import is_over
from hooks.errors import BrainUnreachable
from hooks.verbs import complaint
from hooks.verbs.library import (
    NotForThisBrainError,
    NothingYetError,
    here,
    is_id,
    may_cross,
    open_library,
)
from hooks.verbs.named import (
    how_to_change,
    is_of_another_session,
    named,
    narrowest,
    put_by_name,
)
from hooks.verbs.waiting import not_delivered
from hooks.verbs.wording import WHO, count, memory_line, minute, one_line, session_of, whose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hooks.context.brains import Item
    from hooks.context.project import Project
    from hooks.errors import HookError
    from hooks.verbs import VerbCtx
    from hooks.verbs.library import Library

MOST = 50  # lines of a list: about what a screen scrolls through
TEXT_WIDTH = 160
NO_PROJECT = "--no-project"
TOLD = ("preferences", "notes")  # documents that a session is told of, and no memories


def run(args: str, ctx: VerbCtx) -> str:
    try:
        brain = open_library(ctx)
    except (NothingYetError, NotForThisBrainError, BrainUnreachable) as err:
        if isinstance(err, NothingYetError) and outbox.is_empty(ctx.settings.home):
            return f"{err}.".capitalize()  # and the home, if there is none, stays absent
        return _on_disk(args, ctx, err)
    try:
        if args == NO_PROJECT:
            known = brain.unattributed() if hasattr(brain, "unattributed") else []
            items = _counting(_joined(known, not_delivered(ctx, homeless=True)), ctx)
            return _unattributed(items)
        waiting = not_delivered(ctx)
        if is_id(args):
            waits = [item for item in waiting if item.id.startswith(args.lower())]
            found = _joined(brain.find(args.lower()), waits)
            if found:
                return "\n\n".join(whole(item) for item in found[:MOST])
        if found := named(brain, args, ctx):
            return "\n\n".join(whole(item) for item in found)
        if args in TOLD:
            return _document(put_by_name(brain, args, ctx))
        return _found(brain, args, ctx, waiting) if args else _all(brain, ctx, waiting)
    finally:
        brain.close()


def whole(item: Item) -> str:
    """Write one memory with everything known of it."""
    grave = severity(item) or (f"({item.severity})" if item.severity else "")
    facts = [
        ("id", item.id),
        ("type", " ".join(part for part in (item.type, grave) if part)),
        ("said by", WHO.get(item.cls, item.cls)),
        ("when", minute(item.at)),
        ("project", item.project or "none"),
        ("until", minute(item.until) if item.until else ""),
        ("for", whose(item)),
        ("session", session_of(item)),
        ("path", item.path),
        ("state", _state(item)),
        ("change", how_to_change(item)),
    ]
    head = "\n".join(f"{name:<8} {one_line(value)}" for name, value in facts if value)
    return f"{head}\n\n{item.text}"


def _state(item: Item) -> str:
    if item.state == "superseded":
        return "replaced by a later text, kept as history"
    if item.state == "waiting":
        return "not delivered to the brain yet"
    if not may_cross(item):
        return ""
    return "accepted for every project" if item.accepted else "crosses projects once you accept it"


def _joined(known: Iterable[Item], waiting: Iterable[Item]) -> list[Item]:
    """Return both, each memory once: the brain's word goes before the outbox's."""
    items = {(item.id, item.scope_key): item for item in waiting}
    items.update(((item.id, item.scope_key), item) for item in known)
    return list(items.values())


def _counting(items: Iterable[Item], ctx: VerbCtx) -> list[Item]:
    """Return those whose time is not over: what is listed is what a session is told."""
    now = iso(ctx.at)
    return [item for item in items if not is_over(item.until, now)]


def _found(brain: Library, query: str, ctx: VerbCtx, waiting: list[Item]) -> str:
    project = here(ctx)
    ours = [item for item in waiting if item.project == project.id and matches(item, query)]
    items = _counting(_joined(brain.search(query, project.id, MOST), ours), ctx)
    return _matching(items, query, project)


def _matching(items: list[Item], query: str, project: Project) -> str:
    if not items:
        return f"Nothing in {_name(project)} matches {query!r}."
    verb = "matches" if len(items) == 1 else "match"
    lines = [f"{count(len(items), 'memory', 'memories')} of {_name(project)} {verb} {query!r}:"]
    lines += [f"  {memory_line(item, TEXT_WIDTH)}" for item in items]
    return "\n".join([*lines, _foot(items)])


def matches(item: Item, query: str) -> bool:
    """Say whether every word of ``query`` stands somewhere in the memory."""
    text = f"{item.text} {item.title}".casefold()
    return all(word in text for word in query.casefold().split())


def _all(brain: Library, ctx: VerbCtx, waiting: list[Item]) -> str:
    project = here(ctx)
    known = _counting(brain.project_memory(project.id, principal(ctx.settings)), ctx)
    items = _joined(known, (item for item in waiting if item.project == project.id))
    elsewhere = [item for item in items if is_of_another_session(item, ctx)]
    items = narrowest(item for item in items if not is_of_another_session(item, ctx))
    known_here = {item.id for item in items}
    feed = [item for item in _counting(brain.feed(), ctx) if item.id not in known_here]
    if not items and not feed and not elsewhere:
        return f"Nothing is remembered for {_name(project)} yet."
    lines = [f"{count(len(items), 'memory', 'memories')} for {_name(project)}:"]
    lines += _newest(items)
    if feed:
        lines += ["For everybody on this brain:", *_newest(feed)]
    if elsewhere:
        notes = count(len(elsewhere), "note")
        lines.append(f"{notes} of other sessions, for those alone; `lessons WORD` finds them too.")
    return "\n".join([*lines, _foot(items)])


def _unattributed(items: list[Item]) -> str:
    if not items:
        return "Every memory belongs to a project."
    lines = [f"{count(len(items), 'memory', 'memories')} for no project:", *_newest(items)]
    lines.append("`move ID`, said in a project's folder, gives one to it; `forget ID` removes it.")
    return "\n".join(lines)


def _document(how: HookError | None) -> str:
    return f"{how}.\n{how.hint}" if how else ""


def _name(project: Project) -> str:
    return project.label or "this folder, which belongs to no project"


def _on_disk(args: str, ctx: VerbCtx, why: HookError) -> str:
    """List what a session would be told now, where the brain itself cannot be asked."""
    from hooks.context.memory_view import Where, view

    head = complaint(why, f"From what is on disk, since {why}.")
    if args == NO_PROJECT:
        return f"{head}\n{_unattributed(not_delivered(ctx, homeless=True))}"
    waiting, project = not_delivered(ctx), here(ctx)
    seen = view(ctx.settings, ctx.env, Where(project.id, ctx.session_id, ctx.at))
    if seen.unreadable:
        head += f" {seen.unreadable} cannot be read: `doctor` says what to do."
    if args:
        known = _joined(seen.items, waiting)
        if is_id(args) and (hits := [one for one in known if one.id.startswith(args.lower())]):
            return "\n\n".join([head, *(whole(item) for item in hits[:MOST])])
        ours = _joined(seen.items, (item for item in waiting if item.project == project.id))
        hits = [item for item in ours if matches(item, args)]
        return f"{head}\n{_matching(hits[:MOST], args, project)}"
    lines = [head]
    for section in seen.sections:
        if section.items:
            lines += [f"{section.title}:", *_newest(list(section.items))]
    if len(lines) == 1:
        lines.append(f"Nothing is known for {_name(project)}.")
    return "\n".join(lines)


def _newest(items: list[Item]) -> list[str]:
    """Write the newest ones; what says almost the same is one line, as a session is told it."""
    groups = fold(sorted(items, key=lambda item: item.at, reverse=True))
    shown = groups[:MOST]
    lines = [f"  {memory_line(group[0], TEXT_WIDTH, len(group))}" for group in shown]
    left = len(items) - sum(map(len, shown))
    if left > 0:
        lines.append(f"  … {left} older; `lessons WORD` searches them all")
    return lines


def _foot(items: Iterable[Item]) -> str:
    """Say how one is looked at and changed; a name is changed in another way than a key."""
    if all(is_key(item.id) for item in items):
        return _FOOT
    return f"{_FOOT}\n{_FOOT_OF_NAMES}"


_FOOT = "`lessons ID` shows one whole; `forget ID`, `edit ID TEXT` change it."
_FOOT_OF_NAMES = (
    "What was put under a name: in a shell `brainhooks memory forget memory/NAME`, or `edit`."
)
