"""``review``: what agents made this week, and what they propose; the person keeps or drops it."""

from __future__ import annotations

from hooks.context import proposals
from hooks.errors import NotOneMemory
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.wording import count, day, one_line, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.ledger import Receipt

TEXT_WIDTH = 200
HOW = "`review ID` shows one whole, `review keep ID` keeps it, `review drop ID` forgets it."
NOTHING = "Nothing to review: no agent made or proposed a memory this week that you have not seen."


def run(args: str, ctx: VerbCtx) -> str:
    words = args.split()
    if words in ([], ["--list"]):
        return listed(ctx)
    if len(words) == 2 and words[0] in ("keep", "drop"):
        return decide(ctx, words[0], _one(ctx, words[1].lower()))
    if len(words) == 1 and words[0] not in ("keep", "drop"):
        return whole(_one(ctx, words[0].lower()))
    raise VerbUsageError("review", f"{args!r} is not understood here")


def items(ctx: VerbCtx) -> list[Receipt]:
    """Return what waits for the person's judgement, proposals first."""
    found = proposals.to_review(ctx.settings.home, ctx.at)
    gone = _replaced(ctx, [one.key for one in found if one.state != "held"])
    return [one for one in found if one.key not in gone]


def _replaced(ctx: VerbCtx, keys: list[str]) -> set[str]:
    """Return those that the brain shows no more: a person edited them, a later one replaced them.

    Where the brain cannot be asked, none is left out.
    """
    from hooks.errors import HookError
    from hooks.verbs.library import open_library

    if not keys:
        return set()
    try:
        brain = open_library(ctx)
    except HookError:
        return set()
    try:
        return {
            key
            for key in keys
            for item in brain.find(key)
            if item.id == key and item.state == "superseded"
        }
    except HookError:
        return set()
    finally:
        brain.close()


def listed(ctx: VerbCtx) -> str:
    found = items(ctx)
    if not found:
        return NOTHING
    lines = [f"{count(len(found), 'memory', 'memories')} to review:"]
    lines += [f"  {line(one)}" for one in found]
    return "\n".join([*lines, HOW])


def line(one: Receipt, width: int = TEXT_WIDTH) -> str:
    """Write one memory: its head, its text cut to ``width`` (0: whole), and ``_notes``."""
    return f"{_head(one)}  {one_line(_text(one), width)}  {_notes(one)}"


def whole(one: Receipt) -> str:
    """Write one memory with all of its text, line by line."""
    source = one_line(_attr(one, proposals.ATTRIBUTE))
    origin = f"proposed from session {source}" if source else ""
    head = [part for part in (f"{_head(one)}  {_notes(one)}", origin) if part]
    return "\n".join([*head, "", _text(one), "", HOW])


def _head(one: Receipt) -> str:
    what = "proposal" if one.state == "held" else one.type
    return f"{short(one.key)}  {day(one.at)}  {what:<9}"


def _notes(one: Receipt) -> str:
    """Write how grave it is and where it belongs."""
    notes = [one_line(_attr(one, "severity")), one.project or "no project"]
    return f"({', '.join(note for note in notes if note)})"


def _text(one: Receipt) -> str:
    return str(one.document.get("content", ""))


def _attr(one: Receipt, name: str) -> str:
    attrs = one.document.get("attrs")
    return str(attrs.get(name, "")) if isinstance(attrs, dict) else ""


def row(one: Receipt) -> dict[str, object]:
    """Return one memory for another program."""
    return {
        "key": one.key,
        "state": one.state,
        "type": one.type,
        "text": _text(one),
        "project": one.project,
        "session": one.session,
        "at": one.at,
        "proposed_from": _attr(one, proposals.ATTRIBUTE),
    }


def _one(ctx: VerbCtx, wanted: str) -> Receipt:
    found = [one for one in items(ctx) if len(wanted) >= 4 and one.key.startswith(wanted)]
    if len(found) != 1:
        err = NotOneMemory(wanted, len(found))
        if not found:
            err.args = (
                f"nothing to review has the id {wanted!r}; what was judged is not asked again",
            )
        err.hint = "take an id from brainhooks review --list; eight characters are enough"
        raise err
    return found[0]


def decide(ctx: VerbCtx, what: str, one: Receipt) -> str:
    """Keep or drop one memory and say so."""
    text = one_line(_text(one), TEXT_WIDTH)
    if what == "drop":
        drop(ctx, one)
        return f"Dropped {short(one.key)}: {text}"
    if not proposals.keep(ctx.settings, ctx.at, one):
        return f"Not kept, it was dropped meanwhile: {short(one.key)}"
    waits = deliver(ctx) if one.state == "held" else ""
    return "\n".join(part for part in (f"Kept {short(one.key)}: {text}", waits) if part)


def drop(ctx: VerbCtx, one: Receipt) -> None:
    """Forget it everywhere and for good, as ``forget`` does."""
    from hooks.context.keep import forget
    from hooks.context.scrub import drop_cached, scrub_notes

    forget(ctx.settings, ctx.env, ctx.at, one.key)
    drop_cached(ctx.settings.home, one.key)
    scrub_notes(ctx.settings.home, one.key)


def deliver(ctx: VerbCtx) -> str:
    from hooks.verbs.remember import deliver as post

    return post(ctx)


def edit(ctx: VerbCtx, one: Receipt, text: str) -> str:
    """Keep it in the person's words; what the agent said stays in its history."""
    from hooks.verbs.edit import run as correct

    if one.state == "held":
        decide(ctx, "keep", one)
    return correct(f"{one.key} {text}", ctx)
