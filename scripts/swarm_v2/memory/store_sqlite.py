"""Documents in one SQLite file: see ``store.DocumentStore``. One file holds many spaces."""

from __future__ import annotations

from scripts.swarm_v2.memory.sqlite_commit import apply as apply
from scripts.swarm_v2.memory.sqlite_schema import SCHEMA as SCHEMA
from scripts.swarm_v2.memory.sqlite_schema import VERSION as VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.context.database import Database


class SqliteStore:
    """See ``DocumentStore``. May be used from several threads; they take turns."""

    def __init__(
        self,
        path: str,
        *,
        wal: bool = False,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], None] | None = None,
        database: Database | None = None,
    ) -> None:
        """Open ``path`` or make it; ``database`` is one that is open, and has our tables.

        ``wal`` is for a process that lives on: its commits do not wait for the disk (they survive
        the process, a power cut may take the newest ones, never a part of one), and the file goes
        back to a rollback journal when it is closed and nobody else has it open. ``clock`` and
        ``sleep`` are of ``wait``: monotonic.

        Raises:
            MemoryRefused: ``store-damaged`` or ``store-busy``.
        """
        raise NotImplementedError

    def user(self) -> str | None:
        """Return who the store itself says we are: nobody, a file knows no users."""
        return None
