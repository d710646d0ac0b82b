"""Save a session in this process and die by SIGKILL before its N-th write, link or removal.

``archive_crash.py N FOLDER CLOSE``. Writes how many steps ran when it was not killed.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.archive import Archive

_STEPS = ("open", "write", "fsync", "link", "replace", "unlink", "mkdir")


def main(limit, folder, close):
    count = 0

    def wrap(step):
        def stepped(*args, **named):
            nonlocal count
            if count == limit:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1
            return step(*args, **named)

        return stepped

    archive = Archive(Path(folder))
    for name in _STEPS:
        setattr(os, name, wrap(getattr(os, name)))
    archive.save(close=close)
    sys.stdout.write(str(count))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3] == "close")
