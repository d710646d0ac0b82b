"""``context``: what a starting session is told, composed for one identity."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripts.swarm_v2.memory.derivations import Roots
    from scripts.swarm_v2.memory.store import DocumentStore
    from scripts.swarm_v2.memory.transactions import Logged, Transaction
    from scripts.swarm_v2.scope_key import Identity


def run(tx: Transaction, roots: Roots) -> object:
    """Return the ``context`` value of whom ``tx`` acts as."""
    raise NotImplementedError


def run_for(
    store: DocumentStore, roots: Roots, identity: Identity
) -> tuple[object, tuple[Logged, ...]]:
    """Return the ``context`` value of ``identity`` and what was read for it; nothing is written."""
    raise NotImplementedError
