"""Write the table of settings in README.md from ``hooks.settings.TABLE``."""

from __future__ import annotations

import re
from pathlib import Path

from hooks.settings import TABLE

README = Path(__file__).resolve().parents[1] / "README.md"
BETWEEN = re.compile(r"(<!-- settings:[^\n]*-->\n).*?(<!-- /settings -->)", re.DOTALL)


def table() -> str:
    """Return the Markdown table, one row per setting, ending in a newline."""
    head = "| setting | default | what it is |\n|---|---|---|\n"
    rows = [
        f"| `{name}` | {f'`{default}`' if default else ''} | {line} |\n".replace("|  |", "| |")
        for name, (default, line) in TABLE.items()
    ]
    return head + "".join(rows)


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    README.write_text(BETWEEN.sub(rf"\g<1>{table()}\g<2>", text), encoding="utf-8")
