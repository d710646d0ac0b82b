"""A ledger that is no database any more, or is damaged inside: put aside, and done without.

A lost ledger is rebuilt from outbox and transcripts; a broken one would stop every hook for ever.
"""

from __future__ import annotations

import os

from hooks.context.database import DamagedError
from hooks.context.marks import LEDGER, ledger_file
from hooks.lock import held

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Concatenate, ParamSpec, TypeVar

    from hooks.errors import StateError
    from hooks.settings import Settings

    Result = TypeVar("Result")
    Others = ParamSpec("Others")

LOCK_WAIT_S = 1.0
JOURNAL = "-journal"


def put_aside(home: str, seen: int) -> None:
    """Move the damaged ledger away, unless somebody has: ``seen`` is what it was before.

    Under the lock that guards its making. What is put aside is kept, so no other file gets its
    number. The journal goes first: beside a new ledger it would be taken for that one's.

    Raises:
        StateError: another process holds the lock.
        OSError: it cannot be moved.
    """
    path = os.path.join(home, LEDGER)
    with held(path + ".lock", wait_s=LOCK_WAIT_S):
        if not seen or ledger_file(home) != seen:
            return
        aside = f"{path}.damaged-{os.urandom(4).hex()}"
        if os.path.lexists(path + JOURNAL):
            os.replace(path + JOURNAL, aside + JOURNAL)
        os.replace(path, aside)


def healing(home: str, work: Callable[[], Result]) -> Result:
    """Do ``work``; where the ledger turns out damaged, put it aside and do ``work`` once more.

    ``work`` must bear to be done again from its start, as after a kill.
    """
    seen = ledger_file(home)
    try:
        return work()
    except DamagedError as err:
        if not is_ledgers(home, err):
            raise
        put_aside(home, seen)
    return work()


def is_ledgers(home: str, err: StateError) -> bool:
    """Say whether ``err`` tells of damage in this home's ledger."""
    return isinstance(err, DamagedError) and err.where == os.path.join(home, LEDGER)


def heals(
    work: Callable[Concatenate[Settings, Others], Result],
) -> Callable[Concatenate[Settings, Others], Result]:
    """Make ``work`` one that is done again on a new ledger where it found the old one damaged."""

    def again(settings: Settings, /, *args: Others.args, **named: Others.kwargs) -> Result:
        return healing(settings.home, lambda: work(settings, *args, **named))

    again.__doc__ = work.__doc__
    return again
