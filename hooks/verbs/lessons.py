"""``lessons [QUERY]``: what is remembered for this project; an id shows that memory whole."""

from __future__ import annotations

from hooks.context import outbox
from hooks.context.brain_adapter import principal
from hooks.errors import BrainUnreachable
from hooks.verbs.library import NothingYetError, here, is_id, open_library
from hooks.verbs.wording import WHO, count, memory_line, minute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.brains import Item
    from hooks.context.project import Project
    from hooks.errors import HookError
    from hooks.verbs import VerbCtx
    from hooks.verbs.library import Library

MOST = 50  # lines of a list: about what a screen scrolls through
TEXT_WIDTH = 160
STATES = {
    "superseded": "replaced by a later text, kept as history",
    "waiting": "waits until you accept it for other projects",
}


def run(args: str, ctx: VerbCtx) -> str:
    try:
        brain = open_library(ctx)
    except (NothingYetError, BrainUnreachable) as err:
        if isinstance(err, NothingYetError) and outbox.is_empty(ctx.settings.home):
            return f"{err}.".capitalize()  # and the home, if there is none, stays absent
        return _on_disk(ctx, err)
    try:
        if is_id(args):
            found = brain.find(args.lower())
            if found:
                return "\n\n".join(whole(item) for item in found[:MOST])
        return _found(brain, args, ctx) if args else _all(brain, ctx)
    finally:
        brain.close()


def whole(item: Item) -> str:
    """Write one memory with everything known of it."""
    facts = [
        ("id", item.id),
        ("type", " ".join(part for part in (item.type, item.severity) if part)),
        ("said by", WHO.get(item.cls, item.cls)),
        ("when", minute(item.at)),
        ("project", item.project or "none"),
        ("session", item.session),
        ("path", item.path),
        ("state", STATES.get(item.state, "accepted" if item.accepted else "")),
    ]
    head = "\n".join(f"{name:<8} {value}" for name, value in facts if value)
    return f"{head}\n\n{item.text}"


def _found(brain: Library, query: str, ctx: VerbCtx) -> str:
    project = here(ctx)
    items = brain.search(query, project.id, MOST)
    if not items:
        return f"Nothing in {_name(project)} matches {query!r}."
    lines = [f"{count(len(items), 'memory', 'memories')} of {_name(project)} match {query!r}:"]
    lines += [f"  {memory_line(item, TEXT_WIDTH)}" for item in items]
    return "\n".join([*lines, _FOOT])


def _all(brain: Library, ctx: VerbCtx) -> str:
    project = here(ctx)
    items = brain.project_memory(project.id, principal(ctx.settings))
    feed = [item for item in brain.feed() if item.id not in {known.id for known in items}]
    if not items and not feed:
        return f"Nothing is remembered for {_name(project)} yet."
    lines = [f"{count(len(items), 'memory', 'memories')} for {_name(project)}:"]
    lines += _newest(items)
    if feed:
        lines += ["For everybody on this brain:", *_newest(feed)]
    return "\n".join([*lines, _FOOT])


def _name(project: Project) -> str:
    return project.label or "this folder, which belongs to no project"


def _on_disk(ctx: VerbCtx, why: HookError) -> str:
    """List what a session would be told now, where the brain itself cannot be asked."""
    from hooks.context.memory_view import Where, view

    project = here(ctx)
    seen = view(ctx.settings, ctx.env, Where(project.id, ctx.session_id, ctx.at))
    lines = [f"From what is on disk, since {why}."]
    for section in seen.sections:
        if section.items:
            lines += [f"{section.title}:", *_newest(list(section.items))]
    if len(lines) == 1:
        lines.append(f"Nothing is known for {_name(project)}.")
    return "\n".join(lines)


def _newest(items: list[Item]) -> list[str]:
    newest = sorted(items, key=lambda item: item.at, reverse=True)
    lines = [f"  {memory_line(item, TEXT_WIDTH)}" for item in newest[:MOST]]
    left = len(items) - MOST
    if left > 0:
        lines.append(f"  … {left} older; `lessons WORD` searches them all")
    return lines


_FOOT = "`lessons ID` shows one whole; `forget ID`, `edit ID TEXT` change it."
