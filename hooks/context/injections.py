"""What was injected into which session, so that ``explain`` can say it and a resume repeat it.

One file of JSON lines a session. Plain files, not the ledger: a session start must not pay for
SQLite, and no other row depends on these.
"""

from __future__ import annotations

import os

from hooks import atomic
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    from hooks.context.compose import Source
else:
    from hooks.record import NamedTuple

MAX_BYTES = 4 << 20  # about a thousand injections of the default budget


class Injection(NamedTuple):
    """One context as it was printed: the very text, and (memory ids, line) for each line."""

    at: str
    event: str
    text: str
    sources: tuple[tuple[tuple[str, ...], str], ...]
    prints: tuple[tuple[str, str], ...] = ()  # (memory id, what ``compose`` notes of its text)

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(one for ids, _ in self.sources for one in ids)


def path_of(home: str, session_id: str) -> str:
    return os.path.join(home, "brain", "injected", f"{session_id}.jsonl")


def note(
    home: str, session_id: str, event: str, text: str, sources: Iterable[Source], *, at: str
) -> None:
    """Record one injection, with the digest of its text."""
    row = {
        "at": at,
        "event": event,
        "hash": short_digest(text.encode("utf-8", "replace")),
        "text": text,
        "sources": rows_of(sources),
    }
    path = path_of(home, session_id)
    atomic.make_folder(os.path.dirname(path))
    atomic.append_line(path, dumps(row).encode("ascii"))


def read(home: str, session_id: str) -> list[Injection]:
    """Return the session's injections, oldest first; torn lines are passed over."""
    data = atomic.read(path_of(home, session_id), MAX_BYTES) or b""
    rows = (parse(line) for line in data.split(b"\n"))
    return [row for row in rows if row is not None]


def parse(line: bytes) -> Injection | None:
    row = load_object(line) if line else None
    if row is None or not isinstance(row.get("text"), str):
        return None
    shown, prints = pairs(row.get("sources")), _prints(row.get("sources"))
    at, event = str(row.get("at", "")), str(row.get("event", ""))
    return Injection(at, event, str(row["text"]), shown, prints)


def told(home: str, session_id: str) -> dict[str, str]:
    """Return the memories that a session was told, each with the print of its text as last told.

    "" where an older version noted none, ``compose.GONE`` for one that was taken back.
    """
    found: dict[str, str] = {}
    for row in read(home, session_id):
        found.update(dict.fromkeys(row.ids, ""))
        found.update(row.prints)
    return found


def rows_of(sources: Iterable[Source]) -> list[dict[str, object]]:
    """Write sources as ``pairs`` reads them."""
    return [
        {"ids": list(source.ids), "line": source.line, "prints": list(source.prints)}
        for source in sources
    ]


def pairs(sources: object) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Read ``[{"ids": [...], "line": ...}]``; whatever is damaged in it is left out."""
    return tuple(
        (
            tuple(one for one in source.get("ids", ()) if isinstance(one, str)),
            str(source.get("line")),
        )
        for source in (sources if isinstance(sources, list) else ())
        if isinstance(source, dict) and isinstance(source.get("ids", []), list)
    )


def _prints(sources: object) -> tuple[tuple[str, str], ...]:
    return tuple(
        (key, print_)
        for source in (sources if isinstance(sources, list) else ())
        if isinstance(source, dict)
        and isinstance(source.get("ids"), list)
        and isinstance(source.get("prints"), list)
        for key, print_ in zip(source["ids"], source["prints"], strict=False)
        if isinstance(key, str) and isinstance(print_, str)
    )
