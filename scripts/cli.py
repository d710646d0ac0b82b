"""The console commands ``brainhooks`` and ``brain_status``.

The status line runs after every message: it is served before anything of the other commands is
loaded.
"""

from __future__ import annotations

import os
import sys
import time


def main() -> None:
    """Run ``brainhooks`` with this process's arguments and leave with its exit code."""
    args = sys.argv[1:]
    if args in (["statusline"], ["statusline", "--segment"]):
        from hooks.dispatch import main as door

        now = time.time()  # noqa: TID251 - this is the door of the console commands
        sys.exit(door(args, env=os.environ, stdin=0, stdout=1, now=now))  # noqa: TID251 - likewise
    from scripts.app import run

    run(args)


def brain_status() -> None:
    """Run ``brain_status``: the same as ``brainhooks brain_status``."""
    from scripts.app import run

    run(["brain_status", *sys.argv[1:]])


if __name__ == "__main__":
    main()
