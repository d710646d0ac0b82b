"""What one session has been sent, and what each frame on its way carried."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.frames import Remove, SyncFrame, Upsert
from scripts.swarm_v2.memory.store import ABSENT
from scripts.swarm_v2.scope_key import scope_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scripts.swarm_v2.memory.store import Document
    from scripts.swarm_v2.scope_key import DirtyKey

# What is kept of frames nobody has confirmed. Beyond it the oldest are let go; should one of
# those turn out lost, the session is sent everything anew.
MAX_CARRIED = 1000


class Shown(NamedTuple):
    """A document that one of the session's watches reaches. An erased one is not shown."""

    branch: str
    key: DirtyKey
    document: Document

    @property
    def erased(self) -> bool:
        return self.document.op == "erase"


class _Carried(NamedTuple):
    upserts: list[tuple[str, DirtyKey]]
    removes: list[tuple[str, DirtyKey, int]]


class SessionCache:
    """Which state of each instance a session has, by what was sent to it.

    Attributes:
        seq: up to where the session was told of changes.
        whole: the next pass evaluates everything anew.
        reset: the next frame replaces all that the session has.
        looked_at: how often a graph of the session was evaluated or refreshed.
    """

    def __init__(self) -> None:
        # boundary: session cache. Branch, then instance, to the number of the state sent; an
        # instance has one state at one number, so deleted or not needs no place of its own.
        self._has: dict[str, dict[DirtyKey, int]] = {}
        # boundary: session cache, of frames on their way (R10), by the frame's number
        self._carried: dict[int, _Carried] = {}
        self._number = 0
        self._keyed = False
        self.seq = 0
        self.whole = False
        self.reset = True
        self.looked_at = 0

    def begin_anew(self) -> None:
        """Let the next pass be a whole one, and its frame all there is, by whatever numbers."""
        self.whole = self.reset = True
        self.seq = 0

    def wants_everything(self, keyed: bool) -> bool:
        """Say whether the next frame has to show all: what was sent by name is sent by key then."""
        return self.reset or keyed is not self._keyed

    def has(self, branch: str, key: DirtyKey) -> bool:
        return key in self._has.get(branch, ())

    def frame(
        self,
        space: str,
        shown: Sequence[Shown],
        *,
        everything: bool,
        seq: int,
        keyed: bool,
        own: Callable[[Document], bool],
        answer: bool,
    ) -> SyncFrame | None:
        """Return the frame that brings a session up to ``shown``, and note it as on its way.

        With ``everything``, ``shown`` is all it may have: what else it has is removed. ``own``
        says of which states the session has the value already, having written it. An empty
        frame is only made for an ``answer``; else it is None and was never numbered.
        """
        reset = self.wants_everything(keyed)
        if reset:
            self._has, self._carried = {}, {}
            self.reset, self._keyed = False, keyed
        stays = [one for one in shown if not one.erased]
        new = [one for one in stays if self._take(one, reset, own)]
        gone = self._take_away(stays) if everything else []
        gone += self._never_sent(shown, gone)
        if not (new or gone or reset or answer):
            return None
        self._number += 1
        since, self.seq = self.seq, max(self.seq, seq)
        carried = _Carried([(one.branch, one.key) for one in new], gone)
        self._remember(carried)
        upserts = tuple(_upsert(one, keyed) for one in new)
        removes = tuple(_remove(branch, key, keyed) for branch, key, _ in gone)
        return SyncFrame(space, self._number, since, self.seq, upserts, removes, reset)

    def arrived(self, frame: SyncFrame) -> None:
        self._carried.pop(frame.number, None)

    def lost(self, frame: SyncFrame) -> None:
        """Take back what a frame was to bring; the next pass is a whole one."""
        self.whole = True
        carried = self._carried.pop(frame.number, None)
        if carried is None or frame.reset:
            self.reset = True
            return
        for branch, key in carried.upserts:
            # Not simply forgotten: an earlier state may lie there, to be replaced or removed.
            self._has.setdefault(branch, {})[key] = ABSENT
        for branch, key, seq in carried.removes:
            self._has.setdefault(branch, {}).setdefault(key, seq)

    def _take(self, shown: Shown, reset: bool, own: Callable[[Document], bool]) -> bool:
        has, document = self._has.setdefault(shown.branch, {}), shown.document
        if document.seq <= has.get(shown.key, 0):
            return False
        has[shown.key] = document.seq
        return reset or not own(document)

    def _take_away(self, shown: Sequence[Shown]) -> list[tuple[str, DirtyKey, int]]:
        stays = {(one.branch, one.key) for one in shown}
        gone = [
            (branch, key, seq)
            for branch, has in self._has.items()
            for key, seq in has.items()
            if (branch, key) not in stays
        ]
        for branch, key, _ in gone:
            del self._has[branch][key]
        return gone

    def _never_sent(
        self, shown: Sequence[Shown], gone: Sequence[tuple[str, DirtyKey, int]]
    ) -> list[tuple[str, DirtyKey, int]]:
        """Return what was erased unheard: the client may have it from its own commits."""
        told = {(branch, key) for branch, key, _ in gone}
        erased = {(one.branch, one.key): ABSENT for one in shown if one.erased}
        return [
            (*one, seq) for one, seq in erased.items() if one not in told and not self.has(*one)
        ]

    def _remember(self, carried: _Carried) -> None:
        self._carried[self._number] = carried
        kept = 0
        for number in sorted(self._carried, reverse=True):
            upserts, removes = self._carried[number]
            kept += 1 + len(upserts) + len(removes)
            if kept > MAX_CARRIED:
                del self._carried[number]


def _upsert(shown: Shown, keyed: bool) -> Upsert:
    scope_key, document_id = shown.key
    document = shown.document
    return Upsert(
        document_id,
        scope_of(scope_key),
        document.seq,
        None if document.deleted else document.value,
        document.deleted,
        scope_key if keyed else None,
        shown.branch,
    )


def _remove(branch: str, key: DirtyKey, keyed: bool) -> Remove:
    scope_key, document_id = key
    return Remove(document_id, scope_of(scope_key), scope_key if keyed else None, branch)
