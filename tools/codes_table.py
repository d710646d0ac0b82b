"""Write the table of refusals in docs/scoped-memory.md from ``errors.CODES``."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.swarm_v2.memory.errors import CODES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scoped-memory.md"
BETWEEN = re.compile(r"(<!-- codes:[^\n]*-->\n).*?(<!-- /codes -->)", re.DOTALL)


def table() -> str:
    """Return the Markdown table, one row per code, ending in a newline."""
    rows = [f"| `{code}` | {line} |\n" for code, line in CODES.items()]
    return "| code | what is wrong |\n|---|---|\n" + "".join(rows)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BETWEEN.sub(rf"\g<1>{table()}\g<2>", text), encoding="utf-8")
