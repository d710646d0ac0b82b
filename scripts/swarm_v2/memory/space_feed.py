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
        self._marks: dict[str, str] = {}  # of the commits that ``_since`` names

    def follow(self, space: str) -> None:
        """Tell what is committed from now on; a space that is followed goes on as it was."""
        if space not in self._since:
            self._set(space, self._store.seq(space))

    def leave(self, space: str) -> None:
        self._since.pop(space, None)
        self._marks.pop(space, None)

    def positions(self) -> dict[str, int]:
        return dict(self._since)

    def take(self) -> Iterator[tuple[str, Change | None]]:
        """Yield the commits since the last time.

        None instead of a commit says that the store lost some that were told, as a server does
        that comes back with what it had saved last: their numbers are others' now, and whatever
        is known of the space may be wrong.

        Each counts as told once the next one is asked for: what fails on the way comes again.
        """
        for space in list(self._since):
            if space in self._since and self._lost(space):
                seq = self._store.seq(space)
                yield space, None
                if space in self._since:
                    self._set(space, seq)
            yield from self._news(space)

    def _news(self, space: str) -> Iterator[tuple[str, Change]]:
        while space in self._since:
            page = self._store.changes(space, self._since[space], limit=PAGE)
            for change in page:
                yield space, change
                self._since[space] = change.seq
                self._marks.pop(space, None)  # one question for each page, not for each commit
            if page and space in self._since:
                self._set(space, self._since[space])
            if len(page) < PAGE:
                break

    def _lost(self, space: str) -> bool:
        now = self._store.mark(space, self._since[space])
        return self._marks.setdefault(space, now) != now

    def _set(self, space: str, seq: int) -> None:
        self._since[space], self._marks[space] = seq, self._store.mark(space, seq)
