"""What a person keeps, corrects and forgets: the same outbox, the same receipts, at once."""

from __future__ import annotations

from hooks.clock import iso
from hooks.context import outbox
from hooks.context.attribution import moved
from hooks.context.brain_adapter import brain_id
from hooks.context.brains import open_for_person
from hooks.context.collect import Kept
from hooks.context.keeping import Keeper, Origin
from hooks.context.ledger import Ledger
from hooks.context.ledger_damage import heals
from hooks.context.ledger_notes import Tombstone, bury
from hooks.context.markers import TYPES
from hooks.context.thought import digest_of, think
from hooks.errors import BrainConflict, BrainRefused, BrainUnreachable
from scripts.swarm_v2.scope_key import scope_of
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import NamedTuple, Protocol

    from hooks.context.brains import Item
    from hooks.context.scope_log import Transition
    from hooks.settings import Settings

    class Mover(Protocol):
        def move(self, key: str, project: str) -> bool: ...

else:
    from hooks.record import NamedTuple

PERSON = "person"


class Place(NamedTuple):
    """Where and when a person speaks; ``scope`` is None where no project is known."""

    session: str
    at: datetime
    prompt_id: str = ""
    scope: Transition | None = None


def place(
    settings: Settings, env: Mapping[str, str], at: datetime, session: str, cwd: str
) -> Place:
    """Return the person's place: where the session stands by its log, else what ``cwd`` is."""
    found = Keeper(settings, at).scope(session, at)
    if found is None:
        from hooks.context.project import launch_folder, resolve
        from hooks.context.scope_log import Transition, scope_from

        project = resolve(launch_folder(cwd, env), settings, env, at)
        scope = scope_from(project, settings.swarm)
        found = Transition(session, 0, iso(at), "", *scope)
    return Place(session, at, "", found)


@heals
def remember(
    settings: Settings, where: Place, text: str, attrs: Mapping[str, str], type_: str = "lesson"
) -> Kept:
    """Make a person's own words durable; the caller starts a flush, or posts at once.

    The same words twice in one session are one memory; words that were forgotten before are
    new, since a person who says them again means it.

    Raises:
        StateError, OSError: nothing was kept.
    """
    keeper = Keeper(settings, where.at)
    thought = think(type_, text, attrs)
    seed = f"{where.session}+{PERSON}"  # never the agent's record, should it say the same
    ledger = Ledger.open(settings.home, where.at)
    try:
        with ledger.writing():
            while True:
                origin = Origin(seed, where.at, prompt_id=where.prompt_id, cls=PERSON)
                key = keeper.key(thought, origin, where.scope)
                receipt = ledger.receipt(key)
                if receipt is None or receipt.state != "forgotten":
                    break
                seed += "+" + iso(where.at)
            if receipt is None:
                own = origin._replace(session=where.session)
                document = keeper.document(thought, own, where.scope, key)
                outbox.write(settings.home, document)
                ledger.add_receipt(document, where.at)
    finally:
        ledger.close()
    return Kept(key, thought.type, thought.content, thought.redacted)


@heals
def edit(
    settings: Settings,
    env: Mapping[str, str],
    where: Place,
    old_key: str,
    text: str,
) -> Kept:
    """Replace a memory by a person's words, unless it was replaced meanwhile.

    The new one stays where the old one was: project, scope, type and what describes it. Its
    outbox file comes first, so that a kill on the way leaves the edit to the drainer, which
    compares and sets just the same.

    Raises:
        NotOneMemory: the brain knows no such memory.
        BrainConflict: something else replaced it; nothing was kept.
        BrainUnreachable: the edit waits in the outbox, or there is nothing to edit in.
    """
    from hooks.errors import NotOneMemory

    brain = open_for_person(settings, env, where.at)
    try:
        found = [item for item in brain.find(old_key) if item.id == old_key]  # type: ignore[attr-defined]
        if not found:
            raise NotOneMemory(old_key, 0)
        attrs = {**brain.attrs_of(old_key), "supersedes": old_key}  # type: ignore[attr-defined]
        type_ = found[0].type if found[0].type in TYPES else "lesson"  # a service has others
        kept, body = _prepare_edit(settings, where, type_, text, attrs)
        if not hasattr(brain, "edit"):  # a service: the new text waits, the old one is gone here
            bury(settings.home, Tombstone(old_key, at=iso(where.at)))
            brain.forget(old_key)
            return kept
        try:
            ack = brain.edit(old_key, body, kept.key)
        except (BrainConflict, BrainRefused) as err:
            # The person is told now; the receipt keeps the text, and asks for nothing more.
            _finish(settings, where.at, kept.key, state="dropped", reason=err.reason)
            raise
        _finish(settings, where.at, kept.key, state=ack.kind, record=ack.key)
        return kept
    finally:
        brain.close()


def _prepare_edit(
    settings: Settings, where: Place, type_: str, text: str, attrs: Mapping[str, str]
) -> tuple[Kept, dict[str, object]]:
    kept_attrs = {n: v for n, v in attrs.items() if n not in ("message_id", "ts", "class")}
    thought = think(type_, text, kept_attrs)
    keeper = Keeper(settings, where.at)
    session = attrs.get("session_id", "") or where.session
    # The version that is replaced is part of the key: A to B, back to A is three memories.
    seed = Origin(f"{session}+{attrs['supersedes']}", where.at, cls=PERSON)
    key = keeper.key(thought, seed, where.scope)
    origin = Origin(session, where.at, prompt_id=where.prompt_id, cls=PERSON)
    document = keeper.document(thought, origin, where.scope, key)
    said = {**thought.attrs, "class": PERSON, "source": PERSON, "ts": iso(where.at)}
    document["attrs"] = said  # the old one's place, not the person's present one
    ledger = Ledger.open(settings.home, where.at)
    try:
        with ledger.writing():
            outbox.write(settings.home, document)
            ledger.add_receipt(document, where.at)
    finally:
        ledger.close()
    return Kept(key, type_, thought.content, thought.redacted), outbox.body(document)


def _finish(settings: Settings, at: datetime, key: str, **fields: object) -> None:
    """Write what became of it, then take the file away: *committed* before unlink, as ever."""
    ledger = Ledger.open(settings.home, at)
    try:
        ledger.change(key, at, brain=brain_id(settings), **fields)
    finally:
        ledger.close()
    outbox.remove_key(settings.home, key)


@heals
def move(settings: Settings, brain: Mover, at: datetime, key: str, project: str) -> bool:
    """Give a memory to ``project``, in the brain and in its receipt; False where it cannot be.

    The key stays: where a memory belongs was never part of it.
    """
    if not brain.move(key, project):
        return False
    ledger = Ledger.open(settings.home, at)
    try:
        receipt = ledger.receipt(key)
        document = receipt.document if receipt else {}
        attrs = document.get("attrs")
        if isinstance(attrs, dict):
            body = dumps({**document, "attrs": moved(attrs, project)})
            ledger.change(key, at, project=project, body=body)
    finally:
        ledger.close()
    return True


@heals
def forget(settings: Settings, env: Mapping[str, str], at: datetime, key: str) -> bool:
    """Erase a memory everywhere, for ever; say whether there was something to erase.

    The tombstones, also of what the memory replaced, come first: whatever dies after them,
    nothing of it comes back, and a repeat or the worker does the rest (``burial``). Receipts
    stay, as *forgotten*.
    """
    from hooks.context.burial import finish

    ledger = Ledger.open(settings.home, at)
    try:
        receipt = ledger.receipt(key)
        known = receipt is not None and receipt.state != "forgotten"
        doomed, there = _doomed(settings, env, key, at)
        for one in list(doomed):
            doomed.update(dict.fromkeys(ledger.folded_into(one)))
        graves = [grave for one in reversed(doomed) for grave in tombstones(ledger, one, at)]
        graves += [_grave_of(item, at) for item in doomed.values() if item is not None]
        bury(settings.home, *graves)
    finally:
        ledger.close()
    finish(settings, env, at)
    return known or there


def _doomed(
    settings: Settings, env: Mapping[str, str], key: str, at: datetime
) -> tuple[dict[str, Item | None], bool]:
    """Return the memory and what it replaced, the latest first, and whether the brain has it."""
    doomed: dict[str, Item | None] = {key: None}
    try:
        brain = open_for_person(settings, env, at)
    except BrainUnreachable:  # ``finish`` tells the person, where the brain has the memory
        return doomed, False
    try:
        found = brain.find(key) if hasattr(brain, "find") else []
        older = brain.history(key) if hasattr(brain, "history") else []
        doomed.update((item.id, item) for item in [*found, *older])
        return doomed, bool(found)
    finally:
        brain.close()


def tombstones(ledger: Ledger, key: str, at: datetime) -> list[Tombstone]:
    """Return what keeps the marker of ``key`` away: one for each place where it stood."""
    receipt = ledger.receipt(key)
    session = receipt.session if receipt else ""
    digest = str(receipt.document.get("digest", "")) if receipt else ""
    seen = ledger.sightings_of(key)
    rows = [Tombstone(key, one.message_id, one.session, one.digest, iso(at)) for one in seen]
    return rows or [Tombstone(key, "", session, digest, iso(at))]


def _grave_of(item: Item, at: datetime) -> Tombstone:
    """Return what the brain still knows of where a memory stood: the ledger may be a new one."""
    digest = digest_of(item.type, scope_of(item.scope_key), item.text)
    return Tombstone(item.id, item.message_id, item.session, digest, iso(at))
