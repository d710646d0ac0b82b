"""Run the product's entry as if this machine's clock were so many seconds off, its worker too.

``clock_runner.py SECONDS ENTRY EVENT…``; ``clock`` makes what stands before the entry. The
product reads the clock once, at the door of each process.
"""

from __future__ import annotations

import os
import runpy
import sys
import time

HERE = os.path.abspath(__file__)


def clock(seconds):
    return HERE, str(seconds)


def main(seconds, entry, *args):
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(entry))))
    from hooks import spawn

    real = time.time  # noqa: TID251 - this is the clock that the door is to see
    time.time = lambda: real() + float(seconds)  # noqa: TID251 - as above
    again = [sys.executable, "-I", "-S", HERE, seconds, entry]
    spawn.start_command = lambda _root, *task: [*again, *task]
    sys.argv = [entry, *args]
    runpy.run_path(entry, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
