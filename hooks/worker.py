"""The detached worker: what a hook may not wait for. It never prints; what failed is logged.

``flush`` posts what waits. ``catch-up`` reads the transcripts that no event finished, then
flushes. ``refresh [PROJECT…]`` rewrites caches. ``start PROJECT SESSION`` is a session start's:
catch-up, flush, refresh of that project, and the trimming of the session index.
"""

from __future__ import annotations

import os

from hooks.clock import from_epoch, iso
from hooks.errors import BrainUnreachable, HookError
from hooks.log import log
from hooks.settings import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

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
    job = Job(load(env), env, from_epoch(now), argv[1:])
    for step in steps:
        try:
            step(job)
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
    """Read on in the transcript of every known session, and of its subagents."""
    from hooks.context import session_index
    from hooks.context.collect import Task
    from hooks.context.sources import Source, regular, subagents

    task = Task(job.settings, job.env, job.at)
    for entry in session_index.read(job.settings.home):
        path = regular(entry.transcript_path, entry.cwd, job.env)
        if path:
            for source in (
                Source(path, entry.session_id, main=True),
                *subagents(path, entry.session_id),
            ):
                task.read(source)
    found = task.result()
    if found.kept or found.note:
        job.log(f"caught up {len(found.kept)} markers {found.note}".rstrip())


def flush(job: Job) -> None:
    from hooks.context.flush import drain

    done = drain(job.settings, job.env, job.at)
    if done.quarantined or done.stopped:
        job.log(f"flush: {done.quarantined} quarantined, {done.left} left {done.stopped}".rstrip())


def flush_if_due(job: Job) -> None:
    from hooks.context.flush import due

    if due(job.settings, job.at):
        flush(job)


def refresh(job: Job) -> None:
    """Rewrite the caches of the named projects, of every recent one where none is named."""
    from hooks.context.brains import open_brain
    from hooks.context.refresh import refresh as rewrite

    try:
        brain = open_brain(job.settings, job.env)
    except BrainUnreachable:
        return  # said in brain_status; a line at every session start would bury the log
    try:
        rewrite(job.settings, brain, job.at, list(job.args[:1]) or None)
    finally:
        brain.close()


def trim_index(job: Job) -> None:
    from hooks.context.session_index import trim

    trim(job.settings.home)


VERBS: dict[str, tuple[Callable[[Job], None], ...]] = {
    "flush": (flush,),
    "refresh": (refresh,),
    "catch-up": (catch_up, flush_if_due),
    "start": (refresh, catch_up, flush_if_due, trim_index),
}
