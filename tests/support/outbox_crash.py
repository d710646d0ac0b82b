"""Retry or drop in this process and die by SIGKILL before its N-th step on disk or in the ledger.

``main(N, WHAT, HOME, ID, AT)``: WHAT is ``retry`` or ``drop``; ID ``*`` retries everything.
Writes how many steps ran when it was not killed.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hooks.context import waiting
from hooks.context.ledger import Ledger
from hooks.settings import Settings
from tests.support.bomb import Bomb
from tests.support.forked import serve

_STEPS = ("fsync", "link", "replace", "rename", "unlink")
_STATEMENTS = ("add_receipt", "change")


def main(limit, what, home, wanted, at):
    bomb = Bomb(limit)
    settings, when = Settings(home, brain_source="local"), datetime.fromisoformat(at)
    chosen = waiting.entries(home) if wanted == "*" else [waiting.pick(home, wanted)]
    bomb.arm(os, *_STEPS)
    bomb.arm(Ledger, *_STATEMENTS)
    if what == "retry":
        waiting.retry(home, when, chosen)
    else:
        waiting.drop(settings, when, chosen[0])
    sys.stdout.write(str(bomb.count))


if __name__ == "__main__":
    serve(main)
