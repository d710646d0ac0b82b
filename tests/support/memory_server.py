"""A real ``brainhooks memory serve``, and clients of several people."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.client import RemoteMemory, connect
from scripts.swarm_v2.memory.credentials import own_token, public_line
from tests.support.run_cli import ENTRY
from tests.support.run_hook import ROOT, agent_env

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WAIT_S = 30
PROJ = "git.example.org/shop/web"
TOKENS = {"did:key:zA": "a" * 64, "did:key:zA2": "c" * 64, "did:key:zB": "b" * 64}
A, A2, B = TOKENS


def short_folder() -> Iterator[Path]:
    """Make a folder with a name short enough for a socket in it; a fixture yields from this."""
    folder = Path(tempfile.mkdtemp(prefix="bh-"))
    yield folder
    shutil.rmtree(folder)


class MemoryServer:
    """One server process of ``home``; ``folder`` is its runtime path. Use it in a ``with``.

    ``people`` are those it lets in, with their tokens.
    """

    def __init__(
        self,
        home: Path,
        folder: Path,
        *args: str,
        env: Mapping[str, str] | None = None,
        people: Mapping[str, str] = TOKENS,
    ) -> None:
        self.home, self.folder, self._args, self.people = home, folder, args, people
        self.env = {
            **agent_env(home),
            "XDG_RUNTIME_DIR": str(folder),
            "PYTHONPATH": str(ROOT),
            **(env or {}),
        }
        own_token(str(home))
        lines = [public_line(person, token) for person, token in people.items()]
        (home / "memory" / "people").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (home / "memory" / "people").chmod(0o600)
        self.address = ""
        self.process: subprocess.Popen[str] | None = None
        self._clients: list[RemoteMemory] = []

    def __enter__(self) -> MemoryServer:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        for client in self._clients:
            client.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()

    def start(self) -> None:
        """Return when it says that it serves."""
        code = ENTRY.format(before="", function="main")
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, "memory", "serve", *self._args],
            cwd=self.home.parent,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line.startswith("serving at "):
            raise RuntimeError(line + self.process.communicate()[1])
        self.address = line.removeprefix("serving at ").strip()

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Signal it; return its exit code and what it complained of."""
        assert self.process is not None
        os.kill(self.process.pid, number)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """Wait for its end; return its exit code and what it complained of."""
        assert self.process is not None
        _, complaint = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, complaint

    def client(self, person: str = A, session: str = "", space: str = PROJ) -> RemoteMemory:
        """Connect as one of ``people`` (or with another token); closed with the server."""
        token = self.people.get(person, person)
        self._clients.append(connect(self.address, token, space, session))
        return self._clients[-1]

    def raw(self) -> socket.socket:
        """Return a connection that has said nothing yet."""
        if self.address.startswith("tcp:"):
            sock = socket.create_connection(("127.0.0.1", int(self.address[4:])), WAIT_S)
        else:
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(WAIT_S)
            sock.connect(self.address.removeprefix("unix:"))
        return sock


def everything(sock: socket.socket) -> bytes:
    """Return what comes until the connection ends."""
    data = b""
    try:
        while part := sock.recv(1 << 16):
            data += part
    except ConnectionResetError:
        pass
    return data


def written(id: str, value: object, scope: str = "space", **more: object) -> dict[str, object]:
    """Return a proposal with one write."""
    return {"writes": [{"id": id, "scope": scope, "value": value, **more}]}
