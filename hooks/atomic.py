"""Files that are whole or absent: written aside, synced, then renamed or linked."""

from __future__ import annotations

import errno
import os

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
_MOST_COPIED = 1 << 28  # bytes; nothing of ours comes near
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}


def make_folder(path: str) -> None:
    """Create ``path`` and what leads to it, each 0700; an existing folder is left as it is."""
    try:
        _make_last(path)
    except FileNotFoundError:
        above = os.path.dirname(path)
        if above == path:  # "" or a root that is gone: there is nothing to make it in
            raise
        make_folder(above)
        _make_last(path)  # some filesystems answer so where nothing can be made: not again


def _make_last(path: str) -> None:
    try:
        os.mkdir(path, PRIVATE_FOLDER)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


def sync_folder(path: str) -> None:
    """Make a rename or link in ``path`` survive a power cut.

    Some filesystems cannot sync a folder and say so; there the rename itself is all there is.
    """
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    except OSError as err:
        if err.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(fd)


def _write_aside(path: str, data: bytes, *, durable: bool) -> str:
    aside = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        if durable:
            os.fsync(fd)
    except OSError:
        os.close(fd)
        os.unlink(aside)
        raise
    os.close(fd)
    return aside


def write(path: str, data: bytes, *, durable: bool = True) -> None:
    """Replace ``path`` by ``data`` in one step; readers see the old bytes or the new.

    ``durable=False`` skips the two syncs: for caches and notes that can be made again.
    """
    folder = os.path.dirname(path) or os.curdir
    try:
        aside = _write_aside(path, data, durable=durable)
    except FileNotFoundError:
        make_folder(folder)
        aside = _write_aside(path, data, durable=durable)
    try:
        os.replace(aside, path)
    except OSError:
        os.unlink(aside)
        raise
    if durable:
        sync_folder(folder)


def link_new(path: str, data: bytes, *, durable: bool = True) -> bool:
    """Create ``path`` durably with ``data`` unless it exists; say whether we were first.

    ``durable=False`` skips the two syncs: for what can be made again after a power cut.

    The temporary file is linked, so a reader never sees a part and the first writer wins.
    Where the filesystem has no hard links an exclusive lock beside the file serialises the
    check and a rename: the same guarantee among writers that use this function.
    """
    folder = os.path.dirname(path) or os.curdir
    make_folder(folder)
    aside = _write_aside(path, data, durable=durable)
    try:
        first = _link(aside, path)
    finally:
        if os.path.lexists(aside):
            os.unlink(aside)
    # Also when we lost: the winner may not have come this far, and our caller builds on its file.
    if durable:
        sync_folder(folder)
    return first


def _link(aside: str, path: str) -> bool:
    try:
        os.link(aside, path)
    except FileExistsError:
        return False
    except OSError as err:
        if err.errno not in _NO_LINKS:
            raise
        return _rename_under_lock(aside, path)
    return True


def _rename_under_lock(aside: str, path: str) -> bool:
    from hooks.lock import held

    with held(path + ".lock", wait_s=5.0):
        if os.path.lexists(path):
            return False
        os.replace(aside, path)
        return True


def move(source: str, target: str) -> None:
    """Rename, replacing what is there; a file goes to another device by way of a durable copy.

    A kill in between leaves both, of equal bytes.

    Raises:
        OSError: also where what is no regular file would have to leave its device.
    """
    try:
        os.replace(source, target)
    except OSError as err:
        data = read(source, _MOST_COPIED) if err.errno == errno.EXDEV else None
        if data is None:
            raise
        write(target, data)
        os.unlink(source)


def append_line(path: str, line: bytes, *, durable: bool = False) -> None:
    """Append one line in one write; a torn last line of an earlier writer is closed first.

    Writers that append at once do not mix their bytes (one ``O_APPEND`` write each), but one
    that looks while another is writing takes that for torn: readers skip empty lines.

    Raises:
        OSError: also when only a part could be written; the next append closes that part.
    """
    fd = _open_to_append(path)
    try:
        end = os.lseek(fd, 0, os.SEEK_END)
        torn = end > 0 and os.pread(fd, 1, end - 1) != b"\n"
        whole = (b"\n" if torn else b"") + line.rstrip(b"\n") + b"\n"
        if os.write(fd, whole) != len(whole):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        if durable:
            os.fsync(fd)
    finally:
        os.close(fd)
    if durable and not end:
        sync_folder(os.path.dirname(path) or os.curdir)


def _open_to_append(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    try:
        return os.open(path, flags, PRIVATE_FILE)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        return os.open(path, flags, PRIVATE_FILE)


def read(path: str, limit: int = 4 << 20) -> bytes | None:
    """Return the bytes of a regular file of at most ``limit`` bytes.

    None if nothing is there, or something else: a folder, a pipe, a larger file.

    Raises:
        OSError: it exists but cannot be read; that is a fault, not a miss.
    """
    import stat

    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode) or info.st_size > limit:
            return None
        return _read_up_to(fd, limit, info.st_size)
    finally:
        os.close(fd)


def _read_up_to(fd: int, limit: int, expected: int) -> bytes | None:
    data = b""
    while part := os.read(fd, max(expected + 1 - len(data), 4096)):
        data = data + part if data else part  # one part, unless a writer is at work
        if len(data) > limit:
            return None
    return data
