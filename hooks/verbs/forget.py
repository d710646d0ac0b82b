"""``forget ID``: erase a memory everywhere; it never comes back, not from a transcript either."""

from __future__ import annotations

from hooks.context import keep
from hooks.context.claims import drop_answers
from hooks.context.scrub import drop_cached, scrub_notes
from hooks.errors import BrainUnreachable, NotOneMemory
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.library import NothingYetError, is_id, open_library, refresh
from hooks.verbs.wording import one_line, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.brains import Item

TEXT_WIDTH = 100


def run(args: str, ctx: VerbCtx) -> str:
    if len(args.split()) != 1:
        raise VerbUsageError("forget", "it takes one id")
    item = _meant(args.lower(), ctx)
    keep.forget(ctx.settings, ctx.env, ctx.at, item.id)
    drop_cached(ctx.settings.home, item.id)
    scrub_notes(ctx.settings.home, item.id)
    drop_answers(ctx.settings.home, ctx.at)
    _refresh(ctx, item)
    said = f"Forgot {short(item.id)}: {one_line(item.text, TEXT_WIDTH)}"
    return f"{said}\nIt stays away, also when a transcript that holds it is read again."


def _meant(wanted: str, ctx: VerbCtx) -> Item:
    """Return the memory meant: the brain's, or one that only waits for a brain.

    Raises:
        NotOneMemory: none has this id, or several have.
        HookError: nothing that waits has it, and the brain cannot be asked.
    """
    if not is_id(wanted):
        raise NotOneMemory(wanted, 0)
    waiting = _waiting(wanted, ctx)
    try:
        known = _known(wanted, ctx)
    except (NothingYetError, BrainUnreachable):
        if not waiting:
            raise
        known = []
    found = {item.id: item for item in [*waiting, *known]}
    if len(found) != 1:
        raise NotOneMemory(wanted, len(found))
    return found.popitem()[1]


def _known(wanted: str, ctx: VerbCtx) -> list[Item]:
    brain = open_library(ctx)
    try:
        return brain.find(wanted)
    finally:
        brain.close()


def _waiting(wanted: str, ctx: VerbCtx) -> list[Item]:
    from hooks.context.brain_adapter import principal
    from hooks.context.ledger import Ledger
    from hooks.context.outbox import as_item

    ledger = Ledger.read_only(ctx.settings.home)
    if ledger is None:
        return []
    try:
        states = ("pending", "held", "quarantined")
        rows = [row for row in ledger.find(wanted) if row.state in states]
    finally:
        ledger.close()
    items = [as_item(row.document, principal(ctx.settings)) for row in rows]
    return [item for item in items if item is not None]


def _refresh(ctx: VerbCtx, item: Item) -> None:
    try:
        brain = open_library(ctx)
    except (NothingYetError, BrainUnreachable):  # then there is nothing to make caches from
        return
    try:
        refresh(ctx, brain, [item])
    finally:
        brain.close()
