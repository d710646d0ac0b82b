"""The agent's settings file on disk: looked at, refused where writing would lose, replaced.

Other programs rewrite this file without asking for any lock. So it is read again immediately
before the rename, and a difference starts the edit anew from what stands there now. What remains
is the instant between that look and the rename, as with any two editors.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from typing import TYPE_CHECKING, NamedTuple

from hooks.atomic import link_new, sync_folder
from hooks.errors import HookError
from scripts.settings_edit import UnusableSettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_BYTES = 16 << 20
_ATTEMPTS = 400  # with _PAUSE_S: a file that changes for 4 s without a rest is given up
_PAUSE_S = 0.01
_STILL = 20  # so often unusable without changing means that nobody is in the middle of writing it


class SettingsFileError(HookError):
    """The file is left as it is; the message says why, ``hint`` what to do."""

    def __init__(self, path: str, what: str, hint: str) -> None:
        self.path, self.what, self.hint = path, what, hint
        super().__init__(f"{path} was left as it is: {what}")


class Found(NamedTuple):
    real: str  # behind every symlink
    data: bytes | None  # None: no file
    mode: int
    owner: tuple[int, int]


def look(path: str) -> Found:
    """Read the file behind ``path``.

    Raises:
        SettingsFileError: a dangling or circular link, not a regular file, more than one hard
            link (a replacement would part them), or absurdly large.
    """
    real = os.path.realpath(path)
    try:
        fd = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        if os.path.islink(path):
            what = f"it is a symbolic link to {os.readlink(path)}, which does not exist"
            hint = "make the file that the link names, or remove the link"
            raise SettingsFileError(path, what, hint) from None
        return Found(real, None, 0o600, (os.geteuid(), os.getegid()))
    except OSError as err:
        if err.errno != errno.ELOOP:
            raise
        hint = "repair the link"
        raise SettingsFileError(path, "its symbolic link goes in circles", hint) from None
    try:
        info = os.fstat(fd)
        _refuse(path, info)
        with open(fd, "rb", closefd=False) as file:
            data = file.read()
    finally:
        os.close(fd)
    return Found(real, data, stat.S_IMODE(info.st_mode), (info.st_uid, info.st_gid))


def _refuse(path: str, info: os.stat_result) -> None:
    if not stat.S_ISREG(info.st_mode):
        hint = "put a settings file there, or remove what stands there"
        raise SettingsFileError(path, "it is not a regular file", hint)
    if info.st_nlink > 1:
        what = f"it has {info.st_nlink} hard links, and a replacement would part them"
        hint = "make it a file of its own (cp, then mv), or link it symbolically"
        raise SettingsFileError(path, what, hint)
    if info.st_size > MAX_BYTES:
        what = f"it is larger than {MAX_BYTES >> 20} MiB"
        raise SettingsFileError(path, what, "look at what is in it")


def update(
    path: str,
    plan: Callable[[bytes | None], bytes | None],
    keep: Callable[[bytes | None, bytes | None], None] | None = None,
    *,
    sleep: Callable[[float], None] = time.sleep,  # noqa: TID251 - waits for another writer
) -> tuple[bytes | None, bytes | None]:
    """Bring the file from what it is to ``plan`` of that; return both (None: no file).

    ``keep(old, new)`` runs before each attempt to write, so that nothing is replaced that was
    not backed up. ``plan`` may be called several times and must not touch anything.

    Raises:
        SettingsFileError: as ``look``; ``plan`` found it unusable (UnusableSettingsError) and it
            stays so; or it never came to rest.
    """
    unusable: list[bytes | None] = []
    for _ in range(_ATTEMPTS):
        found = look(path)
        try:
            new = plan(found.data)
        except UnusableSettingsError as err:
            unusable = [*unusable, found.data] if found.data in unusable else [found.data]
            if len(unusable) >= _STILL:
                hint = "repair it (the agent cannot read it either), then run this again"
                raise SettingsFileError(path, str(err), hint) from None
        else:
            if new == found.data:
                return found.data, new
            if keep is not None:
                keep(found.data, new)
            if _swap(path, found, new):
                return found.data, new
        sleep(_PAUSE_S)
    hint = "close the program that writes it, then run this again"
    raise SettingsFileError(path, "another program keeps rewriting it", hint)


def _swap(path: str, found: Found, new: bytes | None) -> bool:
    """Replace what ``found`` saw by ``new``; False when something else stands there by now."""
    if found.data is None:
        return new is None or link_new(found.real, new)
    aside = f"{found.real}.{os.getpid()}.brainhooks.tmp"
    if new is None:
        if look(path) != found:
            return False
        os.unlink(found.real)
        return True
    try:
        _write(aside, new, found)
        if look(path) != found:
            return False
        os.replace(aside, found.real)
    finally:
        if os.path.lexists(aside):
            os.unlink(aside)
    sync_folder(os.path.dirname(found.real))
    return True


def _write(aside: str, data: bytes, like: Found) -> None:
    fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        info = os.fstat(fd)
        if (info.st_uid, info.st_gid) != like.owner:
            os.fchown(fd, *like.owner)
        os.fchmod(fd, like.mode)
        os.fsync(fd)
