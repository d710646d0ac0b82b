"""Checks of the home: that it is ours, private, local, and keeps what is written."""

from __future__ import annotations

import os
import sqlite3
import stat
from glob import escape, glob
from typing import TYPE_CHECKING
from urllib.parse import quote

from hooks.clock import from_epoch, iso
from hooks.context.adopt import waiting
from hooks.home import older_home
from scripts.doctor import Finding
from scripts.swarm_v2.installation import copied_from_elsewhere, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.doctor import Look

# Where hooks list, read and write; what is not there is made when it is needed.
FOLDERS = (
    "brain",
    os.path.join("brain", "project-memory"),
    os.path.join("brain", "session-scopes"),
    "brain-outbox",
    os.path.join("brain-outbox", "quarantine"),
    "brain-outbox-backlog",
    "locks",
    "logs",
)
_RIGHTS = (("read", os.R_OK), ("written", os.W_OK), ("entered", os.X_OK))
DATABASES = ("ledger.db", os.path.join("brain", "local.db"))
MOUNTS = "/proc/mounts"
_NETWORK = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre"),
        *("ncpfs", "beegfs", "gpfs", "vboxsf", "prl_fs", "virtiofs"),
    )
)
_NETWORK_FUSE = (
    "fuse.sshfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.glusterfs",
    "fuse.ceph",
    "fuse.vmhgfs",
)
_SYNCED = ("Dropbox", "OneDrive", "Google Drive", "GoogleDrive", "iCloud", "Mobile Documents")
_TOLERANCE_S = 300  # clocks of two machines, or a step by NTP, differ by less
_MOST_FILES = 5_000
_DAY_S = 86_400
_MOST_TRANSCRIPTS = 20
_HEAD_BYTES = 1 << 18  # what a session is told stands at its beginning
FRAME = b"<brainhooks-memory"


def access(look: Look) -> Iterator[Finding]:
    """A folder that can be written but not read (or the reverse) loses memories silently."""
    home = look.home
    if not os.path.lexists(home):
        yield Finding("ok", f"there is no home yet; the first hook makes {home}")
        return
    if not os.path.isdir(home):
        yield Finding("fail", f"{home} is not a folder", "move it away, or set AGENTIHOOKS_HOME")
        return
    wrong = False
    for folder in (home, *(os.path.join(home, name) for name in FOLDERS)):
        lacks = [word for word, bit in _RIGHTS if not os.access(folder, bit)]
        if lacks and os.path.isdir(folder):
            wrong = True
            todo = f"chmod u+rwx {folder}, or set AGENTIHOOKS_HOME to a folder of yours"
            yield Finding("fail", f"{folder} cannot be {' or '.join(lacks)} by this user", todo)
    if not wrong:
        yield Finding("ok", f"the home is {home}")


def modes(look: Look) -> Iterator[Finding]:
    """What is remembered is nobody else's business."""
    open_to_others = [path for path in _walk(look.home) if _is_open(path)]
    if not open_to_others:
        return
    more = f" and {len(open_to_others) - 1} more" if len(open_to_others) > 1 else ""
    what = f"other users of this machine may reach {open_to_others[0]}{more}"
    yield Finding("warn", what, f"chmod -R go= {look.home}")


def _is_open(path: str) -> bool:
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return False
    return not stat.S_ISLNK(info.st_mode) and bool(info.st_mode & 0o077)


def _walk(home: str) -> Iterator[str]:
    """Yield what lies in the home. A private folder hides all below it: it is not entered."""
    count = 0
    for folder, folders, files in os.walk(home):
        yield folder
        if not _is_open(folder):
            folders[:] = []
            continue
        for name in files:
            count += 1
            if count > _MOST_FILES:
                return
            yield os.path.join(folder, name)


def filesystem(look: Look, mounts: str = MOUNTS) -> Iterator[Finding]:
    """SQLite's locks do not hold on network filesystems, and synced folders swap files.

    ``mounts`` is a file that lists what is mounted where, as /proc/mounts does.
    """
    real = os.path.realpath(look.home)
    todo = "set AGENTIHOOKS_HOME to a folder on a local disk"
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            kind = mount_type(real, file.read())
    except OSError:  # no /proc here
        kind = ""
    if kind in _NETWORK or kind.startswith(_NETWORK_FUSE):
        yield Finding("warn", f"the home {real} is on a network filesystem ({kind})", todo)
    synced = [part for part in real.split(os.sep) if part.startswith(_SYNCED)]
    if synced:
        yield Finding("warn", f"the home {real} lies in a synced folder ({synced[0]})", todo)


def mount_type(path: str, mounts: str) -> str:
    """Return the filesystem type that ``mounts`` (as /proc/mounts) gives ``path``; "" if none."""
    best, kind = "", ""
    for line in mounts.splitlines():
        words = line.split(" ")
        if len(words) < 3:
            continue
        point = _unescape(words[1])
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):  # the later of two mounts on one point is on top
            best, kind = point, words[2]
    return kind


def _unescape(text: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


def copied(look: Look) -> Iterator[Finding]:
    """Two machines with one identity would take each other's keys for their own."""
    if copied_from_elsewhere(look.home):
        what = f"the home {look.home} was made on another machine and copied here"
        todo = (
            "if both are used, start afresh here: set AGENTIHOOKS_HOME to a new folder; if this "
            f"one replaces the other, remove {os.path.join(look.home, 'installation.machine')}"
        )
        yield Finding("warn", what, todo)


def other(look: Look) -> Iterator[Finding]:
    """With a profile's own home, the one of before is easily taken for it."""
    older = older_home(look.env, look.home)
    if older:
        what = f"the home is {look.home}; {older} is another one, whose memories are not shown"
        number = waiting(older)
        todo = f"brainhooks migrate --adopt {older}" if number else "nothing waits there"
        yield Finding("note", what, f"{todo}; AGENTIHOOKS_HOME={older} makes it the home again")


def rebuilt(look: Look) -> Iterator[Finding]:
    """A home that is made anew at each start (a container) remembers nothing, and says nothing.

    Its transcripts may outlive it: one from before a record of today in which our memory stands
    was written under another installation.
    """
    record = read(look.home)
    if record is None or look.at.timestamp() - record.created_at.timestamp() > _DAY_S:
        return
    for path in _transcripts_before(look.profile, record.created_at.timestamp()):
        if _shows_memory(path):
            what = f"this installation is of {record.created_at:%Y-%m-%d %H:%M} UTC, but an older "
            what += f"session had another one ({path})"
            todo = "if the home is rebuilt at each start, put it on a volume: set AGENTIHOOKS_HOME"
            yield Finding("warn", what, f"{todo}; if you began anew, never mind: it ends in a day")
            return


def _transcripts_before(profile: str, at: float) -> list[str]:
    """Return the newest transcripts that were written last before ``at``, the newest first."""
    found = []
    for path in glob(os.path.join(escape(profile), "projects", "*", "*.jsonl")):
        try:
            written = os.stat(path).st_mtime
        except OSError:
            continue
        if written < at:
            found.append((written, path))
    return [path for _, path in sorted(found, reverse=True)[:_MOST_TRANSCRIPTS]]


def _shows_memory(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return FRAME in file.read(_HEAD_BYTES)
    except OSError:
        return False


def clock(look: Look) -> Iterator[Finding]:
    """A stamp from the future makes every cache stale and markers fall before the cutover."""
    limit = look.at.timestamp() + _TOLERANCE_S
    found = read(look.home)
    times = {} if found is None else {"the installation": found.created_at.timestamp()}
    times |= {f"the last {name}": at for name, at in last_runs(look.home).items()}
    for name, at in times.items():
        if at > limit:
            what = f"{name} is of {iso(from_epoch(at))}, which is in the future"
            yield Finding("warn", what, "set this machine's clock (date, timedatectl)")
            return


def last_runs(home: str) -> dict[str, float]:
    """Return when each event's hook ran last, in seconds since the epoch."""
    folder = os.path.join(home, "brain", "last-run")
    try:
        with os.scandir(folder) as rows:
            return {row.name: row.stat().st_mtime for row in rows}
    except (FileNotFoundError, NotADirectoryError):
        return {}


def databases(look: Look) -> Iterator[Finding]:
    """A damaged database is said here, not guessed from missing memories."""
    for name in DATABASES:
        path = os.path.join(look.home, name)
        if not os.path.exists(path):
            continue
        try:
            said = _quick_check(path)
        except sqlite3.Error as err:
            said = str(err)
        if said != "ok":
            todo = f"move {path} away; what the outbox and the transcripts hold is read again"
            yield Finding("fail", f"{path} is damaged: {said}", todo)


def _quick_check(path: str) -> str:
    db = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=5)
    try:
        return str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    finally:
        db.close()
