"""The context of one identity from the home's own brain: as it is stored, or run in memory.

A hook commits nothing of it: that is for whoever has the lease of the space, the worker say.
"""

from __future__ import annotations

import os

from hooks.context.brain_adapter import LOCAL_DATABASE, LOCAL_FORMAT, brain_kind, principal
from hooks.context.brains.sight import FLEET, UNKNOWN, aliases
from hooks.context.database import Database
from hooks.context.remote import apply_alias
from hooks.errors import HookError
from scripts.swarm_v2.errors import StoreError
from scripts.swarm_v2.memory.stored_context import last_context, read_context
from scripts.swarm_v2.scope_key import Identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.settings import Settings
    from scripts.swarm_v2.memory.derivations import Roots

PERSON = "person"  # the space of what a person let cross projects


def context_for(settings: Settings, project: str, session_id: str) -> dict[str, object] | None:
    """Return the ``context`` value of this person and session in ``project``.

    None where there is none to be had here: another brain, one that nothing was kept in yet, no
    known project, or a file that cannot be read now. The stamped caches say what they know then.
    """
    path = os.path.join(settings.home, LOCAL_DATABASE)
    if project in ("", UNKNOWN) or brain_kind(settings) != "local" or not os.path.exists(path):
        return None
    who = Identity(principal(settings), session_id or None)
    spaces = (project, *joined(settings.home, project), PERSON, FLEET)
    try:
        db = _open(path)
        try:
            return _stored(db, spaces, who) or _run(db, settings.home, project, who)
        finally:
            db.close()
    except (HookError, StoreError):
        return None


def joined(home: str, project: str) -> tuple[str, ...]:
    """Return the ids that a person's aliases lead to ``project``."""
    known = aliases(home)
    return tuple(old for old in known if apply_alias(old, known) == project)


def roots_of(home: str, project: str) -> Roots:
    """Return what a context of ``project`` is made from: a hook and a server both ask here."""
    from scripts.swarm_v2.memory.derivations import Roots

    return Roots(project, joined(home, project))


def _open(path: str) -> Database:
    try:
        return Database(path, "", LOCAL_FORMAT, create=False)
    except HookError:  # an older format, say
        from hooks.context.brains.local_file import open_file

        return open_file(path, create=False)


def _stored(db: Database, spaces: tuple[str, ...], who: Identity) -> dict[str, object] | None:
    db.run("BEGIN")
    try:
        return read_context(db, spaces, who)
    finally:
        db.roll_back()


def _run(db: Database, home: str, project: str, who: Identity) -> dict[str, object] | None:
    """Run it; where it cannot be made the last good one stays, as at a server."""
    from scripts.swarm_v2.memory.derivations import FAULTY
    from scripts.swarm_v2.memory.derive_context import run_for
    from scripts.swarm_v2.memory.store_sqlite import SqliteStore

    try:
        value, _ = run_for(SqliteStore(db.path, database=db), roots_of(home, project), who)
    except FAULTY:
        return last_context(db, project, who)
    return value if isinstance(value, dict) else None
