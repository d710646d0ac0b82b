"""What the embedded brain keeps of sessions that ended: let go of, a stated time afterwards."""

from __future__ import annotations

import os

from hooks.context import session_index
from hooks.context.brain_adapter import LOCAL_DATABASE, brain_kind, principal
from hooks.context.brains import local_words
from hooks.context.brains.local_file import open_file
from hooks.context.unserved import UNSERVED
from hooks.errors import StateError
from scripts.swarm_v2.errors import StoreError
from scripts.swarm_v2.memory.retention import Retention
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.scope_key import SESSION, Identity, can_resolve, resolve_scope_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hooks.settings import Settings


def let_go(
    settings: Settings, env: Mapping[str, str], starting: str, at: datetime
) -> list[tuple[str, str]]:
    """Mark the sessions that no client works on any more; delete the rows of those long ended.

    Returns each space and session key that lost its rows. ``starting`` is the session at hand:
    it may be an old one that is resumed.

    Raises:
        BrainUnreachable: the file cannot be opened.
        StateError: it cannot be used now.
    """
    path = os.path.join(settings.home, LOCAL_DATABASE)
    if brain_kind(settings) != "local" or not os.path.exists(path):
        return []
    ended, in_use = _sessions(settings, env.get("CLAUDE_PID", ""), starting, at)
    db = open_file(path, create=False)
    try:
        retention = Retention(SqliteStore(path, database=db))
        retention.end_unseen(ended, at)
        gone = retention.sweep(at, in_use)
        if gone:
            with db.writing():
                local_words.erase(db)
    except StoreError as err:
        raise StateError(path, str(err)) from None
    finally:
        db.close()
    return gone


def _sessions(
    settings: Settings, client: str, starting: str, at: datetime
) -> tuple[set[str], set[str]]:
    """Return the keys of the sessions that ended, and of those that go on."""
    ended: set[str] = set()
    in_use: set[str] = set()
    for entry in session_index.read(settings.home):
        named = settings.principal if entry.source == UNSERVED else entry.principal
        who = Identity(principal(settings._replace(principal=named)), entry.session_id)
        if can_resolve(SESSION, who):
            goes_on = entry.session_id == starting or session_index.is_live(entry, at, client)
            (in_use if goes_on else ended).add(resolve_scope_key(SESSION, who))
    return ended, in_use
