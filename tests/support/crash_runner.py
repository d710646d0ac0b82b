"""Run a collect, a drain, … in this process and die by SIGKILL before its N-th step.

``main(WHAT, N, JSON)``: WHAT is a row of ``RUNS``, JSON says what ``Event`` and
``Settings`` are, and ``args``. Every step of the product's tables is wrapped here; the product
has no hook for it. Writes how many steps ran when it was not killed.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hooks import atomic
from hooks.context import (
    adopt,
    batch,
    burial,
    collect,
    delivery,
    gather,
    keep,
    last_message,
    migrations,
    outbox,
)
from hooks.context.flush import drain
from hooks.payload import Event
from hooks.settings import Http, Settings
from tests.support.bomb import Bomb
from tests.support.forked import serve

_TABLES = (
    (gather, "BATCH"),
    (gather, "KEEP"),
    (last_message, "BELIEVE"),
    (batch, "READ"),
    (batch, "CLAIM"),
    (batch, "POST"),
    (batch, "SETTLE"),
    (delivery, "PREPARE"),
    (delivery, "FINISH"),
    (adopt, "MOVE"),
    (burial, "FINISH"),
)
_FUNCTIONS = (
    (collect, "record_moves"),
    (collect, "save_mark"),
    (atomic, "sync_folder"),
    (atomic, "_link"),
    (migrations, "back_up"),
    (migrations, "write_down"),
    (migrations, "note_done"),
    (outbox, "remove"),
    (keep, "bury"),
    (outbox, "quarantine"),
    (os, "replace"),
    (os, "unlink"),
)


def main(what, limit, text):
    bomb = Bomb(limit)
    for module, name in _TABLES:
        setattr(module, name, tuple(bomb.wrap(step) for step in getattr(module, name)))
    for module, name in _FUNCTIONS:
        bomb.arm(module, name)
    migrations.STEPS = tuple(step._replace(run=bomb.wrap(step.run)) for step in migrations.STEPS)
    said = json.loads(text)
    http = Http(**said["settings"].pop("http", {}))
    settings, at = Settings(**said["settings"], http=http), datetime.fromisoformat(said["at"])
    RUNS[what](said, settings, at)
    sys.stdout.write(str(bomb.count))


def _collect(said, settings, at):
    collect.collect(Event(**said["event"]), settings, said["env"], at)


def _edit(said, settings, at):
    where = keep.place(settings, said["env"], at, "", said["event"]["cwd"])
    keep.edit(settings, said["env"], where, *said["args"])


RUNS = {
    "edit": _edit,
    "forget": lambda said, settings, at: keep.forget(settings, said["env"], at, *said["args"]),
    "collect": _collect,
    "drain": lambda said, settings, at: drain(settings, said["env"], at),
    "migrate": lambda _, settings, at: migrations.migrate(settings.home, at),
    "adopt": lambda said, settings, at: adopt.adopt(settings.home, *said["args"], at),
}

if __name__ == "__main__":
    serve(main)
