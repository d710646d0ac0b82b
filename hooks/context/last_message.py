"""Markers that only the hook's payload has: the transcript may be a message behind.

``last_assistant_message`` is the last text block. A marker in it that no line shows yet is kept
at the Stop's time under the payload's prompt; its first line in the transcript adopts it.
"""

from __future__ import annotations

import os

from hooks.context import outbox
from hooks.context.hint import HINT
from hooks.context.keeping import Origin
from hooks.context.lookback import lines_before
from hooks.context.markers import find
from hooks.context.proposals import HELD, is_proposal
from hooks.context.thought import think
from hooks.context.transcript import open_transcript, prompt_before
from hooks.context.transcript_lines import describe, session_of, text_blocks, why_not

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.context.gather import Gatherer
    from hooks.context.sources import Source
    from hooks.context.thought import Thought

MOST_LINES = 64  # with a marker, from the end: the copied last message is the latest of them


class Belief:
    """The markers of one last message on their way."""

    def __init__(self, gatherer: Gatherer, source: Source, said: str, prompt_id: str) -> None:
        self.gatherer, self.source, self.said = gatherer, source, said
        self.origin = Origin(source.session, gatherer.at, path=source.path, prompt_id=prompt_id)
        self.documents: list[dict[str, object]] = []


def believe(gatherer: Gatherer, source: Source, said: str, prompt_id: str) -> None:
    """Keep what ``said`` holds and no transcript line shows, in one transaction."""
    from hooks.context.gather import kept_of

    belief = Belief(gatherer, source, said, prompt_id)
    with gatherer.ledger.writing():
        for step in BELIEVE:
            step(belief)
    kept = [document for document in belief.documents if not is_proposal(document)]
    gatherer.task.kept += [kept_of(document) for document in kept]
    gatherer.task.held += len(belief.documents) - len(kept)


def add_orphans(belief: Belief) -> None:
    from hooks.context.gather import adopt_files

    adopt_files(belief.gatherer)


def judge(belief: Belief) -> None:
    keeper = belief.gatherer.keeper
    keys = set()
    for candidate in find(belief.said):
        marker = candidate.marker
        if marker is None:
            continue
        thought = think(marker.type, marker.content, marker.attrs)
        scope = keeper.scope(belief.origin.session, belief.origin.at)
        key = keeper.key(thought, belief.origin, scope)
        stood = keeper.home_of(belief.origin, belief.source.session)
        forbidden = belief.gatherer.forbidden(belief.origin, stood)
        if not forbidden and key not in keys and not _is_known(belief, thought, key):
            keys.add(key)
            belief.documents.append(keeper.document(thought, belief.origin, stood, key))


def _is_known(belief: Belief, thought: Thought, key: str) -> bool:
    gatherer, origin = belief.gatherer, belief.origin
    if gatherer.ledger.receipt(key) is not None:
        return True
    if gatherer.is_forgotten(thought, origin, key):
        return True
    places = gatherer.ledger.sightings_like(origin.session, thought.type, thought.digest)
    here = [place for place in places if place.path == origin.path]
    if any(answers(place.path, place.at_byte, origin.prompt_id) for place in here):
        return True
    waiting = gatherer.ledger.unseen(thought.type, thought.digest)
    if any((r.session, r.prompt_id) == (origin.session, origin.prompt_id) for r in waiting):
        return True
    return _is_copied(gatherer, origin, thought)


def _is_copied(gatherer: Gatherer, origin: Origin, thought: Thought) -> bool:
    """Say whether the transcript has the thought in a line that another transcript had first.

    A fork or a background copy repeats the lines of its origin, and its first Stop may repeat
    the last message: that is the origin's record, not a new one.
    """
    fd = open_transcript(origin.path) if origin.path else -1
    if fd < 0:
        return False
    try:
        lines = lines_before(fd, os.fstat(fd).st_size, HINT)
        for _, line in zip(range(MOST_LINES), lines, strict=False):
            if thought.digest in _digests(line):
                if session_of(line) != origin.session:
                    return True
                message = describe(line, 0).message_id
                places = gatherer.ledger.sightings_in(message, thought.digest)
                return any(place.path != origin.path for place in places)
    finally:
        os.close(fd)
    return False


def _digests(line: dict[str, object]) -> set[str]:
    """Return the thoughts of one line of a transcript, none where it is not the assistant's."""
    if why_not(line):
        return set()
    markers = [found.marker for _, text in text_blocks(line) for found in find(text)]
    return {think(one.type, one.content, one.attrs).digest for one in markers if one}


def write_files(belief: Belief) -> None:
    for document in belief.documents:
        if not is_proposal(document):
            outbox.write(belief.gatherer.home, document)


def add_rows(belief: Belief) -> None:
    ledger, at = belief.gatherer.ledger, belief.gatherer.at
    for document in belief.documents:
        if is_proposal(document):
            ledger.add_receipt(document, at, "held", HELD)
        else:
            ledger.add_receipt(document, at)


def answers(path: str, at_byte: int, prompt_id: str, *, surely: bool = False) -> bool:
    """Say whether the line at ``at_byte`` stands behind the latest user line of that prompt.

    Assistant lines carry no prompt id. Where the prompt, or every prompt, is unknown (older
    clients, other agents) session, type and content have to be enough, unless it must be sure.
    """
    if not prompt_id or not path:
        return not surely
    found = prompt_before(path, at_byte)
    return found == prompt_id or (not found and not surely)


BELIEVE: tuple[Callable[[Belief], None], ...] = (add_orphans, judge, write_files, add_rows)
