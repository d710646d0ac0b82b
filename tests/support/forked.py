"""Processes that are forked instead of started: real ones, to be killed for real, without imports.

A runner (``crash_runner.py``, …) ends in ``serve(main)``. One process of it lives as long as the
tests do; each ``run`` is a child of its own, forked from what had only been imported.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Done(NamedTuple):
    """How a child ended, as ``subprocess`` says it, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


class Runner:
    """The program's process, started with the first run. Threads may run children at once."""

    def __init__(self, program: str, env: Mapping[str, str] | None = None) -> None:
        self._command = [sys.executable, "-I", str(Path(__file__).with_name(program))]
        self._env, self._lock, self._port = env, Lock(), 0

    def run(self, *args: object) -> Done:
        """Run ``main(*args)`` in a new process and return when it has ended; each is a text."""
        with self._knock([str(arg) for arg in args]) as link, link.makefile("rb") as answer:
            return Done(*json.loads(answer.read()))

    def start(self) -> Child:
        """Run ``main()`` in a new process that has its end of a connection as stdin and stdout."""
        return Child(self._knock(None))

    def steps(self, *args: object) -> int | None:
        """Return the number of steps that the run says it took, or None where it was killed."""
        done = self.run(*args)
        if done.returncode == -signal.SIGKILL:
            return None
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    def _knock(self, args: list[str] | None) -> socket.socket:
        with self._lock:
            if not self._port:
                self._start()
        link = socket.create_connection(("127.0.0.1", self._port))
        link.sendall(json.dumps(args).encode() + b"\n")
        return link

    def _start(self) -> None:
        with socket.create_server(("127.0.0.1", 0), backlog=64) as door:
            process = subprocess.Popen(
                [*self._command, str(door.fileno())],
                stdin=subprocess.PIPE,
                env=self._env,
                pass_fds=(door.fileno(),),
            )
            self._port = door.getsockname()[1]

        def stop() -> None:
            process.kill()
            process.communicate()

        atexit.register(stop)


class Child:
    """A process that runs until it is killed, or its connection is closed and it heeds that."""

    def __init__(self, link: socket.socket) -> None:
        self._link, self._lines = link, link.makefile("rb")
        self._pid = int(self.readline())

    def write(self, data: bytes) -> None:
        self._link.sendall(data)

    def readline(self) -> bytes:
        return self._lines.readline()

    def kill(self) -> None:
        """Kill it, unless it has ended, and return when it is gone."""
        try:
            os.kill(self._pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.wait()
        self._lines.close()
        self._link.close()

    def wait(self) -> None:
        """Return when it has ended: nobody else has its end of the connection."""
        self._link.settimeout(30)
        try:
            while self._lines.read(65536):
                pass
        except ConnectionError:
            pass


def serve(main: Callable[..., object]) -> None:
    """Run ``main`` in a child for everybody who knocks, until stdin ends: the tests are over."""
    gc.freeze()
    door = socket.socket(fileno=int(sys.argv[1]))
    while 0 not in select.select([0, door], [], [])[0]:
        link, _ = door.accept()
        if os.fork() == 0:
            door.close()
            args = _attended(link)
            main(*args)  # and then the interpreter ends as any other does
            return
        link.close()
        while _reaped():
            pass


def _reaped() -> int:
    try:
        return os.waitpid(-1, os.WNOHANG)[0]
    except ChildProcessError:
        return 0


def _attended(link: socket.socket) -> list[str]:
    """Return in the child, with its arguments; whoever forked it says how it ended."""
    with link.makefile("rb") as asked:
        args: list[str] | None = json.loads(asked.readline())
    if args is None:
        os.dup2(link.fileno(), 0)
        os.dup2(link.fileno(), 1)
        link.close()
        os.write(1, b"%d\n" % os.getpid())
        return []
    out, err = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        link.close()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out[1], 1)
        os.dup2(err[1], 2)
        os.closerange(3, max(*out, *err) + 1)
        return args
    os.close(out[1])
    os.close(err[1])
    said = _both(out[0], err[0])
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    link.sendall(json.dumps([status, *said]).encode())
    os._exit(0)


def _both(*readers: int) -> list[str]:
    """Read them to their ends, whichever has something."""
    got: dict[int, bytes] = dict.fromkeys(readers, b"")
    left = list(readers)
    while left:
        for reader in select.select(left, [], [])[0]:
            part = os.read(reader, 65536)
            got[reader] += part
            if not part:
                left.remove(reader)
    return [data.decode() for data in got.values()]
