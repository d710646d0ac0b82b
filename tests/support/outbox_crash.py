"""Retry or drop in this process and die by SIGKILL before its N-th step on disk or in the ledger.

``outbox_crash.py N WHAT HOME ID AT``: WHAT is ``retry`` or ``drop``; ID ``*`` retries everything.
Writes how many steps ran when it was not killed.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hooks.context import waiting
from hooks.context.ledger import Ledger
from hooks.settings import Settings

_STEPS = ("fsync", "link", "replace", "rename", "unlink")
_STATEMENTS = ("add_receipt", "change")


def main(limit, what, home, wanted, at):
    count = 0

    def wrap(step):
        def stepped(*args, **named):
            nonlocal count
            if count == limit:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1
            return step(*args, **named)

        return stepped

    settings, when = Settings(home, brain_source="local"), datetime.fromisoformat(at)
    chosen = waiting.entries(home) if wanted == "*" else [waiting.pick(home, wanted)]
    for name in _STEPS:
        setattr(os, name, wrap(getattr(os, name)))
    for name in _STATEMENTS:
        setattr(Ledger, name, wrap(getattr(Ledger, name)))
    if what == "retry":
        waiting.retry(home, when, chosen)
    else:
        waiting.drop(settings, when, chosen[0])
    sys.stdout.write(str(count))


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), *sys.argv[2:])
    except sqlite3.Error as err:
        sys.exit(f"the ledger: {err}")
