"""One connection to a brain service, kept open, where every exchange ends in time and in size.

The worker's and the shell's only: ``http.client`` costs four interpreter starts. The time is of
the whole exchange: looking up the name, connecting, TLS, sending, and every byte of the answer,
however slowly a service drips them.
"""

from __future__ import annotations

import io
import select
import socket
import ssl
import threading
import time
from base64 import b64encode
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from urllib.parse import unquote

from hooks.context.brains.http_address import Address, parse
from hooks.errors import BrainUnreachable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

NAME = "http"
_STEP = 65_536
_CLEAN = (200, 201)
MAX_ANSWER = 8 << 20  # bytes on the wire, headers included: a feed of thousands of entries


class Answer(NamedTuple):
    status: int
    body: bytes
    location: str = ""  # of a redirect


class Deadline:
    """When an exchange must be over."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds, self._clock = seconds, clock
        self._ends = clock() + seconds

    def left(self) -> float:
        """Return the seconds left.

        Raises:
            TimeoutError: there are none.
        """
        left = self._ends - self._clock()
        if left <= 0:
            raise TimeoutError
        return left


class _Reader(io.RawIOBase):
    """What an answer is read from: bounded by one deadline and one number of bytes."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock, self._deadline, self._room = sock, deadline, MAX_ANSWER

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview[int], /) -> int:  # type: ignore[override]
        self._sock.settimeout(self._deadline.left())
        count = self._sock.recv_into(buffer)
        self._room -= count
        if self._room < 0:
            msg = f"more than {MAX_ANSWER} bytes"
            raise HTTPException(msg)
        return count


class _Socket:
    """A socket as ``http.client`` uses it, with the deadline of the exchange at work."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.deadline = Deadline(0)
        self._unsent = b""

    def makefile(self, mode: str) -> io.BufferedReader:  # noqa: ARG002 - it is always "rb"
        self._send()
        return io.BufferedReader(_Reader(self.sock, self.deadline))

    def sendall(self, data: bytes) -> None:
        """Hold it until the answer is asked for: headers and body leave, and wake, as one."""
        self._unsent += data

    def _send(self) -> None:
        view, self._unsent = memoryview(self._unsent), b""
        while view:
            self.sock.settimeout(self.deadline.left())
            view = view[self.sock.send(view) :]

    def close(self) -> None:
        """Do nothing: ``http.client`` closes here what the answer is still to be read from."""

    def is_stale(self) -> bool:
        """Say whether the other side closed, or said something that nobody asked for."""
        return bool(select.select([self.sock], [], [], 0)[0])


class Connection:
    """Ask one service, one request at a time; the connection is made again where it ended."""

    def __init__(
        self, address: Address, *, timeout_s: float, ca: str = "", proxy: str = ""
    ) -> None:
        self.address, self.timeout_s = address, timeout_s
        self._ca, self._proxy = ca, proxy
        self._client = HTTPConnection(address.host, address.port)
        self._client.auto_open = 0
        self._socket: _Socket | None = None
        self.opened = 0  # connections so far

    def close(self) -> None:
        self._client.close()
        if self._socket is not None:
            self._socket.sock.close()
            self._socket = None

    def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Answer:
        """Send one request and return its answer, whatever its status.

        Raises:
            BrainUnreachable: no whole answer within ``timeout_s`` seconds and ``MAX_ANSWER``
                bytes. The connection is closed: what comes late is nobody's answer.
        """
        deadline = Deadline(self.timeout_s)
        try:
            link = self._link(deadline)
            link.deadline = deadline
            said = {"Host": self.address.host_header, **headers}
            self._client.request(method, path, body, said)
            return self._read(self._client.getresponse())
        except BrainUnreachable:
            self.close()
            raise
        except TimeoutError:
            self.close()
            raise BrainUnreachable(NAME, f"no answer within {self.timeout_s:g} s") from None
        except ssl.SSLCertVerificationError as err:
            self.close()
            what = f"its certificate is not trusted ({err.verify_message})"
            raise BrainUnreachable(NAME, what) from None
        except (OSError, HTTPException, ValueError) as err:
            self.close()
            raise BrainUnreachable(NAME, _told(err)) from None

    def _read(self, response: HTTPResponse) -> Answer:
        lengths = response.headers.get_all("Content-Length", [])
        if len(set(lengths)) > 1 or not all(_is_length(one) for one in lengths):
            msg = "a length that is none"  # http.client would read on as if there were none
            raise HTTPException(msg)
        # In steps: a length or a chunk size is only a claim, and memory is taken for what is asked.
        pieces = []
        while piece := response.read(_STEP):
            pieces.append(piece)
        if response.length:
            raise IncompleteRead(b"", response.length)
        # What follows an error (a body behind a 204, say) must not become the next answer.
        if response.will_close or response.status not in _CLEAN:
            self.close()
        return Answer(response.status, b"".join(pieces), response.getheader("Location") or "")

    def _link(self, deadline: Deadline) -> _Socket:
        # Looked at before it is used: a post into a connection that the service has closed
        # would leave open whether it was stored.
        if self._socket is not None and self._socket.is_stale():
            self.close()
        if self._socket is None:
            self._socket = _Socket(self._open(deadline))
            self._client.sock = self._socket
            self.opened += 1
        return self._socket

    def _open(self, deadline: Deadline) -> socket.socket:
        proxy = self._proxy_address()
        target = proxy or self.address
        sock = _connect(target.host, target.port, deadline)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if proxy is not None:
                self._tunnel(sock, deadline)
            return self._secured(sock, deadline) if self.address.scheme == "https" else sock
        except (OSError, HTTPException, ValueError, BrainUnreachable):
            sock.close()
            raise

    def _proxy_address(self) -> Address | None:
        if not self._proxy:
            return None
        url = self._proxy if "://" in self._proxy else f"http://{self._proxy}"
        try:
            found = parse(url)
        except ValueError:
            raise BrainUnreachable(NAME, "the proxy of the environment is no URL") from None
        if found.scheme != "http":
            raise BrainUnreachable(NAME, "the proxy of the environment is no http:// address")
        return found

    def _tunnel(self, sock: socket.socket, deadline: Deadline) -> None:
        host = self.address.host
        target = f"{f'[{host}]' if ':' in host else host}:{self.address.port}"
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        userinfo = self._proxy.partition("://")[2] or self._proxy
        userinfo = userinfo.partition("/")[0].rpartition("@")[0]
        if userinfo:
            coded = b64encode(unquote(userinfo).encode("utf-8")).decode("ascii")
            lines.append(f"Proxy-Authorization: Basic {coded}")
        link = _Socket(sock)
        link.deadline = deadline
        link.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
        response = HTTPResponse(link, method="CONNECT")  # type: ignore[arg-type]  # duck-typed
        response.begin()
        if response.status != 200:
            raise BrainUnreachable(NAME, f"the proxy answered {response.status}")

    def _secured(self, sock: socket.socket, deadline: Deadline) -> socket.socket:
        try:
            context = ssl.create_default_context(cafile=self._ca or None)
        except (OSError, ValueError):
            raise BrainUnreachable(NAME, "BRAIN_HTTP_CA is no readable PEM file") from None
        secured = context.wrap_socket(
            sock, server_hostname=self.address.host, do_handshake_on_connect=False
        )
        try:
            secured.settimeout(deadline.left())
            secured.do_handshake()
        except (OSError, ValueError):  # it has taken the descriptor over from ``sock``
            secured.close()
            raise
        return secured


def _is_length(text: str) -> bool:
    text = text.strip()
    return text.isascii() and text.isdigit()


def _connect(host: str, port: int, deadline: Deadline) -> socket.socket:
    """Try each address of ``host``; one that swallows packets leaves time for the others."""
    found = _look_up(host, port, deadline)
    failed: OSError = OSError("it has no address")
    for number, (family, kind, protocol, _, where) in enumerate(found):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(deadline.left() / (len(found) - number))
            sock.connect(where)
        except OSError as err:
            sock.close()
            failed = err
        else:
            return sock
    raise failed


def _look_up(host: str, port: int, deadline: Deadline) -> list[tuple]:  # type: ignore[type-arg]
    """Ask the resolver, in a thread: it has no timeout of ours, and nothing can interrupt it."""
    answers: list[list[tuple] | OSError | UnicodeError] = []  # type: ignore[type-arg]

    def ask() -> None:
        try:
            answers.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as err:
            answers.append(err)

    thread = threading.Thread(target=ask, daemon=True)  # it may outlive us, and holds nothing
    thread.start()
    thread.join(deadline.left())
    if not answers:
        raise TimeoutError
    if isinstance(answers[0], list):
        return answers[0]
    raise BrainUnreachable(NAME, "its name cannot be resolved")


def _told(err: Exception) -> str:
    """Say what broke without a byte that the service sent: that could be anything."""
    if isinstance(err, ssl.SSLError):
        return f"TLS failed ({err.reason or 'broken off'})"
    if isinstance(err, OSError):
        return err.strerror or "the connection broke"
    return f"its answer cannot be read ({type(err).__name__})"
