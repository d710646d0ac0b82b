"""The commits of several spaces, each told once and in order, from where following began."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.swarm_v2.memory.store import Change, DocumentStore

PAGE = 1000


class SpaceFeed:
    def __init__(self, store: DocumentStore) -> None:
        self._store = store
        self._since: dict[str, int] = {}

    def follow(self, space: str) -> None:
        """Tell what is committed from now on; a space that is followed goes on as it was."""
        if space not in self._since:
            self._since[space] = self._store.seq(space)

    def leave(self, space: str) -> None:
        self._since.pop(space, None)

    def positions(self) -> dict[str, int]:
        return dict(self._since)

    def take(self) -> Iterator[tuple[str, Change]]:
        """Yield the commits since the last time.

        Each counts as told once the next one is asked for: what fails on the way comes again.
        """
        for space in list(self._since):
            while space in self._since:
                page = self._store.changes(space, self._since[space], limit=PAGE)
                for change in page:
                    yield space, change
                    self._since[space] = change.seq
                if len(page) < PAGE:
                    break
