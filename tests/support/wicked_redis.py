"""A server that is no Redis: whatever it is asked, it says what it was told to.

A process of its own, so that no lock of ours holds it up.

Usage: wicked_redis.py WAY. Prints its port; ends when its stdin does.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BULK = 64 << 20
WAYS = {
    "nonsense": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "endless line": b"+" + b"x" * (1 << 20),
    "letters": b"\x00\xff\xfe" * 100,
    "no number": b"$1_0\r\n",
    "plus": b":+1\r\n",
    "minus two": b"$-2\r\n",
    "huge number": b"$" + b"9" * 5000 + b"\r\n",
    "huge value": b"$%d\r\n" % BULK + b"x" * (1 << 20),
    "endless value": b"*1\r\n$4194304\r\n" + b"x" * (4 << 20),
    "huge list": b"*1000000000\r\n",
    "deep list": b"*1\r\n" * 10_000,
    "empty list": b"*0\r\n",
    "long list": b"*65536\r\n" + b"$-1\r\n" * 65536,
    "cut value": b"*1\r\n$10\r\nabc",
    "no end": b"*1\r\n$3\r\nabcde\r\n",
    "number": b":7\r\n",
    "text": b"+OK\r\n",
    "list of lists": b"*1\r\n*1\r\n:1\r\n",
    "secret": b"-ERR unknown command, with args beginning with: 'hunter2'\r\n",
    "error without a word": b"-\r\n",
    "error in bytes": b"-\xff\xfe hunter2\r\n",
    "nothing": b"",
}
STAY = ("dripping", "silent", "cut value and stay", "flood")


@contextmanager
def wicked(way: str) -> Iterator[int]:
    """Run one that answers in that way; give its port."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-I", __file__, way], stdin=pipe, stdout=pipe)
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def serve(link: socket.socket, way: str) -> None:
    with link:
        try:
            link.recv(65_536)
            if way == "dripping":
                while True:
                    link.sendall(b"*")
                    threading.Event().wait(0.01)
            if way == "flood":
                link.sendall(b"*60000\r\n")
                while True:
                    link.sendall(b"$64\r\n" + b"x" * 64 + b"\r\n")
            if way == "silent":
                link.recv(1)
            link.sendall(WAYS.get(way, b"*1\r\n$10\r\nabc"))
            if way in STAY:
                link.recv(1)
        except OSError:
            return


def main() -> None:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen(64)
        sys.stdout.write(f"{door.getsockname()[1]}\n")
        sys.stdout.flush()
        threading.Thread(target=accept, args=(door, sys.argv[1]), daemon=True).start()
        sys.stdin.read()


def accept(door: socket.socket, way: str) -> None:
    while True:
        link, _ = door.accept()
        threading.Thread(target=serve, args=(link, way), daemon=True).start()


if __name__ == "__main__":
    main()
