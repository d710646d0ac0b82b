"""Run a program of Python as one who has no rights over what mode bits forbid, root or not.

``without_privileges.py ENTRY ARG…`` takes from root, for good and for its children, what lets
it read and write everything; root's own files then are to it as anybody's are to them. Exits
with 77 where that cannot be. ``FLAGS`` stands before the entry in a start command.
"""

from __future__ import annotations

import os
import sys

FLAGS = (os.path.abspath(__file__),)
CANNOT = 77
_PR_CAPBSET_DROP = 24
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2


def main(*command):
    if os.geteuid() == 0:
        import ctypes

        libc = ctypes.CDLL(None)
        for capability in (_DAC_OVERRIDE, _DAC_READ_SEARCH):
            if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
                os._exit(CANNOT)
    os.execv(sys.executable, [sys.executable, "-I", "-S", *command])


if __name__ == "__main__":
    main(*sys.argv[1:])
