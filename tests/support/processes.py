"""Real interpreter processes that run a few lines of ours, one or many at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
# -I -S as hooks are started: nothing but the standard library and our root.
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); "
_WAIT = "sys.stdin.readline();\n"


def command(code: str, *args: object) -> list[str]:
    """Return the command that runs ``code`` with ``args`` in ``sys.argv[1:]``."""
    return [sys.executable, "-I", "-S", "-c", _START + code, str(ROOT), *map(str, args)]


def run_code(code: str, *args: object, env: Mapping[str, str] | None = None) -> str:
    """Run ``code`` in its own process and return its stdout; a failure is the test's failure."""
    done = subprocess.run(command(code, *args), capture_output=True, env=env, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def at_once(count: int, setup: str, code: str, *args: object) -> list[str]:
    """Run ``code`` in ``count`` processes that start it together; return what each printed.

    Every process imports what ``setup`` names, then waits for the line that releases all; its
    number is the last of ``sys.argv``.
    """
    whole = f"{setup}\n{_WAIT}{code}"
    running = [
        subprocess.Popen(
            command(whole, *args, number),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(count)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    results = [process.communicate() for process in running]
    for process, (_, errors) in zip(running, results, strict=True):
        assert process.returncode == 0, errors.decode()
    return [out.decode() for out, _ in results]
