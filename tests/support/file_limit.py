"""Run a program of Python that may write no file beyond so many bytes: a disk that is full.

``file_limit.py BYTES ENTRY ARG…``; ``limit`` makes what stands before the entry. It binds root,
the children, and what SQLite writes in C.
"""

from __future__ import annotations

import os
import resource
import sys


def limit(size):
    return os.path.abspath(__file__), str(size)


def main(size, *command):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
    os.execv(sys.executable, [sys.executable, "-I", "-S", *command])


if __name__ == "__main__":
    main(*sys.argv[1:])
