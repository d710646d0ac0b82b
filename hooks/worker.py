"""The detached worker: what a hook may not wait for. It never prints; what failed is logged.

``flush`` posts what waits. ``catch-up`` reads the transcripts that no event finished, then
flushes. ``refresh [PROJECT]`` rewrites caches. ``start PROJECT SESSION [defer]`` is a session
start's: refresh of that project, catch-up of every other session, flush, and the tidying; with
``defer`` the session could not be told all, so the rest is left for its next prompt.
``count-tokens`` and ``log-transcript`` read one session's transcripts where a hook would wait.
"""

from __future__ import annotations

import os

from hooks.clock import from_epoch, iso
from hooks.context import state_down
from hooks.context.database import be_patient
from hooks.errors import BrainUnreachable, HookError, StateDown
from hooks.log import log
from hooks.settings import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from hooks.context.session_state import SessionState
    from hooks.settings import Settings

NICENESS = 10


class Job:
    """One worker's work: settings, one instant, and the words behind the verb."""

    def __init__(
        self, settings: Settings, env: Mapping[str, str], at: datetime, args: Sequence[str]
    ) -> None:
        self.settings, self.env, self.at, self.args = settings, env, at, args

    def log(self, text: str) -> None:
        log(self.settings.home, iso(self.at), "worker", "", text)


def main(argv: Sequence[str], *, env: Mapping[str, str], now: float) -> int:
    """Run the verb ``argv[0]``. Returns 0, also where something of ours failed and was logged."""
    steps = VERBS.get(argv[0] if argv else "")
    if steps is None:
        return 1
    _stand_back()
    be_patient()
    job = Job(load(env), env, from_epoch(now), argv[1:])
    for step in steps:
        try:
            step(job)
        except StateDown as err:  # also for the hooks: they start us for it no sooner
            state_down.mark(job.settings, job.at, err.what)
        except (HookError, OSError, ValueError) as err:
            job.log(f"{step.__name__.replace('_', '-')}: {err}")
    return 0


def _stand_back() -> None:
    """Outlive the agent and get out of its way."""
    try:
        os.setsid()
    except PermissionError:  # our starter has given us a session already
        pass
    os.nice(NICENESS)


def catch_up(job: Job) -> None:
    """Read on in the transcript of every session that no client works on, and of its subagents.

    A live session's own hooks read it, and tell its person what was kept. What is personal in a
    transcript is its session's person's, whoever's session started us.
    """
    from hooks.context import session_index
    from hooks.context.collect import Task
    from hooks.context.sources import Source, regular, subagents
    from hooks.context.unserved import UNSERVED

    tasks: dict[str, Task] = {}
    starting = job.args[1] if len(job.args) > 1 else ""
    client = job.env.get("CLAUDE_PID", "")
    for entry in session_index.read(job.settings.home):
        if entry.session_id == starting or session_index.is_live(entry, job.at, client):
            continue
        path = regular(entry.transcript_path, entry.cwd, job.env)
        if path:
            who = job.settings.principal if entry.source == UNSERVED else entry.principal
            theirs = job.settings._replace(principal=who)
            task = tasks.setdefault(who, Task(theirs, job.env, job.at))
            for source in (
                Source(path, entry.session_id, main=True),
                *subagents(path, entry.session_id),
            ):
                task.read(source)
    for task in tasks.values():
        found = task.result()
        if found.kept or found.note:
            job.log(f"caught up {len(found.kept)} markers {found.note}".rstrip())


def flush(job: Job) -> None:
    from hooks.context.flush import drain

    done = drain(job.settings, job.env, job.at)
    if done.quarantined or done.stopped:
        job.log(f"flush: {done.quarantined} quarantined, {done.left} left {done.stopped}".rstrip())


def restore(job: Job) -> None:
    """Send again what the brain lost."""
    from hooks.context.lost_records import restore as send_lost

    found = send_lost(job.settings, job.env, job.at)
    if found:
        job.log(f"the brain had lost {found} memories; they are sent to it again")


def flush_if_due(job: Job) -> None:
    from hooks.context.flush import due

    if due(job.settings, job.at):
        flush(job)


def bury(job: Job) -> None:
    """Carry out what a person forgot, where that died on the way."""
    from hooks.context.burial import finish
    from hooks.context.erased import finish as finish_erased

    finish_erased(job.settings.home, job.at)
    finish(job.settings, job.env, job.at)


def obey(job: Job) -> None:
    """Take out of this home what another one forgot in a folder that both use."""
    from hooks.context.brain_adapter import brain_kind

    if brain_kind(job.settings) == "file":
        from hooks.context.obeying import obey as take_away

        take_away(job.settings, job.env, job.at)


def refresh(job: Job) -> None:
    """Rewrite the caches of the named projects, of every recent one where none is named."""
    from hooks.context.brains import open_brain
    from hooks.context.forgetting import tell
    from hooks.context.refresh import refresh as rewrite

    try:
        brain = open_brain(job.settings, job.env)
    except BrainUnreachable:
        return  # said in brain_status; a line at every session start would bury the log
    try:
        tell(job.settings, brain)
        rewrite(job.settings, brain, job.at, list(job.args[:1]) or None)
    finally:
        brain.close()


def keep_context(job: Job) -> None:
    """Store what this session was, or could have been, told: its person's next one finds it."""
    from hooks.context.brain_adapter import brain_kind

    if brain_kind(job.settings) == "local":
        from hooks.context.keep_context import keep_context as keep

        keep(job.settings, job.args[0], job.args[1] if len(job.args) > 1 else "", job.at)


def defer_the_rest(job: Job) -> None:
    from hooks.context.deferred import defer
    from hooks.context.memory_view import Where

    if len(job.args) > 2:
        defer(job.settings, job.env, Where(job.args[0], job.args[1], job.at))


def archive(job: Job) -> None:
    """Save what one session gained: the words are its id, its transcript and maybe ``close``."""
    from hooks.context.archiving import save_live

    session, path = job.args[:2]
    save_live(job.settings, job.env, job.at, session, path, close="close" in job.args[2:])


def archive_ended(job: Job) -> None:
    """Save what was left by sessions whose end no hook saw, where the person wants it."""
    from hooks.context.archiving import save_ended

    if job.settings.archive:
        starting = job.args[1] if len(job.args) > 1 else ""
        for fault in save_ended(job.settings, job.env, job.at, starting):
            job.log(f"archive: {fault}")


def archive_all(job: Job) -> None:
    from hooks.context.archiving import all_lock, save_all
    from hooks.lock import held

    with held(all_lock(job.settings.home), wait_s=1.0):
        done = save_all(job.settings, job.env, job.at)
    again = f", {done.mended} files saved again" if done.mended else ""
    failed = f"{len(done.faults)} failed"
    job.log(f"archive: {done.sessions} sessions, {done.gained} bytes{again}; {failed}")
    for fault in done.faults:
        job.log(f"archive: {fault}")


def _state(job: Job) -> SessionState | None:
    from hooks.context.session_state import allow_redis_py, open_state

    allow_redis_py()
    return open_state(job.settings, job.at)


def count_tokens(job: Job) -> None:
    """Count a session's tokens: the words are its id, its transcript and the folder it is in."""
    from hooks.context.followed import everything
    from hooks.context.sources import regular
    from hooks.context.tokens import PATIENT_S, count, lock_of
    from hooks.lock import held

    session, path = job.args[0], regular(job.args[1], job.args[2], job.env)
    # Each event may start one of us while the first still reads: one after the other, each reads
    # only what is new.
    with held(lock_of(job.settings.home, session), wait_s=PATIENT_S):
        state = _state(job)
        if state is not None:
            try:
                count(state, session, lambda _: everything(path, session))
            finally:
                state.close()


def log_transcript(job: Job) -> None:
    """Log a session's turns: the words are its id, its transcript and the folder it is in."""
    from hooks.context.followed import everything
    from hooks.context.sources import regular
    from hooks.context.transcript_log import log_of

    session, folder = job.args[0], job.args[2]
    path = regular(job.args[1], folder, job.env)
    state = _state(job)
    if state is not None:
        try:
            log = log_of(state, job.settings, job.env, job.at, session, folder)
            if log is not None:
                log.write(lambda _: everything(path, session), patient=True)
        finally:
            state.close()


def let_go(job: Job) -> None:
    """Delete what the brain of this home keeps of sessions that ended long ago."""
    from hooks.context.ended_sessions import let_go as let_ended_go

    starting = job.args[1] if len(job.args) > 1 else ""
    gone = let_ended_go(job.settings, job.env, starting, job.at)
    if gone:
        job.log(f"let go of {len(gone)} sessions that ended long ago")


def tidy_up(job: Job) -> None:
    from hooks.context.session_index import trim
    from hooks.context.tidy import tidy

    trim(job.settings.home)
    tidy(job.settings.home, job.at)


VERBS: dict[str, tuple[Callable[[Job], None], ...]] = {
    "flush": (flush,),
    "refresh": (refresh, obey),
    "catch-up": (catch_up, flush_if_due),
    "archive": (flush_if_due, archive),
    "archive-all": (archive_all,),
    "count-tokens": (count_tokens,),
    "log-transcript": (log_transcript,),
    "start": (
        bury,
        obey,
        refresh,
        keep_context,
        defer_the_rest,
        catch_up,
        restore,
        flush_if_due,
        archive_ended,
        let_go,
        tidy_up,
    ),
}
