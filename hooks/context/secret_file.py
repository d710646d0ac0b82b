"""A secret in a file, proven private before it is read. It is never repaired, only refused."""

from __future__ import annotations

import os
import stat

from hooks.errors import StateError

MAX_BYTES = 8_192
_GROUP_OR_OTHER = 0o077


def read_secret(path: str) -> str:
    """Return the text of the secret file, without blanks and line ends around it.

    It must be a regular file with a single link, no symlink, owned by this user, out of reach
    for group and others, and the descriptor that was opened must be the file that was checked.

    Raises:
        StateError: one of these does not hold, or it is empty, too large or unreadable. The
            message names the path and what is wrong, never a byte of the content.
    """
    if not os.path.isabs(path):
        # Hooks run in the user's project: whatever lies there must not become a credential.
        raise _refused(path, "its path is not absolute")
    try:
        seen = os.lstat(path)
        _prove(path, seen)
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as err:
        raise _refused(path, err.strerror or "it cannot be read") from None
    try:
        opened = os.fstat(fd)
        _prove(path, opened)  # it may have been swapped between the look and the open
        if (opened.st_dev, opened.st_ino) != (seen.st_dev, seen.st_ino):
            raise _refused(path, "it was replaced while it was read")
        data = os.read(fd, MAX_BYTES + 1)
    except OSError as err:
        raise _refused(path, err.strerror or "it cannot be read") from None
    finally:
        os.close(fd)
    return _text(path, data)


def _prove(path: str, info: os.stat_result) -> None:
    if stat.S_ISLNK(info.st_mode):
        raise _refused(path, "it is a symbolic link")
    if not stat.S_ISREG(info.st_mode):
        raise _refused(path, "it is no regular file")
    if info.st_nlink != 1:
        raise _refused(path, f"it has {info.st_nlink} hard links")
    if info.st_uid != os.geteuid():
        raise _refused(path, "another user owns it")
    if info.st_mode & _GROUP_OR_OTHER:
        raise _refused(path, "group or others may use it")


def _text(path: str, data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise _refused(path, f"it has more than {MAX_BYTES} bytes")
    try:
        text = data.decode("ascii").strip()
    except UnicodeDecodeError:
        raise _refused(path, "it is not ASCII text") from None
    if not text:
        raise _refused(path, "it is empty")
    return text


def _refused(path: str, what: str) -> StateError:
    hint = f"make it a plain file of your own: chmod 600 {path}"
    return StateError(path, f"the secret file is refused: {what}", hint=hint)
