"""One conversation with a memory server: lines over one socket, from hello to its end."""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from typing import TYPE_CHECKING

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.wire import (
    MAX_ANSWER,
    VERSION,
    Ask,
    Hello,
    Refusal,
    Welcome,
    encode,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scripts.swarm_v2.memory.wire import Message

CONNECT_S = 2.0
ANSWER_S = 30.0  # an answer may stand behind a recomputing pass
LOOPBACK = "127.0.0.1"
UNIX, TCP = "unix:", "tcp:"
GONE = "server-gone"


class Connection:
    """It ends with the first ``server-gone``; what was asked and not answered stays unknown."""

    def __init__(self, address: str, token: str, space: str, session_id: str) -> None:
        """Connect, and say who speaks.

        Raises:
            MemoryRefused: ``server-gone``, ``credential-refused``, ``space-invalid`` …
        """
        self._link = _Link(_socket(address))
        self._number = 0
        try:
            self._link.send(encode(Hello(token, space, session_id)))
            welcome = self.receive()
            if isinstance(welcome, Refusal):
                raise welcome.error()
            if not isinstance(welcome, Welcome) or welcome.version != VERSION:
                raise gone("what answers there is no memory server of this version")
        except MemoryRefused:
            self.close()
            raise
        self.principal = welcome.principal

    def fileno(self) -> int:
        return self._link.fileno()

    def ask(self, ask: str, fields: Mapping[str, object]) -> int:
        """Send a question; its number stands in the answer.

        Raises:
            MemoryRefused: ``request-invalid`` for what is no JSON; ``server-gone``, and then the
                server has not got the whole of it: nothing came of it.
        """
        self._number += 1
        try:
            line = encode(Ask(self._number, ask, fields))
        except (TypeError, ValueError) as err:
            raise MemoryRefused("request-invalid", f"this is no JSON: {err}") from None
        self._link.send(line)
        return self._number

    def receive(self) -> Message:
        """Return the next line; none in time is a ``server-gone`` too."""
        found = self.poll(ANSWER_S)
        if found is None:
            sentence = f"the server did not answer within {ANSWER_S:g} s"
            raise gone(sentence)
        return found

    def poll(self, timeout_s: float) -> Message | None:
        """Return the next line, or None where none is there within the time.

        Raises:
            MemoryRefused: ``server-gone``.
        """
        line = self._link.line(timeout_s)
        return None if line is None else parse(line, most=MAX_ANSWER)

    def close(self) -> None:
        self._link.close()


class _Link:
    """Lines over one socket, in both directions at once."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._part = sock, bytearray()
        self._lines: deque[bytes] = deque()

    def fileno(self) -> int:
        return self._sock.fileno()

    def send(self, line: bytes) -> None:
        """Send a line, and take what comes meanwhile: else each side could wait for the other."""
        left, until = memoryview(line), time.monotonic() + ANSWER_S
        while left:
            patience = max(0.0, until - time.monotonic())
            reads, writes, _ = select.select([self._sock], [self._sock], [], patience)
            if not reads and not writes:
                sentence = f"the server took nothing for {ANSWER_S:g} s"
                raise gone(sentence)
            if reads:
                self._fill()
            if writes:
                left = left[self._write(left) :]

    def line(self, timeout_s: float) -> bytes | None:
        """Return the next line without its end; None where none is whole within the time."""
        until = time.monotonic() + timeout_s
        while not self._lines:
            left = max(0.0, until - time.monotonic())
            if not select.select([self._sock], [], [], left)[0]:
                return None
            self._fill()
        return self._lines.popleft()

    def _write(self, data: memoryview) -> int:
        try:
            return self._sock.send(data)
        except BlockingIOError:
            return 0
        except OSError as err:
            raise _ended(err) from None

    def _fill(self) -> None:
        try:
            data = self._sock.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError as err:
            raise _ended(err) from None
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._lines.append(bytes(self._part + line))
            self._part.clear()
        self._part += rest
        if not data or len(self._part) > MAX_ANSWER:
            raise gone("the server ended the connection")

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
                raise gone(sentence)
            sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            target = (LOOPBACK, int(port))
    except OSError as err:
        raise gone(os.strerror(err.errno or 0)) from None
    sock.settimeout(CONNECT_S)
    try:
        sock.connect(target)
    except (OSError, OverflowError, ValueError) as err:
        sock.close()
        sentence = f"no server answers at {address} ({err})"
        raise gone(sentence) from None
    sock.setblocking(False)
    return sock


def gone(sentence: str) -> MemoryRefused:
    return MemoryRefused(GONE, sentence, "start one: brainhooks memory serve")


def _ended(err: OSError) -> MemoryRefused:
    return gone(f"the connection to the server ended ({err.strerror})")
