"""Save a session in this process and die by SIGKILL before its N-th write, link or removal.

``main(N, FOLDER, CLOSE)``. Writes how many steps ran when it was not killed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.archive import Archive
from tests.support.bomb import Bomb
from tests.support.forked import serve

_STEPS = ("open", "write", "fsync", "link", "replace", "unlink", "mkdir")


def main(limit, folder, close):
    bomb = Bomb(limit)
    archive = Archive(Path(folder))
    bomb.arm(os, *_STEPS)
    archive.save(close=close == "close")
    sys.stdout.write(str(bomb.count))


if __name__ == "__main__":
    serve(main)
