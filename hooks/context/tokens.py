"""Count a session's tokens, in the state, from where each of its transcripts was read to.

Falls open: without state nothing is counted, and what was missed is counted with the next event,
since no mark moved.
"""

from __future__ import annotations

import os

from hooks.context.followed import close_all, marks_of, moved, open_all
from hooks.context.session_state import Key, change, document
from hooks.context.usage import Counter, compacted_to, message_of
from scripts.swarm_v2.digest import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hooks.context.followed import Follower
    from hooks.context.session_state import Document, SessionState
    from hooks.context.sources import Source

KIND = "tokens"
NEEDLES = (b'"usage"', b'"compact_boundary"')
PATIENT_S = 60.0  # that a worker waits for another
FOREGROUND_BYTES = 4 << 20  # that a hook reads itself, within 10 ms; the worker reads the rest


def key_of(session: str) -> Key:
    return Key(KIND, session)


def lock_of(home: str, session: str) -> str:
    """Return the lock of the workers that count for ``session``; hooks need none."""
    return os.path.join(home, "locks", short_digest(f"tokens:{session}".encode("utf-8", "replace")))


def count(
    state: SessionState,
    session: str,
    choose: Callable[[Document], Sequence[Source]],
    *,
    limit: int | None = None,
) -> bool:
    """Count what is new; False, and nothing done, where that is more than ``limit`` bytes.

    ``choose`` names the transcripts, given what the state has. However many processes count at
    once, in whatever order they end: a message known by its id is not counted again.

    Raises:
        StateDown: and nothing is counted.
        StateError: a transcript cannot be read.
    """
    [kept] = state.read([key_of(session)])
    before = document(kept)
    opened = open_all(choose(before), marks_of(before))
    try:
        new = sum(follower.unread for follower in opened.values())
        if limit is not None and new > limit:
            return False
    finally:
        close_all(opened)
    if new:
        change(state, key_of(session), lambda now: _counted(now, session, choose(now)))
    return True


def _counted(now: Document, session: str, sources: Sequence[Source]) -> Mapping[str, object]:
    marks = marks_of(now)
    opened = open_all(sources, marks)
    try:
        counter = Counter(now)
        for name, follower in opened.items():
            _add(counter, follower, session, main=name == "main")
        return {**counter.document(), "marks": moved(marks, opened)}
    finally:
        close_all(opened)


def _add(counter: Counter, follower: Follower, session: str, *, main: bool) -> None:
    for line in follower.objects(NEEDLES):
        message = message_of(line)
        if message is not None:
            counter.add(message, session=session, main=main)
        elif main and (left := compacted_to(line)) is not None:
            counter.compact(left)
