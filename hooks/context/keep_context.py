"""Store the ``context`` of the session at hand, so that the next start of its person finds it."""

from __future__ import annotations

import os

from hooks.clock import iso
from hooks.context.brain_adapter import LOCAL_DATABASE, brain_kind, principal
from hooks.context.brains.local_file import open_file
from hooks.context.brains.sight import UNKNOWN
from hooks.context.own_context import roots_of
from hooks.errors import StateError
from scripts.swarm_v2.errors import StoreError
from scripts.swarm_v2.memory.admission import Admission
from scripts.swarm_v2.memory.derivations import outcome
from scripts.swarm_v2.memory.derive_context import CONTEXT, run_for
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.sessions import Credential, Lease, SessionRegistry
from scripts.swarm_v2.memory.store import ABSENT, Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.scope_key import Identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from hooks.settings import Settings
    from scripts.swarm_v2.memory.store import DocumentStore

SERVICE = "worker"
LATER = ("lease-lost", "stale-base", "stale-read")  # somebody else wrote: it is made again


def keep_context(settings: Settings, project: str, session_id: str, at: datetime) -> bool:
    """Run this person's and session's context and commit it; say whether it was written.

    Not where the space's lease is another's, who recomputes there; not where nothing moved.

    Raises:
        StateError: the store cannot be used now, or a preference is malformed.
    """
    path = os.path.join(settings.home, LOCAL_DATABASE)
    if project in ("", UNKNOWN) or brain_kind(settings) != "local" or not os.path.exists(path):
        return False
    who = Identity(principal(settings), session_id or None)
    try:
        store = SqliteStore(path, opener=open_file)
        try:
            return _keep(store, settings.home, project, who, iso(at))
        finally:
            store.close()
    except StoreError as err:
        raise StateError(path, str(err)) from None


def _keep(store: DocumentStore, home: str, space: str, who: Identity, at: str) -> bool:
    lease = Lease(store, space, SERVICE)
    if not lease.acquire():
        return False
    try:
        value, log = run_for(store, roots_of(home, space), who)
        done = outcome(store, space, CONTEXT, who, value, log)
        if not done.writes and not done.basis:
            return False
        service = SessionRegistry(store).open(space, Credential(None, SERVICE), lease=lease)
        writes = _without_history(done.writes)
        derived = Admission(store).derived(space, writes, done.seen, done.basis, service, at)
        store.commit(space, derived)
    except MemoryRefused as err:
        if err.code in LATER:
            return False
        raise
    finally:
        lease.release()
    return True


def _without_history(writes: tuple[Write, ...]) -> tuple[Write, ...]:
    """Let the values of before go: they can be made again, and would be most of the file."""
    found: list[Write] = []
    for write in writes:
        if write.base == ABSENT:
            found.append(write)
        else:
            found.append(Write(write.id, write.scope_key, "erase", base=write.base))
            found.append(write._replace(base=None))
    return tuple(found)
