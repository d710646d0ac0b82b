"""Which transcripts the agent keeps, and saving them into this home's archive.

Saved is what the person asked for: all at once with ``archive --all``, or each session as it
stops where ``BRAINHOOKS_ARCHIVE=1``. A copy is exact, secrets included, like the agent's own.
"""

from __future__ import annotations

import os

from hooks.errors import HookError
from hooks.home import user_home
from hooks.lock import held
from scripts.swarm_v2.installation import installation, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from typing import NamedTuple

    from hooks.settings import Settings
    from scripts.swarm_v2.store.archive.save import Place, Source
else:
    from hooks.record import NamedTuple

FOLDER = "archive"
ENDING = ".jsonl"
LOCK_WAIT_S = 30.0  # a detached worker, or a person's command: another one saves this session
MOST_COUNTED = 5_000  # transcripts that a status looks at; one ``stat`` each
MOST_ENDED = 20  # sessions that a session start looks after
SILENT_S = 3_600
RETENTION_D = 30  # after so many days the agent deletes a transcript, unless it is told otherwise


class Found(NamedTuple):
    """One transcript of the agent's, as its folder lists it."""

    session: str
    name: str  # below the profile's folder of projects
    path: str
    size: int
    modified: float  # seconds since the epoch


class Census(NamedTuple):
    """What the agent still has. ``more``: there are more than were counted."""

    number: int = 0
    size: int = 0
    oldest: float = 0.0  # last change of the oldest transcript, seconds since the epoch
    more: bool = False


def projects_folder(env: Mapping[str, str]) -> str:
    """Return where this profile's transcripts are."""
    profile = env.get("CLAUDE_CONFIG_DIR", "") or os.path.join(user_home(env), ".claude")
    return os.path.join(os.path.abspath(profile), "projects")


def transcripts(env: Mapping[str, str]) -> Iterator[Found]:
    """Yield every transcript of this profile, its subagents' too; nothing is opened."""
    top = projects_folder(env)
    for project in _entries(top):
        if not project.is_dir():
            continue
        for entry in _entries(project.path):
            if entry.name.endswith(ENDING):
                yield from _found(top, entry.name.removesuffix(ENDING), entry)
            elif entry.is_dir():
                for agent in _entries(os.path.join(entry.path, "subagents")):
                    if agent.name.endswith(ENDING):
                        yield from _found(top, entry.name, agent)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # gone meanwhile, no folder, or not ours to read
        return []


def _found(top: str, session: str, entry: os.DirEntry[str]) -> Iterator[Found]:
    try:
        info = entry.stat()
        regular = entry.is_file()
    except OSError:
        return
    if regular:
        name = os.path.relpath(entry.path, top)
        yield Found(session, name, entry.path, info.st_size, info.st_mtime)


def census(env: Mapping[str, str], most: int = MOST_COUNTED) -> Census:
    """Count what the agent still has; at most ``most`` transcripts are looked at."""
    count = size = 0
    oldest = 0.0
    for found in transcripts(env):
        if count == most:
            return Census(count, size, oldest, more=True)
        count, size = count + 1, size + found.size
        oldest = min(oldest or found.modified, found.modified)
    return Census(count, size, oldest)


def by_session(env: Mapping[str, str]) -> list[tuple[str, list[Found]]]:
    """Return the transcripts of each session, the session that is deleted next first."""
    sessions: dict[str, list[Found]] = {}
    for found in transcripts(env):
        sessions.setdefault(found.session, []).append(found)
    return sorted(sessions.items(), key=lambda row: max(one.modified for one in row[1]))


def place(home: str) -> Place | None:
    """Return this home's archive; None where there is no installation, so that nothing is saved.

    Raises:
        ValueError: the installation record breaks its grammar.
    """
    who = read(home)
    return None if who is None else _place(home, who.installation_id)


def _place(home: str, installation_id: str) -> Place:
    from scripts.swarm_v2.store.archive.manifest import namespace
    from scripts.swarm_v2.store.archive.save import Place

    return Place(os.path.join(home, FOLDER), namespace(installation_id))


def save_session(
    settings: Settings,
    at: datetime,
    session: str,
    files: Mapping[str, str],
    *,
    close: bool = False,
    mend: bool = False,
) -> tuple[int, int]:
    """Save ``files`` (name to path) of a session under its lock.

    Returns the raw bytes gained, and with ``mend`` how many missing files were saved again.

    Raises:
        StateError: another process saves this session for half a minute already.
        ValueError, OSError: as ``archive.save``, or a bad installation record.
    """
    from scripts.swarm_v2.digest import short_digest
    from scripts.swarm_v2.store.archive.save import Source, save

    where = _place(settings.home, installation(settings.home, at).installation_id)
    lock = os.path.join(settings.home, "locks", f"archive-{short_digest(session.encode())}")
    with held(lock, wait_s=LOCK_WAIT_S):
        sources = [Source(name, path) for name, path in files.items()]
        mended = _mend(where, session, sources) if mend else 0
        return save(where, session, sources, at, close=close), mended


def _mend(where: Place, session: str, sources: list[Source]) -> int:
    from scripts.swarm_v2.store.archive.mend import mend

    return mend(where, session, sources)


def save_live(
    settings: Settings,
    env: Mapping[str, str],
    at: datetime,
    session: str,
    path: str,
    *,
    close: bool = False,
) -> int:
    """Save a session as its hooks see it: the transcript at ``path`` and its subagents'.

    Nothing is saved of a session in which the person had memory off at any time.
    """
    from hooks.context.sources import subagents

    if not os.path.isfile(path) or _was_off(settings.home, session, path, at):
        return 0
    top = projects_folder(env)
    paths = [path, *(source.path for source in subagents(path, session))]
    files = {_name(top, one): one for one in paths}
    return save_session(settings, at, session, files, close=close)[0]


class Done(NamedTuple):
    """What saving many sessions came to."""

    sessions: int = 0
    gained: int = 0  # raw bytes
    faults: tuple[str, ...] = ()
    mended: int = 0  # missing files that were saved again


def save_all(
    settings: Settings,
    env: Mapping[str, str],
    at: datetime,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Done:
    """Save every transcript of this profile; one that fails is told and the rest goes on.

    Interrupted, the next run goes on: what is saved already is only looked at. ``progress`` is
    told raw bytes, of those that are there.
    """
    sessions = by_session(env)
    whole = sum(one.size for _, files in sessions for one in files)
    gained = looked = mended = 0
    faults = []
    for session, files in sessions:
        progress(looked, whole)
        paths = {one.name: one.path for one in files}
        try:
            over = _is_over(files, at)
            more, again = save_session(settings, at, session, paths, close=over, mend=True)
            gained, mended = gained + more, mended + again
        except (HookError, ValueError, OSError) as err:
            faults.append(f"session {session}: {err}")
        looked += sum(one.size for one in files)
    progress(whole, whole)
    return Done(len(sessions), gained, tuple(faults), mended)


def all_lock(home: str) -> str:
    """Return the lock that is held while everything is saved in the background."""
    return os.path.join(home, "locks", "archive-all")


def is_saving(home: str) -> bool:
    """Say whether everything is being saved now."""
    from hooks.lock import try_lock

    if not os.path.exists(all_lock(home)):
        return False
    lock = try_lock(all_lock(home))
    if lock is None:
        return True
    with lock:
        return False


def still_damaged(home: str) -> list[str]:
    """Return the files of the archive that the last ``verify`` found damaged and that still are."""
    from hooks.context.archive_damage import known

    return known(os.path.join(home, FOLDER))


def _is_over(files: list[Found], at: datetime) -> bool:
    """Say whether nothing was written for an hour: then the end of the session is whole."""
    return at.timestamp() - max(one.modified for one in files) > SILENT_S


def save_ended(
    settings: Settings, env: Mapping[str, str], at: datetime, starting: str
) -> list[str]:
    """Save the latest sessions that no client works on any more; return what went wrong."""
    from hooks.context import session_index

    faults = []
    for entry in session_index.read(settings.home)[-MOST_ENDED:]:
        if entry.session_id == starting or session_index.is_live(
            entry, at, env.get("CLAUDE_PID", "")
        ):
            continue
        try:
            save_live(settings, env, at, entry.session_id, entry.transcript_path, close=True)
        except (HookError, ValueError, OSError) as err:
            faults.append(f"session {entry.session_id}: {err}")
    return faults


def _name(top: str, path: str) -> str:
    """Return the name below the profile's projects; elsewhere the whole path."""
    real = os.path.abspath(path)
    return real.removeprefix(top + os.sep)


def _was_off(home: str, session: str, path: str, at: datetime) -> bool:
    from hooks.clock import iso, parse_iso
    from hooks.context import switch
    from hooks.context.session_index import read as read_index
    from scripts.swarm_v2.store.archive import source

    found = switch.load(home)
    if found.damaged or not found.stretches:
        return bool(found.damaged)
    fd = source.open_file(path)
    if fd < 0:
        return False
    try:
        began = parse_iso(source.described(fd)[0])
    finally:
        os.close(fd)
    since = iso(began) if began else ""
    projects = [one.project_id for one in read_index(home) if one.session_id == session]
    names = {switch.ALL, f"session:{session}", *(f"project:{one}" for one in projects)}
    return any(
        one.what in names and one.end > since and one.since <= iso(at) for one in found.stretches
    )
