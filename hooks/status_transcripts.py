"""The status's piece about transcripts: lines that could not be read, so that none goes unseen."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# In the words of a person; ``glued`` lines are read whole and ``resumed`` ones count as unparsed.
WORDS = {
    "unparsed": "torn or not JSON",
    "oversized": "too long",
    "nul": "with NUL bytes",
    "bad_utf8": "not UTF-8",
}


def transcripts(home: str) -> dict[str, int]:
    """Return the damaged lines met in the transcripts of the last weeks, by kind."""
    from hooks.context.marks import damage

    found = damage(home)
    return {kind: found[kind] for kind in WORDS if found.get(kind)}


def describe(data: Mapping[str, Any]) -> str:
    if not data:
        return "no damaged line"
    number = sum(data.values())
    lines = "1 damaged line" if number == 1 else f"{number} damaged lines"
    kinds = ", ".join(f"{data[kind]} {word}" for kind, word in WORDS.items() if kind in data)
    return f"{lines} ({kinds}), passed over; `brainhooks markers explain FILE` shows where"
