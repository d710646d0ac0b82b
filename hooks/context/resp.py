"""RESP2 over a plain socket: what a hook needs of a Redis client, at the price of a few calls.

One budget of time covers connecting and every answer. Nothing is tried twice: a repeated write
could run twice. After any failure the link is closed, so no late answer is taken for another's.
"""

from __future__ import annotations

import time

from hooks.context.redis_faults import NONSENSE, TOO_LARGE, broken, down, refusal
from hooks.context.stream import connect, time_left
from hooks.errors import StateDown

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

    from hooks.context.redis_url import Place

    Command = tuple[str | bytes, ...]
    Answer = bytes | int | None | list["Answer"]

MAX_BYTES = 4 << 20  # of the answers to one question
_MAX_LINE = 4_096
_MAX_ITEMS = 65_536  # of one list
_MAX_DEPTH = 2  # SCAN answers with a list in a list


class Link:
    """One connection to a server at ``redis://`` or ``unix://``; every method may StateDown."""

    def __init__(self, place: Place, wait_s: float) -> None:
        """Connect; login and database go with the first question. ``wait_s`` covers all of it."""
        self._taken, self._got = 0, bytearray()
        self._left = self._until = 0.0
        self._sock: _socket.socket | None = None
        self._hello: list[Command] = place.hello()
        self.wait_up_to(wait_s)
        try:
            self._sock = connect(place, self._until)
        except OSError as err:
            raise broken(err) from None
        self._left = self._until - time.monotonic()

    def wait_up_to(self, seconds: float) -> None:
        """Give all that follows a budget of its own: for readers that a person waits for."""
        self._left, self._until = seconds, time.monotonic() + seconds

    def close(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    def ask(self, *commands: Command) -> list[Answer]:
        """Send all commands at once and return their answers; an error in one fails them all."""
        hello, self._hello = self._hello, []
        if hello and commands[0][0] != "MGET":  # a write waits until it is sure where and as whom
            self._exchange(hello)
            hello = []
        return self._exchange([*hello, *commands])[len(hello) :]

    def _exchange(self, commands: list[Command]) -> list[Answer]:
        if self._sock is None:
            raise down("the connection is closed")
        self._until, self._taken = time.monotonic() + self._left, 0
        try:
            self._sock.settimeout(time_left(self._until))
            self._sock.sendall(b"".join(map(_encoded, commands)))
            answers = [self._answer(self._sock, 0) for _ in commands]
        except (OSError, StateDown) as err:
            self.close()
            raise (broken(err) if isinstance(err, OSError) else err) from None
        self._left = self._until - time.monotonic()
        return answers

    def _fill(self, sock: _socket.socket) -> None:
        sock.settimeout(time_left(self._until))
        part = sock.recv(65_536)
        self._taken += len(part)
        if not part or self._taken > MAX_BYTES:
            raise down(TOO_LARGE if part else "it closed the connection")
        self._got += part

    def _answer(self, sock: _socket.socket, depth: int) -> Answer:
        kind, rest = self._line(sock)
        if kind == b"+":
            return rest
        if kind == b"-":
            raise down(refusal(rest.decode("ascii", "replace")))
        number = _number(rest)
        if kind == b":":
            return number
        if kind == b"$":
            return None if number == -1 else self._bulk(sock, number)
        if kind != b"*" or depth >= _MAX_DEPTH or not 0 <= number <= _MAX_ITEMS:
            raise down(NONSENSE)
        return [self._answer(sock, depth + 1) for _ in range(number)]

    def _line(self, sock: _socket.socket) -> tuple[bytes, bytes]:
        while (end := self._got.find(b"\r\n")) < 0:
            if len(self._got) > _MAX_LINE or self._got[:1] not in (b"", *_KINDS):
                raise down(NONSENSE)
            self._fill(sock)
        line = bytes(self._got[:end])
        del self._got[: end + 2]
        return line[:1], line[1:]

    def _bulk(self, sock: _socket.socket, size: int) -> bytes:
        if not 0 <= size <= MAX_BYTES:
            raise down(TOO_LARGE if size > 0 else NONSENSE)
        while len(self._got) < size + 2:
            self._fill(sock)
        value, end = bytes(self._got[:size]), self._got[size : size + 2]
        del self._got[: size + 2]
        if end != b"\r\n":
            raise down(NONSENSE)
        return value


_KINDS = (b"+", b"-", b":", b"$", b"*")


def _number(text: bytes) -> int:
    if not text.removeprefix(b"-").isdigit() or len(text) > 20:  # int() would take more
        raise down(NONSENSE)
    return int(text)


def _encoded(command: Command) -> bytes:
    parts = [f"*{len(command)}\r\n".encode("ascii")]
    for word in command:
        data = word if isinstance(word, bytes) else word.encode("utf-8", "surrogateescape")
        parts += [b"$%d\r\n" % len(data), data, b"\r\n"]
    return b"".join(parts)
