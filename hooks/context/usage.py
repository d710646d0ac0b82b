"""What the API counted, as transcript lines say it: pure, from lines to sums.

Every line of one API message carries its usage; the message counts once, under its id, with the
usage met last. A session's are the messages that it asked for itself: a fork's copies of older
lines carry ``requestSessionId`` and stay their own session's, while its subagents' are its own.

The document: ``models`` are the sums, by model; ``open`` are the last ``MOST_OPEN`` messages,
whose usage may still be replaced; ``counted`` are the ids of all before them, 12 hex digits
each: what is met again, in whatever file and order, is known. ``context`` is what the
conversation holds.
"""

from __future__ import annotations

from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.wire_json import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

VERSION = 1
MOST_OPEN = 256
MOST_COUNTED = 8_000  # ids, 96 KB; the oldest beyond them would count again if met again
MOST_MODELS = 32
OTHER = "other"  # the model of what is beyond them
WINDOW = 200_000
LARGE_WINDOW = 1_000_000
_ID = 12
_MOST_TOKENS = 1 << 40  # of one message; more is damage
_FIELDS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


class Usage(NamedTuple):
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Message(NamedTuple):
    """One line of an API message; ``session`` is whose request it was, "" where none is named."""

    id: str
    model: str
    usage: Usage
    session: str
    sidechain: bool
    asked: str = ""  # the model as the client named it, its window maybe included


class Context(NamedTuple):
    """What the conversation holds: of the last message, or right behind a compaction."""

    model: str = ""
    tokens: int = 0


def message_of(line: Mapping[str, object]) -> Message | None:
    """Return what a line says of its API message; None for a line of anything else."""
    message = line.get("message")
    if line.get("type") != "assistant" or not isinstance(message, dict):
        return None
    usage, model = message.get("usage"), _text(message, "model")
    ident = _text(message, "id") or _text(line, "requestId") or _text(line, "uuid")
    client = line.get("isApiErrorMessage") is True or model == "<synthetic>"
    if client or not ident or not isinstance(usage, dict):
        return None
    return Message(
        short_digest(ident.encode("utf-8"))[:_ID],
        model[:80] or OTHER,
        Usage(*(_count(usage.get(name)) for name in _FIELDS)),
        _text(line, "requestSessionId") or _text(line, "sessionId"),
        sidechain=line.get("isSidechain") is True,
        asked=_text(line, "requestedModel")[:80],
    )


def compacted_to(line: Mapping[str, object]) -> int | None:
    """Return how many tokens a compaction left; None for a line of anything else."""
    if line.get("type") != "system" or line.get("subtype") != "compact_boundary":
        return None
    about = line.get("compactMetadata")
    return _count(about.get("postTokens")) if isinstance(about, dict) else 0


class Counter:
    """The sums of one session, from a document and back."""

    def __init__(self, document: Mapping[str, object]) -> None:
        good = document.get("v") == VERSION
        self.models = {name: _usage(row) for name, row in _rows(document, "models", good)}
        self.context = _context(document.get("context")) if good else Context()
        self._open = {ident: _entry(row) for ident, row in _rows(document, "open", good)}
        counted = document.get("counted")
        self._counted = counted if good and isinstance(counted, str) else ""
        self._known: set[str] | None = None

    def add(self, message: Message, *, session: str, main: bool) -> None:
        """Count ``message`` for ``session``; ``main`` says that it stands in its own transcript."""
        if main and not message.sidechain:
            took = message.usage
            tokens = took.input + took.cache_read + took.cache_write
            self.context = Context(message.asked or message.model, tokens)
        if message.session not in ("", session) or self._is_settled(message.id):
            return
        model, before = self._open.pop(message.id, (message.model, Usage()))
        if model not in self.models and len(self.models) >= MOST_MODELS:
            model = OTHER
        pairs = zip(self.models.get(model, Usage()), before, message.usage, strict=True)
        self.models[model] = Usage(*(total - old + new for total, old, new in pairs))
        self._open[message.id] = (model, message.usage)

    def compact(self, tokens: int) -> None:
        self.context = self.context._replace(tokens=tokens)

    def document(self) -> dict[str, object]:
        """Return what is to be kept, without the marks."""
        settled, held = list(self._open)[:-MOST_OPEN], list(self._open.items())[-MOST_OPEN:]
        counted = (self._counted + "".join(settled))[-MOST_COUNTED * _ID :]
        return {
            "v": VERSION,
            "models": {name: list(usage) for name, usage in self.models.items()},
            "context": list(self.context),
            "open": {ident: [model, *usage] for ident, (model, usage) in held},
            "counted": counted,
        }

    def _is_settled(self, ident: str) -> bool:
        if ident in self._open:
            return False
        if self._known is None:
            ids = self._counted
            self._known = {ids[at : at + _ID] for at in range(0, len(ids), _ID)}
        return ident in self._known


def total(usages: Iterable[Usage]) -> Usage:
    return Usage(*map(sum, zip(Usage(), *usages, strict=True)))


def window_of(model: str, tokens: int = 0) -> int:
    """Return the model's window: a million where its id says so (``…[1m]``), else 200,000.

    What holds more ``tokens`` than the small window has the large one, whatever its id says.
    """
    large = model.lower().endswith(("[1m]", "-1m")) or tokens > WINDOW
    return LARGE_WINDOW if large else WINDOW


def _rows(
    document: Mapping[str, object], name: str, good: bool
) -> Iterable[tuple[str, list[object]]]:
    rows = document.get(name)
    if not good or not isinstance(rows, dict):
        return ()
    return [(str(key), row) for key, row in rows.items() if isinstance(row, list)]


def _usage(row: list[object]) -> Usage:
    return Usage(*(_sum(value) for value in [*row, 0, 0, 0, 0][:4]))


def _entry(row: list[object]) -> tuple[str, Usage]:
    return (str(row[0]) if row else OTHER, _usage(row[1:]))


def _context(row: object) -> Context:
    if not isinstance(row, list) or len(row) != len(Context._fields):
        return Context()
    return Context(str(row[0]), _sum(row[1]))


def _sum(value: object) -> int:
    return value if type(value) is int and value >= 0 else 0


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else 0


def _text(line: Mapping[str, object], name: str) -> str:
    value = line.get(name)
    return clean(value) if isinstance(value, str) else ""
