"""Where a memory server of this user is found: a private folder below the platform's runtime path.

It holds the lock of the server that runs, its socket, and ``address``: what a client connects
to. One folder for each pair of home and store, so that no two stores are taken for one.
"""

from __future__ import annotations

import os
import stat
import warnings
from typing import TYPE_CHECKING, NamedTuple

from hooks.atomic import make_folder, read, write
from hooks.errors import StateError
from hooks.lock import Lock, try_lock
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.wire_json import dumps, load_object

if TYPE_CHECKING:
    from collections.abc import Callable

APP = "brainhooks"
MAX_SOCKET_PATH = 100  # bytes; Linux takes 107, macOS 103
_GROUP_OR_OTHER = 0o077
_MAX_ADDRESS = 4096
_LOOKS = 20  # for a lock that a client holds for a moment


class Place(NamedTuple):
    """The files of one server."""

    folder: str

    @property
    def lock(self) -> str:
        return os.path.join(self.folder, "lock")

    @property
    def socket(self) -> str:
        return os.path.join(self.folder, "socket")

    @property
    def fits(self) -> bool:
        """Whether the kernel takes the socket's path; its own error does not say how long."""
        return len(os.fsencode(self.socket)) <= MAX_SOCKET_PATH

    @property
    def address(self) -> str:
        return os.path.join(self.folder, "address")


def place_of(home: str, store: str) -> Place:
    """Return the place for a home and what its store is (a URL, or "" for the home's own).

    Nothing is made. The folder's name holds a hash, and so no secret of the URL.
    """
    import platformdirs

    name = short_digest(f"{os.path.realpath(home)}\n{store}".encode("utf-8", "surrogateescape"))
    with warnings.catch_warnings():  # where nothing names a runtime path it warns, and has one
        warnings.simplefilter("ignore")
        runtime = platformdirs.user_runtime_path(APP, appauthor=False)
    return Place(str(runtime / name[:16]))


def make_private(place: Place) -> None:
    """Make the folder, 0700, and prove that it and what it lies in are nobody else's.

    Raises:
        StateError: another user's, a link, or open to others.
        OSError: it cannot be made.
    """
    make_folder(place.folder)
    above = os.path.dirname(place.folder)
    runtime = os.path.dirname(above)
    if os.stat(runtime).st_uid not in (os.geteuid(), 0):
        raise StateError(runtime, "another user owns it", hint=_ELSEWHERE)
    for folder in (above, place.folder):
        info = os.lstat(folder)
        if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid():
            raise StateError(folder, "it is not a folder of yours", hint=_ELSEWHERE)
        if info.st_mode & _GROUP_OR_OTHER:
            raise StateError(folder, "others may use it", hint=f"chmod 700 {folder}")


_ELSEWHERE = "set XDG_RUNTIME_DIR to a private folder of yours"


def claim(place: Place, pause: Callable[[], object]) -> Lock:
    """Take the right to serve there; ``pause`` is called between looks.

    Raises:
        MemoryRefused: ``server-running``, with its ``address``.
    """
    for _ in range(_LOOKS):
        lock = try_lock(place.lock)
        if lock is not None:
            return lock
        pause()
    where = published(place) or place.folder
    hint = "use it, or end it first"
    raise MemoryRefused("server-running", f"a memory server runs at {where}", hint, address=where)


def publish(place: Place, address: str) -> None:
    """Say where the server that holds the lock listens."""
    write(place.address, dumps({"address": address}).encode("ascii"), durable=False)


def published(place: Place) -> str:
    """Return where the last server said that it listens; "" where none did."""
    found = load_object(read(place.address, _MAX_ADDRESS)) or {}
    address = found.get("address")
    return address if isinstance(address, str) else ""


def find(place: Place) -> str:
    """Return the address of the server that runs; "" where none does.

    Only who could make the folder private could publish there. Whether the lock is held is
    looked at too: a port of a server that died may be another program's by now, which must not
    be handed a token.
    """
    try:
        address = published(place)
        if not address or not _is_private(place):
            return ""
        lock = try_lock(place.lock)
    except OSError:
        return ""
    if lock is None:
        return address
    lock.release()
    return ""


def _is_private(place: Place) -> bool:
    info = os.lstat(place.folder)
    mine = stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid()
    return mine and not info.st_mode & _GROUP_OR_OTHER
