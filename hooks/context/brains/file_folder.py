"""The folder of a file brain: every page in it, and the few ways in which we change one.

Nothing of ours stays in the folder but pages. Writers of one machine exclude each other by a
lock on the folder itself (``flock`` on its descriptor leaves no file and dies with its holder).
Where a file system cannot do that, or two machines sync, the index folds what was doubled.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat

from hooks import atomic
from hooks.context.brains import file_names, front_matter
from hooks.context.brains.folder_print import MAX_DEPTH
from hooks.errors import BrainUnreachable
from hooks.lock import Lock, held
from scripts.swarm_v2.wire_json import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import NamedTuple

    from hooks.context.brains.front_matter import Page

    Signature = tuple[int, ...]
else:
    from hooks.record import NamedTuple

NAME = "file"
MAX_BYTES = 4 << 20  # of one page; a marker is part of a line of at most 2 MiB
WAIT_S = 5.0  # for another writer, whose longest hold is one scan and one write
_ASIDE, _ASIDE_ENDING = ".brainhooks-", ".tmp"
_NO_LOCKS = {errno.EBADF, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.ENOSYS}
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}
_HARMLESS = {errno.EACCES, errno.EPERM, errno.ELOOP}  # of one page: told, and the rest is served


class Leaf(NamedTuple):
    """One Markdown file. ``page`` is what it holds, or in words why it cannot be read."""

    where: str  # relative to the folder, with slashes
    mtime_ns: int
    page: Page | str
    copy: str = ""  # in words: whose copy its name says it is


class Aside(NamedTuple):
    """Something in the folder that is not served, and why. It is never changed."""

    where: str
    why: str


class Reaching:
    """A block in which every failure of the file system means: the brain cannot be reached."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None
    ) -> None:
        if isinstance(err, OSError):
            raise BrainUnreachable(NAME, _sentence(self._path, err)) from err


def _sentence(path: str, err: OSError) -> str:
    if err.errno == errno.EROFS:
        return f"{path} is read-only; what is in it is served, nothing can be added"
    if err.errno in (errno.EACCES, errno.EPERM):
        return f"{path}: no permission; its folder and pages must be this user's to read and write"
    if err.errno == errno.ENOENT:
        return f"there is no folder {path}; make it, or mount or sync what holds it"
    if err.errno == errno.ENOTDIR:
        return f"{path} is no folder"
    return f"{path}: {err.strerror or 'the file system failed'}"


class Folder:
    """See the module. ``path`` is absolute; it is never made: an absent one may be a mount."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._known: dict[str, tuple[Signature, Leaf]] = {}

    def _full(self, where: str) -> str:
        return os.path.join(self.path, where)

    # Reading.

    def scan(self) -> tuple[list[Leaf], list[Aside]]:
        """Return every page, read anew where its file changed, and what is set aside unread.

        Raises:
            OSError: the folder, or a page that is there, cannot be read.
        """
        leaves: list[Leaf] = []
        aside: list[Aside] = []
        folders = [("", 0)]
        while folders:
            below, depth = folders.pop()
            try:
                with os.scandir(self._full(below) if below else self.path) as found:
                    entries = {entry.name: entry for entry in found}
            except OSError as err:
                if not below or err.errno not in _HARMLESS | {errno.ENOENT}:
                    raise
                aside.append(Aside(clean(below), "a folder that cannot be read"))
                continue
            for name in sorted(entries):
                where = below + name
                if name[0] != "." and entries[name].is_dir(follow_symlinks=False):
                    if depth < MAX_DEPTH:
                        folders.append((where + "/", depth + 1))
                    else:
                        aside.append(Aside(clean(where), f"deeper than {MAX_DEPTH} folders"))
                    continue
                self._look_at(where, entries[name], entries, leaves, aside)
        self._known = {where: self._known[where] for where in (leaf.where for leaf in leaves)}
        return leaves, aside

    def _look_at(
        self,
        where: str,
        entry: os.DirEntry[str],
        beside: dict[str, os.DirEntry[str]],
        leaves: list[Leaf],
        aside: list[Aside],
    ) -> None:
        name = entry.name
        ours = bool(file_names.key_of(name))  # no sync and no merge leaves a name like that
        left = "" if ours else file_names.left_behind(name)
        if left:
            aside.append(Aside(clean(where), left))
        if name[0] == "." or not (file_names.stem(name) or entry.is_symlink()):
            return
        if entry.is_symlink():
            if file_names.stem(name) or os.path.isdir(entry.path):
                aside.append(Aside(clean(where), "a symbolic link"))
            return
        try:
            found = self._leaf(where, entry, "" if ours else file_names.copy_reason(name, beside))
        except FileNotFoundError:  # somebody moved it just now
            return
        if isinstance(found, str):
            aside.append(Aside(clean(where), found))
        else:
            leaves.append(found)

    def _leaf(self, where: str, entry: os.DirEntry[str], copy: str) -> Leaf | str:
        info = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(info.st_mode):
            return "no regular file"
        if info.st_size > MAX_BYTES:
            return f"larger than {MAX_BYTES} bytes"
        signature = (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        known = self._known.get(where)
        if known is None or known[0] != signature or known[1].copy != copy:
            leaf = Leaf(where, info.st_mtime_ns, self._page(where), copy)
            known = self._known[where] = (signature, leaf)
        return known[1]

    def _page(self, where: str) -> Page | str:
        try:
            data = self.read(where)
        except OSError as err:
            if err.errno not in _HARMLESS:
                raise
            return "it cannot be read"
        return front_matter.parse(data)

    def read(self, where: str) -> bytes:
        """Return a page's bytes.

        Raises:
            FileNotFoundError: it is gone, or no page any more.
            OSError: it cannot be read.
        """
        data = atomic.read(self._full(where), MAX_BYTES)
        if data is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self._full(where))
        return data

    # Writing: between ``writing()`` and its end.

    def writing(self) -> Lock:
        """Keep other writers of this machine out; what a killed one left half done goes.

        Raises:
            StateError: another process holds the folder for too long.
            OSError: there is no such folder.
        """
        lock = held(self.path, wait_s=WAIT_S, take=_try_lock)
        with os.scandir(self.path) as found:
            names = [entry.name for entry in found]
        for name in names:
            if name.startswith(_ASIDE) and name.endswith(_ASIDE_ENDING):
                self.remove(name)
        return lock

    def create(self, name: str, data: bytes, after_ns: int = 0) -> bool:
        """Make a page, whole or not at all, unless there is one; say whether we did.

        Its time is later than ``after_ns``, so that pages without a date keep their order.
        """
        aside = self._write_aside(data)
        if os.stat(aside).st_mtime_ns <= after_ns:
            os.utime(aside, ns=(after_ns + 1, after_ns + 1))
        path = self._full(name)
        try:
            os.link(aside, path)
        except FileExistsError:
            return False
        except OSError as err:
            if err.errno not in _NO_LINKS:
                raise
            # Without links the lock alone keeps writers apart; a name holds one and the same
            # thought, so that one who replaces another there still loses nothing.
            if os.path.lexists(path):
                return False
            os.rename(aside, path)
        finally:
            if os.path.lexists(aside):
                os.unlink(aside)
            atomic.sync_folder(self.path)
        return True

    def replace(self, where: str, before: bytes, data: bytes) -> bool:
        """Put ``data`` in a page's place if it still holds ``before``; say whether it did."""
        path = self._full(where)
        aside = self._write_aside(data)
        try:
            os.chmod(aside, stat.S_IMODE(os.stat(path).st_mode))
            if self.read(where) != before:
                return False
            os.replace(aside, path)
        finally:
            if os.path.lexists(aside):
                os.unlink(aside)
        atomic.sync_folder(os.path.dirname(path))
        return True

    def remove(self, where: str) -> None:
        try:
            os.unlink(self._full(where))
        except FileNotFoundError:
            return

    def settle(self) -> None:
        """Make what was removed survive a power cut."""
        atomic.sync_folder(self.path)

    def _write_aside(self, data: bytes) -> str:
        name = f"{_ASIDE}{os.getpid()}-{os.urandom(4).hex()}{_ASIDE_ENDING}"
        aside = self._full(name)
        # Who may read the folder may read its pages: it can be shared on purpose.
        mode = stat.S_IMODE(os.stat(self.path).st_mode) & 0o666 | 0o600
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(fd, mode)
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        except OSError:
            os.unlink(aside)
            raise
        finally:
            os.close(fd)
        return aside


def _try_lock(path: str) -> Lock | None:
    """Lock a folder. Where its file system cannot, the lock holds nobody out."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError as err:
        os.close(fd)
        if err.errno not in _NO_LOCKS:
            raise
        return Lock(-1)
    return Lock(fd)
