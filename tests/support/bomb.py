"""Death by SIGKILL before the N-th step: what the runners wrap the steps in."""

from __future__ import annotations

import os
import signal


class Bomb:
    """``count`` is how many steps ran; there is no step number ``limit``."""

    def __init__(self, limit):
        self.limit, self.count = int(limit), 0

    def wrap(self, step):
        def stepped(*args, **named):
            if self.count == self.limit:
                os.kill(os.getpid(), signal.SIGKILL)
            self.count += 1
            return step(*args, **named)

        stepped.__name__ = getattr(step, "__name__", "step")
        return stepped

    def arm(self, owner, *names):
        """Make a step of each of these functions of a module or class."""
        for name in names:
            setattr(owner, name, self.wrap(getattr(owner, name)))
