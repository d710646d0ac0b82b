from __future__ import annotations

from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.subscriptions import MAX_WATCHES
from tests.support.memory_stores import A, B, refusal
from tests.support.watchers import Watchers

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.store import DocumentStore


def test_a_session_has_no_more_watches_than_are_stated(sqlite_store: DocumentStore) -> None:
    one = Watchers(sqlite_store)
    a1, b1 = one.client(A, "a1"), one.client(B, "b1")
    for number in range(MAX_WATCHES):
        one.watch(a1, f"n/{number}", "space")
    with refusal("watch-invalid"):
        one.watch(a1, "more", "space")
    assert len(a1.session.watches) == MAX_WATCHES
    one.watch(a1, "n/0", "space")  # one of them again
    one.watch(b1, "more", "space")
