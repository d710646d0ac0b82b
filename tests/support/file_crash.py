"""Write, edit and accept a page, perhaps forget it, and die by SIGKILL before the N-th step.

``main(N, FOLDER, LAST)``: LAST is ``accept`` or ``forget``. Writes how many steps ran when it was
not killed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hooks.context.brains.file import FileBrain
from tests.support.bomb import Bomb
from tests.support.forked import serve

_STEPS = ("open", "write", "fsync", "link", "unlink", "replace", "utime", "fchmod")


def main(limit, folder, last):
    bomb = Bomb(limit)
    bomb.arm(os, *_STEPS)
    brain = FileBrain(folder, "ann")
    attrs = {"project_id": "p/q/r", "message_id": "m", "session_id": "s"}
    brain.post_marker({"type": "lesson", "content": "old", "attrs": attrs}, "a" * 32)
    brain.edit("a" * 32, {"type": "lesson", "content": "new", "attrs": attrs}, "b" * 32)
    brain.accept("b" * 32)
    if last == "forget":
        brain.forget("b" * 32)
    sys.stdout.write(str(bomb.count))


if __name__ == "__main__":
    serve(main)
