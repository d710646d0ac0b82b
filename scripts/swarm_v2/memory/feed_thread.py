"""The thread that waits for other processes' commits, on a store of its own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.errors import MemoryRefused

if TYPE_CHECKING:
    from collections.abc import Callable

    from scripts.swarm_v2.memory.store import DocumentStore

STEP_S = 0.5  # after which a space that became of interest meanwhile is waited on too
LEAST_S = 0.02  # between two looks at what is due
REST_S = 1.0  # before a store that does not answer is asked again


class FeedThread:
    """Calls ``moved`` when something was committed, or is due; ``know`` says what is known."""

    def __init__(self, store: Callable[[], DocumentStore], moved: Callable[[], None]) -> None:
        self._store, self._moved = store, moved
        self._ending = threading.Event()
        self._known: tuple[dict[str, int], float | None] = ({}, None)
        self._thread = threading.Thread(target=self._run, name="memory-feed", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def know(self, positions: dict[str, int], due_s: float | None) -> None:
        """Say up to which commits all is known, and in how many seconds something is due."""
        self._known = (positions, due_s)

    def stop(self) -> None:
        """End the thread; a second time is a no-op."""
        self._ending.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        store: DocumentStore | None = None
        while not self._ending.is_set():
            positions, due_s = self._known
            if not positions:
                self._ending.wait(STEP_S)
                continue
            try:
                store = store or self._store()
                patience = STEP_S if due_s is None else min(STEP_S, max(LEAST_S, due_s))
                if store.wait(positions, patience) or due_s is not None:
                    self._moved()
            except MemoryRefused:
                self._ending.wait(REST_S)
        if store is not None:
            store.close()
