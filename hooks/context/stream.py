"""An open stream to a server by address, within a time that covers the resolver too."""

from __future__ import annotations

import _socket
import _thread
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hooks.context.redis_url import Place

    Address = tuple[int, tuple[object, ...]]  # a family, and what a socket of it connects to


def connect(place: Place, until: float) -> _socket.socket:
    """Return a connected socket to a place of the form "tcp" or "unix".

    Raises:
        OSError: it cannot be reached; TimeoutError: not until ``until`` (monotonic).
    """
    if place.form == "unix":
        path = place.path.encode("utf-8", "surrogateescape")
        return _reach(_socket.AF_UNIX, path, until)
    failed = OSError(0, "it has no address")
    for family, address in addresses(*place.hosts[0], time_left(until)):
        try:
            return _reach(family, address, until)
        except OSError as err:  # "localhost" may be two, of which it listens on one
            failed = err
    raise failed


def _reach(family: int, address: tuple[object, ...] | bytes, until: float) -> _socket.socket:
    sock = _socket.socket(family, _socket.SOCK_STREAM)
    try:
        sock.settimeout(time_left(until))
        sock.connect(address)
    except OSError:
        sock.close()
        raise
    return sock


def time_left(until: float) -> float:
    """Return the seconds until ``until`` (monotonic); TimeoutError where there are none."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def addresses(host: str, port: int, wait_s: float) -> list[Address]:
    """Return where a stream to ``host`` (ASCII) may be opened, in the resolver's order.

    Raises:
        OSError: it has no address; TimeoutError: not within ``wait_s`` seconds.
    """
    for family in (_socket.AF_INET, _socket.AF_INET6):
        try:
            _socket.inet_pton(family, host)
        except OSError:
            continue
        return [(family, (host, port))]
    # A lock and a thread of the C module: threading would load a third of an interpreter start.
    # One that outlives us holds nothing, and no exit waits for it.
    found: list[list[Address] | OSError] = []
    done = _thread.allocate_lock()
    done.acquire()

    def ask() -> None:
        try:
            # As bytes: a str would load the codec for international names.
            rows = _socket.getaddrinfo(host.encode("ascii"), port, 0, _socket.SOCK_STREAM)
            found.append([(row[0], row[4]) for row in rows])
        except OSError as err:
            found.append(err)
        finally:
            done.release()

    _thread.start_new_thread(ask, ())
    if not done.acquire(timeout=wait_s):
        raise TimeoutError
    if isinstance(found[0], OSError):
        raise OSError(0, "its name cannot be resolved")
    return found[0]
