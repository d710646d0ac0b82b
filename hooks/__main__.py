"""The door of a hook process. Kept tiny: a script is compiled again at every start."""

from __future__ import annotations

import gc
import os
import sys
import time

if not __package__:  # started by path: -I leaves the script's folder out of sys.path
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from hooks.dispatch import main

if sys.argv[1:2] not in (["worker"], ["server"]):
    gc.disable()  # a hook lives for milliseconds: looking for garbage costs more than it holds

# Not sys.exit: taking the interpreter down is work for nothing. All output goes through
# os.write, whoever opens a database closes it, and nothing of ours waits for the exit.
os._exit(main(sys.argv[1:], env=os.environ, stdin=0, stdout=1, now=time.time()))  # noqa: TID251 - the door
