"""The door of a hook process. Kept tiny: a script is compiled again at every start."""

from __future__ import annotations

import os
import sys
import time

if not __package__:  # started by path: -I leaves the script's folder out of sys.path
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from hooks.dispatch import main

sys.exit(main(sys.argv[1:], env=os.environ, stdin=0, stdout=1, now=time.time()))  # noqa: TID251 - the door
