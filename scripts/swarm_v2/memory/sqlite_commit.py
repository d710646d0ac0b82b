"""Writing a commit into an open SQLite transaction: checks, revisions, heads, basis rows."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.database import Database
    from scripts.swarm_v2.memory.store import Commit


def apply(db: Database, space: str, commit: Commit, *, branch: str = "") -> int:
    """Write ``commit`` into the transaction that is open; return its sequence number.

    0 for a commit that changes no instance: basis rows alone are replaced without a number, a
    deletion of what is not there writes nothing. Whoever opened the transaction rolls it back when
    this refuses. Erasing in a file with a WAL needs ``forget_wal`` after the transaction.

    Raises:
        MemoryRefused: as ``DocumentStore.commit``.
        HookError: what ``db`` says of the file.
    """
    raise NotImplementedError
