"""A home as the older version leaves it, and what of a home must survive everything."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.support.run_hook import ROOT

OLDER = ROOT / "tests" / "older_home"
SESSION = "6f1c2a9e-0000-4000-8000-000000000005"  # of its outbox files and its index row
KEYED = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"  # the one key that it recorded
# An outbox file as it was before keys were recorded; its text is the test's.
OLD = {"type": "lesson", "attrs": {}, "session_id": "s5", "ts": "2026-09-01T10:15:00+00:00"}
# Notes, locks and logs come and go; caches are made again.
PASSING = ("locks", "logs", "display", "last-run", "positions", "door", "claims", "project-memory")


def older_home(home: Path) -> Path:
    """Copy it to ``home``."""
    shutil.copytree(OLDER, home, ignore=shutil.ignore_patterns("README.md"))
    return home


def durable(home: Path) -> dict[str, bytes]:
    """Return name and bytes of every file that nothing may lose."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not set(PASSING) & set(path.parts)
    }


def put(folder: Path, name: str, document: dict[str, object]) -> None:
    """Write one outbox file, whatever it says."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(document), encoding="utf-8")
