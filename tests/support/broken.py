"""What no door lets in, written past all of them: an input that no derivation can be made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.document import make_link
from scripts.swarm_v2.memory.store import Commit, Write

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.store import DocumentStore


def break_preferences(store: DocumentStore, space: str, scope_key: str) -> int:
    """Let a person's preferences redirect to themselves: whoever reads them meets a circle."""
    circle = make_link("preferences", "user")
    write = Write("preferences", scope_key, "set", circle)
    return store.commit(space, Commit("system", (write,)))
