"""``forget ID``: erase a memory everywhere; it never comes back, not from a transcript either."""

from __future__ import annotations

from hooks.context import keep
from hooks.context.burial import finish
from hooks.context.remote import UNKNOWN
from hooks.errors import BrainUnreachable, NotOneMemory
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.library import (
    NothingYetError,
    have_told,
    here,
    is_id,
    open_library,
    refresh,
    unfound,
)
from hooks.verbs.wording import one_line, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.brains import Item

TEXT_WIDTH = 100


def run(args: str, ctx: VerbCtx) -> str:
    if len(args.split()) != 1:
        raise VerbUsageError("forget", "it takes one id")
    wanted = args.lower()
    try:
        item = _meant(wanted, ctx)
    except (NothingYetError, NotOneMemory) as err:
        gone = _forgotten(wanted, ctx)
        if gone:
            finish(ctx.settings, ctx.env, ctx.at)  # a forget that died on the way
            return f"{short(gone)} is already forgotten."
        if isinstance(err, NotOneMemory):
            raise unfound(ctx, args.strip(), err) from None
        raise
    keep.forget(ctx.settings, ctx.env, ctx.at, item.id)
    _refresh(ctx, item)
    have_told(ctx, "refresh")
    said = f"Forgot {short(item.id)}{_from(item, ctx)}: {one_line(item.text, TEXT_WIDTH)}"
    stays = "It stays away, also when a transcript that holds it is read again."
    return "\n".join([said, stays, *_elsewhere(ctx, item.id)])


def _elsewhere(ctx: VerbCtx, key: str) -> list[str]:
    """Say what becomes of it at a brain service, also one of before: only our hub can forget."""
    from hooks.context.brain_adapter import brain_id, brain_kind
    from hooks.context.brains.service_notes import read

    present = brain_kind(ctx.settings) == "http"
    service = brain_id(ctx.settings) if present else _service_that_has(ctx, key)
    if not service:
        return []
    if read(ctx.settings.home, service).is_hub:
        when = "" if present else ", once it is configured again"
        return [f"The hub is told to forget it too{when}."]
    return ["The brain service cannot forget: it may keep its copy, and show it to others."]


def _service_that_has(ctx: VerbCtx, key: str) -> str:
    """Return the identity of the brain service that acknowledged the memory, else ""."""
    from hooks.context.ledger import Ledger

    ledger = Ledger.read_only(ctx.settings.home)
    if ledger is None:
        return ""
    try:
        receipt = ledger.receipt(key)
    finally:
        ledger.close()
    return receipt.brain if receipt and receipt.brain.startswith("url-") else ""


def _forgotten(wanted: str, ctx: VerbCtx) -> str:
    """Return the one forgotten memory whose id begins so, or ""."""
    from hooks.context.ledger_notes import Graves

    if not is_id(wanted):
        return ""
    found = [key for key in Graves(ctx.settings.home).keys if key.startswith(wanted)]
    return found[0] if len(found) == 1 else ""


def _from(item: Item, ctx: VerbCtx) -> str:
    """Name the memory's project where the person stands in another one."""
    here_id = here(ctx).id
    if not item.project:
        return "" if here_id == UNKNOWN else ", of no project"
    return "" if item.project == here_id else f", of {item.project}"


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
    from hooks.context.brains.sight import sight
    from hooks.context.ledger import Ledger
    from hooks.context.outbox import as_item

    ledger = Ledger.read_only(ctx.settings.home)
    if ledger is None:
        return []
    try:
        rows = [row for row in ledger.find(wanted) if row.state != "forgotten" and row.body]
    finally:
        ledger.close()
    mine = principal(ctx.settings)
    items = [as_item(row.document, mine) for row in rows]
    seen = sight("", mine, {})
    return [item for item in items if item is not None and seen.owns(item)]


def _refresh(ctx: VerbCtx, item: Item) -> None:
    try:
        brain = open_library(ctx)
    except (NothingYetError, BrainUnreachable):  # then there is nothing to make caches from
        return
    try:
        refresh(ctx, brain, [item])
    finally:
        brain.close()
