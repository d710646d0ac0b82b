"""Calls of the operating system that fail inside a session's hooks, one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

RUNNER = str(Path(__file__).with_name("fault_runner.py"))


class Fault(NamedTuple):
    """The call of ``kind`` that fails, in which process, how; see ``fault_runner``."""

    kind: str
    errno: int
    first: int = 0
    always: bool = False
    who: str = "hook"

    def flags(self, report: Path) -> tuple[str, str]:
        """Return what stands before the entry in a start command."""
        return RUNNER, json.dumps({**self._asdict(), "report": str(report)})


def failures(report: Path) -> int:
    """Return how many calls failed so far."""
    return report.stat().st_size if report.exists() else 0
