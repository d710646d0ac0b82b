"""The brain as the person's verbs use it: finding one memory by the id they typed."""

from __future__ import annotations

import os

from hooks.context.brains import open_for_person
from hooks.context.compose import is_key
from hooks.errors import HookError, NotOneMemory
from scripts.swarm_v2.scope_key import SESSION, scope_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Protocol

    from hooks.context.brains import Ack, Brain, Item
    from hooks.context.project import Project
    from hooks.verbs import VerbCtx

    class Library(Brain, Protocol):
        """A brain that can be looked through and corrected; the local one is."""

        def find(self, prefix: str) -> list[Item]: ...
        def search(self, query: str, project: str, limit: int) -> list[Item]: ...
        def edit(self, old_key: str, body: Mapping[str, object], new_key: str) -> Ack: ...
        def accept(self, key: str) -> bool: ...
        def history(self, key: str) -> list[Item]: ...
        def attrs_of(self, key: str) -> dict[str, str]: ...
        def waiting(self) -> list[Item]: ...
        def move(self, key: str, project: str) -> bool: ...
        def unattributed(self) -> list[Item]: ...


_HEX = frozenset("0123456789abcdef")
MIN_PREFIX = 4  # fewer digits would name a memory by accident


class NothingYetError(HookError):
    """The home's own brain was never written to; asking must not make it."""

    hint = "mark a lesson, or keep a sentence with remember TEXT"

    def __init__(self) -> None:
        super().__init__("nothing is remembered here yet")


class NotForThisBrainError(HookError):
    """The configured brain cannot do what a verb asks."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.hint = "brainhooks brain_status says which brain this is"
        super().__init__(f"the {kind} brain cannot be looked through or corrected from here")


def open_library(ctx: VerbCtx) -> Library:
    """Return the configured brain, opened; the caller closes it.

    Raises:
        NothingYetError: it is the home's own, and nothing made it yet.
        NotForThisBrainError: it cannot be looked through or corrected.
        BrainUnreachable: there is none to talk to now.
    """
    from hooks.context.brain_adapter import LOCAL_DATABASE, brain_kind

    home = ctx.settings.home
    _bury_first(ctx)
    if brain_kind(ctx.settings) == "local" and not os.path.exists(
        os.path.join(home, LOCAL_DATABASE)
    ):
        raise NothingYetError
    brain = open_for_person(ctx.settings, ctx.env, ctx.at)
    if not hasattr(brain, "find"):
        brain.close()
        raise NotForThisBrainError(brain_kind(ctx.settings))
    return brain  # type: ignore[return-value]  # proven by its `find` just now


def _bury_first(ctx: VerbCtx) -> None:
    """Erase from this brain what was forgotten while another one was configured.

    A service cannot forget; of what is on disk of it the tombstones are left out anyway.
    """
    from hooks.context.brain_adapter import brain_kind
    from hooks.context.brains import BRAINS
    from hooks.context.burial import finish

    if not BRAINS[brain_kind(ctx.settings)].at_once:
        return

    try:
        finish(ctx.settings, ctx.env, ctx.at)
    except (HookError, OSError):  # a ledger that cannot be written, say; the worker tries again
        return


def unfound(ctx: VerbCtx, wanted: str, err: NotOneMemory) -> HookError:
    """Return what to say of an id that the brain does not know: where it is, as far as known."""
    from hooks.context.ledger import Ledger

    if err.found:
        return err
    name = _named(ctx, wanted)
    if name or not is_id(wanted):
        return name or err
    page = _set_aside(ctx, wanted.lower())
    if page:
        return page
    ledger = Ledger.read_only(ctx.settings.home)
    if ledger is None:
        return err
    try:
        rows = [row for row in ledger.find(wanted.lower()) if row.body]
    finally:
        ledger.close()
    return _elsewhere(ctx, rows[0].key, rows[0].brain) if len(rows) == 1 else err


def _named(ctx: VerbCtx, wanted: str) -> HookError | None:
    from hooks.verbs.named import put_by_name

    try:
        brain = open_library(ctx)
    except HookError:
        return None
    try:
        return put_by_name(brain, wanted, ctx)
    finally:
        brain.close()


class OutOfReachError(HookError):
    """A memory is there, and not where a verb could change it."""

    def __init__(self, what: str, hint: str) -> None:
        self.hint = hint
        super().__init__(what)


def _elsewhere(ctx: VerbCtx, key: str, brain: str) -> HookError:
    from hooks.context.brain_adapter import brain_id

    if brain and brain != brain_id(ctx.settings):
        what = f"{key[:8]} is in another brain than the one that is configured now"
        return OutOfReachError(what, "edit it while that brain is; forget reaches it from here")
    what = f"{key[:8]} was kept, and the brain does not show it yet"
    return OutOfReachError(what, "brainhooks receipts tells what became of it")


def _set_aside(ctx: VerbCtx, wanted: str) -> HookError | None:
    """Name the page of a file brain that has the id and cannot be served as it is."""
    from hooks.context.brain_adapter import brain_kind

    if brain_kind(ctx.settings) != "file":
        return None
    from hooks.status_folder import all_set_aside

    folder = ctx.settings.brain_path
    for where, why in all_set_aside(folder):
        if os.path.basename(where).startswith(wanted):
            what = f"{os.path.join(folder, where)} is set aside, so nothing can change it: {why}"
            return OutOfReachError(what, "mend that page, then say it again")
    return None


def have_told(ctx: VerbCtx, task: str) -> None:
    """Let a worker tell a brain behind a network of a change; a verb waits for none.

    Where none can be started, the next session's does it.
    """
    from hooks.context.brain_adapter import brain_kind
    from hooks.context.brains import BRAINS

    if not BRAINS[brain_kind(ctx.settings)].library:
        return
    from hooks.spawn import detach, start_command

    try:
        detach(start_command(ctx.root, "worker", task), ctx.env)
    except OSError:
        return


def is_id(word: str) -> bool:
    """Say whether ``word`` can be (the beginning of) a memory's id."""
    return MIN_PREFIX <= len(word) <= 32 and _HEX.issuperset(word.lower())


def one(brain: Library, wanted: str) -> Item:
    """Return the one memory whose id begins with ``wanted``.

    Raises:
        NotOneMemory: none has, or several have.
    """
    found = brain.find(wanted.lower()) if is_id(wanted) else []
    if len(found) != 1:
        raise NotOneMemory(wanted, len(found))
    return found[0]


def here(ctx: VerbCtx) -> Project:
    """Return the project the person is in."""
    from hooks.context.project import launch_folder, resolve

    folder = launch_folder(ctx.cwd, ctx.env)
    return resolve(folder, ctx.settings, ctx.env, ctx.at, register=False)


def refresh(ctx: VerbCtx, brain: Brain, items: Iterable[Item]) -> None:
    """Bring the caches up to a change of ``items``, so that every session knows at once."""
    from hooks.context.refresh import refresh as rewrite

    changed = list(items)
    rewrite(ctx.settings, brain, ctx.at, {item.project for item in changed})
    if any(item.accepted or may_cross(item) for item in changed):
        rewrite(ctx.settings, brain, ctx.at)  # every recent project


def may_cross(item: Item) -> bool:
    """Say whether a person can let other projects see it; any other memory stays in its own."""
    if scope_of(item.scope_key) == SESSION or not is_key(item.id):
        return False
    return item.type == "signal" or item.scope_key != "space" or not item.project
