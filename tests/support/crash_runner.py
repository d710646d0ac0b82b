"""Run a collect, or a drain, in this process and die by SIGKILL before its N-th step.

``crash_runner.py WHAT N JSON``: WHAT is ``collect`` or ``drain``, JSON says what ``Event`` and
``Settings`` are. Every step of the product's tables is wrapped here; the product has no hook
for it. Writes how many steps ran when it was not killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hooks import atomic
from hooks.context import collect, delivery, gather, last_message, outbox
from hooks.context.flush import drain
from hooks.payload import Event
from hooks.settings import Settings

_TABLES = (
    (gather, "BATCH"),
    (gather, "KEEP"),
    (last_message, "BELIEVE"),
    (delivery, "PREPARE"),
    (delivery, "DELIVER"),
    (delivery, "FINISH"),
)
_FUNCTIONS = (
    (collect, "record_moves"),
    (collect, "save_mark"),
    (atomic, "sync_folder"),
    (atomic, "_link"),
    (outbox, "remove"),
    (outbox, "quarantine"),
    (os, "replace"),
    (os, "unlink"),
)


class _Bomb:
    def __init__(self, limit):
        self.limit, self.count = limit, 0

    def wrap(self, step):
        def stepped(*args, **named):
            if self.count == self.limit:
                os.kill(os.getpid(), signal.SIGKILL)
            self.count += 1
            return step(*args, **named)

        stepped.__name__ = getattr(step, "__name__", "step")
        return stepped


def main(what, limit, text):
    bomb = _Bomb(int(limit))
    for module, name in _TABLES:
        setattr(module, name, tuple(bomb.wrap(step) for step in getattr(module, name)))
    for module, name in _FUNCTIONS:
        setattr(module, name, bomb.wrap(getattr(module, name)))
    said = json.loads(text)
    settings, at = Settings(**said["settings"]), datetime.fromisoformat(said["at"])
    if what == "drain":
        drain(settings, said["env"], at)
    else:
        collect.collect(Event(**said["event"]), settings, said["env"], at)
    sys.stdout.write(str(bomb.count))


if __name__ == "__main__":
    main(*sys.argv[1:])
