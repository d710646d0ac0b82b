"""A session at a memory server; the same answers as one in this process."""

from __future__ import annotations

import os
import select
import socket
import time
from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.answers import gathered
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.wire import (
    MAX_ANSWER,
    VERSION,
    Answer,
    Ask,
    Hello,
    Pushed,
    Refusal,
    Welcome,
    encode,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from scripts.swarm_v2.memory.wire import Message

CONNECT_S = 2.0
ANSWER_S = 30.0  # an answer may stand behind a recomputing pass
LOOPBACK = "127.0.0.1"
UNIX, TCP = "unix:", "tcp:"


def connect(address: str, token: str, space: str, session_id: str = "") -> RemoteMemory:
    """Open a session at the server of ``address``: ``unix:<path>`` or ``tcp:<port>``.

    A port is one of this machine: a token never leaves it.

    Raises:
        MemoryRefused: ``server-gone``, ``credential-refused``, ``space-invalid`` …
    """
    link = _Link(_socket(address))
    try:
        link.send(Hello(token, space, session_id))
        welcome = link.receive(ANSWER_S)
        if isinstance(welcome, Refusal):
            raise welcome.error()
        if not isinstance(welcome, Welcome) or welcome.version != VERSION:
            raise _gone("what answers there is no memory server of this version")
    except MemoryRefused:
        link.close()
        raise
    return RemoteMemory(link, space, welcome.principal)


class RemoteMemory:
    """See ``library.Memory``. For one thread; every method may raise ``server-gone``."""

    def __init__(self, link: _Link, space: str, principal: str | None) -> None:
        self.space, self.principal = space, principal
        self._link, self._number = link, 0
        self._parts: list[Pushed] = []  # of a frame whose last line is still to come
        self._frames: list[Mapping[str, object]] = []

    def read(self, id: str, scope: str = "space") -> Mapping[str, object] | None:
        found = self._ask("read", {"id": id, "scope": scope}).get("document")
        return found if isinstance(found, dict) else None

    def documents(
        self, scope: str = "space", *, prefix: str = "", after: str = "", limit: int = 100
    ) -> Mapping[str, object]:
        fields = {"scope": scope, "prefix": prefix, "after": after, "limit": limit}
        return self._ask("list", fields)

    def history(self, id: str, scope: str = "space", *, limit: int = 100) -> Mapping[str, object]:
        return self._ask("history", {"id": id, "scope": scope, "limit": limit})

    def commit(self, proposal: Mapping[str, object]) -> int:
        return int(str(self._ask("commit", {"proposal": proposal})["seq"]))

    def watch(
        self,
        watch_id: str,
        id: str,
        scope: str = "space",
        *,
        path: tuple[str, ...] = (),
        schema: object = True,
    ) -> Mapping[str, object]:
        fields = {"watch": watch_id, "id": id, "scope": scope, "path": [*path], "schema": schema}
        self._ask("watch", fields)
        return self._frames.pop()  # it was sent right before the answer

    def unwatch(self, watch_id: str) -> Mapping[str, object]:
        self._ask("unwatch", {"watch": watch_id})
        return self._frames.pop()

    def frames(self, timeout_s: float) -> list[Mapping[str, object]]:
        """Return the frames that came; waits for the first up to ``timeout_s``."""
        until = time.monotonic() + timeout_s
        while True:
            message = self._link.poll(0 if self._frames else until - time.monotonic())
            if message is None:
                break
            self._take(message)
        found, self._frames = self._frames, []
        return found

    def fileno(self) -> int:
        return self._link.fileno()

    def close(self) -> None:
        self._link.close()

    def __enter__(self) -> RemoteMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, ask: str, fields: Mapping[str, object]) -> Mapping[str, object]:
        self._number += 1
        self._link.send(Ask(self._number, ask, fields))
        while True:
            message = self._link.receive(ANSWER_S)
            if isinstance(message, (Answer, Refusal)) and message.n == self._number:
                if isinstance(message, Refusal):
                    raise message.error()
                return message.body
            self._take(message)

    def _take(self, message: Message) -> None:
        if isinstance(message, Refusal):  # of the connection itself
            raise message.error()
        if isinstance(message, Pushed):
            self._parts.append(message)
            if not message.more:
                self._frames.append(gathered(self._parts))
                self._parts = []


class _Link:
    """Lines over one socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._buffer, self._searched = sock, bytearray(), 0

    def fileno(self) -> int:
        return self._sock.fileno()

    def send(self, message: Message) -> None:
        try:
            self._sock.sendall(encode(message))
        except (OSError, ValueError) as err:
            raise _ended(str(err)) from None

    def receive(self, timeout_s: float) -> Message:
        """Return the next line.

        Raises:
            MemoryRefused: ``server-gone``, also where none comes in time.
        """
        found = self.poll(timeout_s)
        if found is None:
            sentence = f"the server did not answer within {timeout_s:g} s"
            raise _gone(sentence)
        return found

    def poll(self, timeout_s: float) -> Message | None:
        """Return the next line, or None where none is there within the time."""
        until = time.monotonic() + timeout_s
        while True:
            line = self._line()
            if line is not None:
                return parse(line, most=MAX_ANSWER)
            left = max(0.0, until - time.monotonic())
            if not select.select([self._sock], [], [], left)[0]:
                return None
            self._fill()

    def _line(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._buffer)
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        return line

    def _fill(self) -> None:
        try:
            data = self._sock.recv(1 << 16)
        except OSError as err:
            raise _ended(str(err.strerror)) from None
        if not data or len(self._buffer) > MAX_ANSWER:
            raise _gone("the server ended the connection")
        self._buffer += data

    def close(self) -> None:
        self._sock.close()


def _socket(address: str) -> socket.socket:
    try:
        if address.startswith(UNIX):
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            target: str | tuple[str, int] = address[len(UNIX) :]
        else:
            port = address.removeprefix(TCP)
            if not port.isascii() or not port.isdigit() or len(port) > 5:
                sentence = f"{address!r} is no address of a memory server"
                raise _gone(sentence)
            sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            target = (LOOPBACK, int(port))
    except OSError as err:
        raise _gone(os.strerror(err.errno or 0)) from None
    sock.settimeout(CONNECT_S)
    try:
        sock.connect(target)
    except (OSError, OverflowError, ValueError) as err:
        sock.close()
        sentence = f"no server answers at {address} ({err})"
        raise _gone(sentence) from None
    sock.settimeout(ANSWER_S)
    return sock


def _ended(why: str) -> MemoryRefused:
    return _gone(f"the connection to the server ended ({why})")


def _gone(sentence: str) -> MemoryRefused:
    return MemoryRefused("server-gone", sentence, "start one: brainhooks memory serve")
