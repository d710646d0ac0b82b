"""Run the product's entry in this process, with one call of the operating system that fails.

``fault_runner.py SPEC ENTRY EVENT…``: SPEC is JSON, as ``faults.Fault`` writes it. The calls of
one kind are counted from 0; number ``first`` raises ``OSError(errno)``, with ``always`` every
later one too. ``who`` is the process whose calls count: the hook or the worker that it starts.
Each failure adds a byte to ``report``. What SQLite writes in C is not reached from here.
"""

from __future__ import annotations

import fcntl
import json
import os
import runpy
import sys

# By their kinds: what makes room, what makes it last, what gives it a name.
CALLS = {
    "write": ("write",),
    "fsync": ("fsync",),
    "rename": ("rename", "replace"),
    "link": ("link",),
    "mkdir": ("mkdir",),
    "create": ("open",),
    "unlink": ("unlink",),
    "flock": ("flock",),
}
_STREAMS = (0, 1, 2)  # the agent's own pipes are on no disk


def _counts(kind, args):
    if kind == "write":
        return args[0] not in _STREAMS
    return kind != "create" or (len(args) > 1 and bool(args[1] & os.O_CREAT))


class _Faults:
    def __init__(self, spec):
        self.spec, self.count = spec, 0
        self._open, self._write, self._close = os.open, os.write, os.close

    def fire(self):
        fd = self._open(self.spec["report"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._write(fd, b".")
        self._close(fd)
        raise OSError(self.spec["errno"], os.strerror(self.spec["errno"]))

    def wrap(self, kind, real):
        def called(*args, **named):
            if _counts(kind, args):
                number, self.count = self.count, self.count + 1
                first = self.spec["first"]
                if number == first or (self.spec["always"] and number > first):
                    self.fire()
            return real(*args, **named)

        return called


def main(spec_text, entry, *args):
    spec = json.loads(spec_text)
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(entry))))
    if spec["who"] == ("worker" if args[0] == "worker" else "hook"):
        faults = _Faults(spec)
        module = fcntl if spec["kind"] == "flock" else os
        for name in CALLS[spec["kind"]]:
            setattr(module, name, faults.wrap(spec["kind"], getattr(module, name)))
    elif spec["who"] == "worker":
        from hooks import spawn

        here = [sys.executable, "-I", "-S", __file__, spec_text, entry]
        spawn.start_command = lambda _root, *task: [*here, *task]
    sys.argv = [entry, *args]
    runpy.run_path(entry, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
