"""One process, measured: wall time, peak memory, syncs."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The interpreter that a hook is started with: the real file, not the virtual environment's link.
PYTHON = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
NOTHING = [PYTHON, "-I", "-S", "-c", "pass"]  # F: what any Python process costs

# ru_maxrss counts what the parent held when it forked: a small parent makes it the child's own.
_PEAK = """
import os, sys
null = os.open(os.devnull, os.O_WRONLY)
given = os.open(sys.argv[1], os.O_RDONLY)
actions = [(os.POSIX_SPAWN_DUP2, given, 0), (os.POSIX_SPAWN_DUP2, null, 1)]
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=actions)
_, status, used = os.wait4(pid, 0)
print(used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) if status == 0 else -1)
"""
_SYNCS = ("fsync", "fdatasync", "sync_file_range", "msync", "sync", "syncfs")


class Job(NamedTuple):
    """A command with its whole environment and the file that is its standard input."""

    command: list[str]
    env: dict[str, str]
    given: str = os.devnull


class Case(NamedTuple):
    name: str
    target: float  # times F
    make: Callable[[], Job]


def wall_s(job: Job) -> float:
    """Run ``job`` and return the seconds until its own process ended.

    What it left working in the background is waited for afterwards, so that it disturbs no
    other measurement: those processes hold the write end of a pipe.
    """
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, job.given, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    began = time.perf_counter()
    pid = os.posix_spawn(job.command[0], job.command, job.env, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    took = time.perf_counter() - began
    os.close(writer)
    while os.read(reader, 1):
        pass
    os.close(reader)
    if status:
        sys.exit(f"{job.command[-1]} ended with status {status}; nothing was measured")
    return took


def peak_bytes(job: Job) -> int:
    """Return the most memory that ``job``'s process had resident."""
    command = [PYTHON, "-I", "-S", "-c", _PEAK, job.given, *job.command]
    done = subprocess.run(command, env=job.env, capture_output=True, text=True, check=True)
    return int(done.stdout)


def syncs(job: Job) -> int | None:
    """Count the syncs of ``job``'s own process, SQLite's included; None without strace."""
    strace = shutil.which("strace")
    if strace is None:
        return None
    command = [strace, "-qq", "-e", f"trace={','.join(_SYNCS)}", "-e", "signal=none", *job.command]
    with open(job.given, "rb") as given:
        done = subprocess.run(
            command, env=job.env, stdin=given, capture_output=True, text=True, check=False
        )
    if done.returncode:  # a container may forbid ptrace
        return None
    return sum(line.startswith(_SYNCS) for line in done.stderr.splitlines())


def measure(rounds: int, cases: Sequence[Case]) -> tuple[float, dict[str, float]]:
    """Return F and the median of each case, in seconds."""
    took: dict[str, list[float]] = {case.name: [] for case in cases}
    nothing = []
    for number in range(rounds + 2):
        order = [*cases]
        random.Random(number).shuffle(order)
        once = [wall_s(Job(NOTHING, {}))]
        for case in order:
            seconds = wall_s(case.make())
            once.append(wall_s(Job(NOTHING, {})))
            if number >= 2:  # the first two rounds fill the bytecode cache and the page cache
                took[case.name].append(seconds)
        nothing += once if number >= 2 else []
    medians = {name: statistics.median(values) for name, values in took.items()}
    return statistics.median(nothing), medians
