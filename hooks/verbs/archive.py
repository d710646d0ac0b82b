"""``archive …``: save the agent's transcripts before it deletes them, list, read, prove them."""

from __future__ import annotations

import os

from hooks.context import archiving
from hooks.errors import HookError, StateError
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.wording import count, day, one_line, plain, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scripts.swarm_v2.store.archive.manifest import Manifest, Transcript
    from scripts.swarm_v2.store.archive.read import Damage
    from scripts.swarm_v2.store.archive.save import Place

MIN_PREFIX = 4
SAVING = "More is being saved now, in the background."
NOTHING = "Nothing is saved yet; `archive --all` saves every session the agent still has."


class NoSuchSessionError(HookError):
    """What a person typed names no saved session, or several."""

    def __init__(self, wanted: str, found: int) -> None:
        self.wanted, self.found = wanted, found
        self.hint = "brainhooks archive list names them; eight characters are enough"
        what = "no saved session has" if not found else f"{found} saved sessions have"
        super().__init__(f"{what} the id {wanted!r}")


def run(args: str, ctx: VerbCtx) -> str:
    words = args.split()
    verb = words[0] if words else "list"
    if verb == "--all" and len(words) == 1:
        return _all_in_background(ctx)
    if verb == "list" and set(words[1:]) <= {"--here"}:
        return listed(ctx, here="--here" in words)
    if verb == "verify" and len(words) == 1:
        return verified(ctx)[0]
    if verb == "show" and len(words) == 2:
        return "\n\n".join(shown(ctx, words[1]))
    raise VerbUsageError("archive", f"{args!r} is not understood here")


def _all_in_background(ctx: VerbCtx) -> str:
    """A person in the agent waits for no disk; in a shell the command shows its progress."""
    from hooks.spawn import detach, start_command

    there = archiving.census(ctx.env)
    if not there.number:
        return "The agent keeps no transcript in this profile."
    detach(start_command(ctx.root, "worker", "archive-all"), ctx.env)
    saving = f"Saving {count(there.number, 'transcript')}, {size(there.size)}, in the background."
    return f"{saving}\n`archive list` shows them."


def place(ctx: VerbCtx) -> Place | None:
    return archiving.place(ctx.settings.home)


def rows(ctx: VerbCtx, *, here: bool = False) -> list[dict[str, object]]:
    """Return what ``list`` shows, the oldest session first."""
    from scripts.swarm_v2.store.archive import read

    where = place(ctx)
    return [] if where is None else _rows(ctx, where, read.manifests(where)[0], here=here)


def _rows(
    ctx: VerbCtx, where: Place, everything: list[Manifest], *, here: bool
) -> list[dict[str, object]]:
    from scripts.swarm_v2.store.archive import read

    sizes = read.sizes(where)
    projects = _projects(ctx)
    wanted = _is_here(ctx, projects) if here else lambda _: True
    found = [whole for whole in everything if wanted(whole)]
    made = [
        {
            "session": whole.session,
            "at": _began(whole),
            "project": projects.get(whole.session) or _folder(whole),
            "transcripts": len(whole.transcripts),
            "size": sum(one.size for one in whole.transcripts),
            "stored": read.stored_size(where, whole, sizes),
            "closed": whole.closed,
        }
        for whole in found
    ]
    return sorted(made, key=lambda row: (str(row["at"]), str(row["session"])))


def listed(ctx: VerbCtx, *, here: bool = False) -> str:
    from scripts.swarm_v2.store.archive import read

    where = place(ctx)
    everything, damage = ([], []) if where is None else read.manifests(where)
    found = [] if where is None else _rows(ctx, where, everything, here=here)
    unread = f"{count(len(damage), 'file')} left out; `archive verify` says why" if damage else ""
    if archiving.is_saving(ctx.settings.home):
        unread = "\n".join(part for part in (unread, SAVING) if part)
    if not found or where is None:
        return unread or (NOTHING if not here else "No session of this project is saved.")
    lines = [
        f"{one_line(str(row['session'])[:8])}  {day(str(row['at']))}  {size(row['size']):>8}"
        f"  {size(row['stored']):>8}  {one_line(str(row['project']))}"
        for row in found
    ]
    whole = size(sum(int(str(row["size"])) for row in found))
    foot = f"{count(len(found), 'session')}, {whole}"
    if not here:
        disk = size(sum(read.sizes(where).values()))
        foot += f"; {disk} on disk, what sessions share counted once"
    head = "session   began          size    stored  project"
    return "\n".join([head, *lines, foot, *([unread] if unread else [])])


def _projects(ctx: VerbCtx) -> dict[str, str]:
    from hooks.context.session_index import read

    known = read(ctx.settings.home)
    return {one.session_id: one.project_id for one in known if one.project_id != "unknown"}


def _began(whole: Manifest) -> str:
    return min((one.at for one in whole.transcripts if one.at), default="")


def _folder(whole: Manifest) -> str:
    return next((one.cwd for one in whole.transcripts if one.cwd), "-")


def _is_here(ctx: VerbCtx, projects: dict[str, str]) -> Callable[[Manifest], bool]:
    from hooks.verbs.library import here

    project = here(ctx)
    top = project.worktree or project.cwd

    def wanted(whole: Manifest) -> bool:
        known = projects.get(whole.session)
        if known:
            return known == project.id
        return bool(top) and (_folder(whole) + os.sep).startswith(top + os.sep)

    return wanted


def one(ctx: VerbCtx, wanted: str) -> tuple[Place, Manifest]:
    """Return the saved session whose id begins with ``wanted``.

    Raises:
        NoSuchSessionError: none does, or several do.
    """
    from scripts.swarm_v2.store.archive import read

    where = place(ctx)
    found = [] if where is None or len(wanted) < MIN_PREFIX else read.manifests(where)[0]
    named = [whole for whole in found if whole.session.startswith(wanted)]
    if where is None or len(named) != 1:
        raise NoSuchSessionError(wanted, len(named))
    return where, named[0]


def latest(whole: Manifest) -> list[Transcript]:
    """Return the newest part of each transcript, the session's own first."""
    return [one for one in whole.transcripts if whole.current(one.name) == one]


def shown(ctx: VerbCtx, wanted: str) -> Iterator[str]:
    """Yield a saved session readably, its subagents behind it; secrets are taken out."""
    from hooks.context.transcript_text import readable
    from scripts.swarm_v2.store.archive.split import pieces

    where, whole = one(ctx, wanted)
    yield one_line(f"session {whole.session}, {day(_began(whole))}, {_folder(whole)}")
    for transcript in latest(whole):
        if "/subagents/" in transcript.name:
            yield one_line(f"— subagent {transcript.name.rpartition('/')[2]} —")
        yield from readable(pieces(blocks(where, whole, transcript)))


def blocks(where: Place, whole: Manifest, transcript: Transcript) -> Iterator[bytes]:
    """Yield a transcript's exact bytes.

    Raises:
        StateError: a part of it is damaged; what came before it is right.
    """
    from scripts.swarm_v2.store.archive.read import fresh

    try:
        yield from fresh(where, whole.session, transcript.name, transcript.part)
    except ValueError as err:
        hint = "brainhooks archive verify says what else is damaged"
        raise StateError(where.folder, str(err), hint=hint) from None


def verified(ctx: VerbCtx, progress: Callable[[str], None] = lambda _: None) -> tuple[str, bool]:
    """Return what ``verify`` found, and whether all is undamaged."""
    from scripts.swarm_v2.store.archive import read

    where = place(ctx)
    if where is None:
        return NOTHING, True
    report = read.verify(where, progress)
    _remember(where, report.damage)
    said = f"{count(report.sessions, 'session')}, {count(report.chunks, 'chunk')}"
    said += f", {size(report.raw_bytes)} of transcripts"
    if report.unused:
        said += f"; {count(report.unused, 'chunk')} of no session, left by a save that was killed"
    if not report.damage:
        return f"Undamaged: {said}.", True
    files: dict[str, list[Damage]] = {}
    for one in report.damage:
        files.setdefault(one.path, []).append(one)
    lines = [f"  {_damaged(path, found)}" for path, found in files.items()]
    head = f"Damaged: {count(len(files), 'file')} of {said}. Nothing was changed."
    todo = "Move a damaged file away; `archive --all` saves again what the agent still has."
    return "\n".join([head, *lines, todo, *_lost(where, report.damage)]), False


def _remember(where: Place, damage: tuple[Damage, ...]) -> None:
    from hooks.context.archive_damage import remember

    try:
        remember(where, damage)
    except OSError:  # read-only, say: what was found is told all the same
        return


def _damaged(path: str, found: list[Damage]) -> str:
    """Write one file's line: what is wrong with it, and every session that it is part of."""
    sessions = [_told(session[:8]) for session in dict.fromkeys(one.session for one in found)]
    named = ", ".join(session for session in sessions if session)
    whose = "sessions" if "," in named else "session"
    return _told(f"{path}: {found[0].what}") + (f" ({whose} {named})" if named else "")


def _lost(where: Place, damage: tuple[Damage, ...]) -> list[str]:
    """Say what is left to do about sessions that the agent has no longer."""
    sessions = dict.fromkeys(one.session for one in damage if one.session)
    if not sessions:
        return []
    lines = ["What the agent has no more stays incomplete. To drop such a session, move away"]
    return lines + [f"  {where.manifest(one)} (session {_told(one[:8])})" for one in sessions]


def _told(path: str) -> str:
    """Return a file's name for a terminal: it may be no text at all."""
    return plain(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
