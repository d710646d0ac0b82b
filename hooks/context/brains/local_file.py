"""The embedded brain's file, opened: made, or brought up from an older format, once.

The brain, a session's start and scoped memory's own doors all open it here.
"""

from __future__ import annotations

from hooks.context.brains.local_row import NAME
from hooks.context.brains.local_schema import SCHEMA, VERSION
from hooks.context.database import Database
from hooks.errors import BrainUnreachable, HookError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def unreachable(path: str, what: str, *, damaged: bool) -> HookError:
    hint = "; put a copy back or move it away" if damaged else ""
    return BrainUnreachable(NAME, f"{path}: {what}{hint}")


def open_file(
    path: str, *, create: bool = True, fault: Callable[..., HookError] = unreachable
) -> Database:
    """Open the file, which is made where it is missing; an older format is brought up.

    Raises:
        BrainUnreachable: as ``fault`` says it: it cannot be opened, is damaged, or of a newer
            version; nothing of it was changed.
    """
    return Database(path, SCHEMA, VERSION, create=create, fault=fault, upgrade=_upgrade)


def _upgrade(db: Database, found: int) -> None:
    from hooks.context.brains.local_upgrade import upgrade
    from scripts.swarm_v2.memory.errors import MemoryRefused

    try:
        upgrade(db, found)
    except MemoryRefused as err:
        raise unreachable(db.path, f"it cannot be brought up: {err}", damaged=False) from None
