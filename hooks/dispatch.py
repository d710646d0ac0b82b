"""From one event to one reply. The policy of failure lives here and nowhere else.

Events fail open and quiet: exit 0, one line in ``hooks.log``, nothing on stdout. An exception
nobody foresaw exits 1, never 2: the agent reads 2 as a refusal.
"""

from __future__ import annotations

import os

from hooks.home import resolve_home
from hooks.payload import MAX_BYTES, parse_event
from hooks.quick import migrated_note, nothing_to_do, verb_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hooks.ctx import Ctx
    from hooks.errors import HookError
    from hooks.payload import Event
    from hooks.reply import Reply

# event -> the module that lists its steps; a new event is a row here, a file there, and a
# stanza in hooks/hooks.json and settings.example.json (a test compares the four).
EVENTS = {
    "SessionStart": "hooks.events.session_start",
    "SubagentStart": "hooks.events.subagent_start",
    "PreToolUse": "hooks.events.pre_tool_use",
    "PostToolUse": "hooks.events.post_tool_use",
    "PostToolUseFailure": "hooks.events.post_tool_use_failure",
    "UserPromptSubmit": "hooks.events.user_prompt_submit",
    "Stop": "hooks.events.stop",
    "SubagentStop": "hooks.events.subagent_stop",
    "PreCompact": "hooks.events.pre_compact",
    "SessionEnd": "hooks.events.session_end",
    "MessageDisplay": "hooks.events.message_display",
}
MOST_SAID = 300  # characters of what is wrong with a setting: it can hold anything
USAGE = (
    "usage: python3 -I -S hooks/__main__.py EVENT < payload.json"
    " | verb NAME | statusline [--segment] | worker TASK ... | server\n"
)


def main(
    argv: Sequence[str], *, env: Mapping[str, str], stdin: int, stdout: int, now: float
) -> int:
    """Serve one process: an event, a verb of the person's, the detached worker, the other door.

    ``stdin`` and ``stdout`` are file descriptors, ``now`` seconds since the epoch. Returns the
    exit code: 0, or 1 for wrong usage and for what nobody foresaw.
    """
    name = argv[0] if argv else ""
    return guarded(name, env, now, lambda: _run(name, argv[1:], env, stdin, stdout, now))


def guarded(name: str, env: Mapping[str, str], now: float, work: Callable[[], int]) -> int:
    """Do ``work`` and return its exit code; what nobody foresaw is a line in the log, and 1."""
    try:
        return work()
    except Exception as err:  # noqa: BLE001 - the one blind except of the program
        return _unforeseen(name, env, now, err)


def _run(
    name: str, rest: Sequence[str], env: Mapping[str, str], stdin: int, stdout: int, now: float
) -> int:
    _open_streams()
    if name in EVENTS:
        return serve(name, lambda: parse_event(name, _read(stdin)), env, now, _into(stdout))
    if name == "server":
        from hooks.server import main as server

        return server(env=env, stdin=stdin, stdout=stdout)
    if name == "worker":
        from hooks.worker import main as work

        return work(rest, env=env, now=now)
    if name == "verb":
        from hooks.verbs.shell import main as verb

        return verb(rest, env=env, stdout=stdout, now=now)
    if name == "statusline":
        from hooks.statusline import main as line

        return line(rest, env=env, stdin=stdin, stdout=stdout, now=now)
    os.write(2, USAGE.encode())
    return 1


def _into(stdout: int) -> Callable[[bytes], None]:
    def write(answer: bytes) -> None:
        while answer:
            answer = answer[os.write(stdout, answer) :]

    return write


def _wanted(env: Mapping[str, str]) -> bool:
    """Where CI is set nothing is injected, captured or written unless it was asked for."""
    in_ci = env.get("CI", "").lower() not in ("", "0", "false")
    if not in_ci:
        return True
    from hooks.settings import is_on

    return is_on("BRAINHOOKS_CI", env.get("BRAINHOOKS_CI", ""))


def _open_streams() -> None:
    """Give a closed standard stream /dev/null: else the next file opened would be our stdout."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def serve(
    name: str,
    read: Callable[[], Event],
    env: Mapping[str, str],
    now: float,
    write: Callable[[bytes], None],
) -> int:
    """Answer one event, of whichever door; return 0.

    ``read`` may raise a HookError. ``write`` is given the answer, b"" where nothing is to be said;
    it is not called where the event needs no work, or fails.
    """
    from hooks.errors import HookError, SettingsError

    if not _wanted(env):
        return 0
    event = None
    try:
        home = resolve_home(env)
        event = read()
        if nothing_to_do(event, home):
            return 0
        _answer(event, env, now, write)
    except HookError as err:
        note(env, name, now, f"{err}")
        if event is not None and verb_line(event.prompt):
            _refuse_verb(err, write)
        elif isinstance(err, SettingsError):
            _unserved(name, event, env, now, err, write)
    except BrokenPipeError:  # the agent stopped listening
        note(env, name, now, "nobody reads our answer")
    except OSError as err:  # the disk, or a stream that is none
        note(env, name, now, f"{type(err).__name__}: {err}")
    return 0


def _refuse_verb(err: HookError, write: Callable[[bytes], None]) -> None:
    """A person's verb never becomes a prompt to the model, whatever is broken here."""
    from hooks.reply import Block, encode

    said = f"brainhooks: {err}" + (f"\n  hint: {err.hint}" if err.hint else "")
    write(encode([Block(said)], "UserPromptSubmit"))


def _unserved(
    name: str,
    event: Event | None,
    env: Mapping[str, str],
    now: float,
    err: HookError,
    write: Callable[[bytes], None],
) -> None:
    """Note what has to be read after the mend; the session's start says what there is to mend."""
    from hooks.clock import from_epoch
    from hooks.context import unserved
    from hooks.context.claims import claim
    from hooks.errors import HookError
    from hooks.reply import Tell, encode
    from hooks.verbs.wording import one_line

    first, at = True, from_epoch(now)
    if event is not None:  # the home is known
        try:
            home = resolve_home(env)
            unserved.note(home, event, env, at)
            first = name != "SessionStart" or claim(home, event, env, at)
        except (HookError, OSError) as failed:
            note(env, name, now, f"noting what to read later: {failed}")
    if name == "SessionStart" and first:
        what = f"brainhooks: {one_line(str(err), MOST_SAID)}, so memory rests"
        later = "; what is marked meanwhile is kept once that is mended" if event else ""
        said = f"{what}{later}. To do: {one_line(err.hint, MOST_SAID)}"
        write(encode([Tell(said)], name))


def _answer(
    event: Event, env: Mapping[str, str], now: float, write: Callable[[bytes], None]
) -> None:
    from hooks.clock import from_epoch
    from hooks.ctx import Ctx
    from hooks.log import lacks_lines
    from hooks.reply import encode
    from hooks.settings import load

    ctx = Ctx(event, load(env), env, from_epoch(now))
    try:
        if lacks_lines(ctx.settings.home):
            ctx.log("what failed before this could not be logged")
        if not os.path.exists(migrated_note(ctx.settings.home)):
            _migrate(ctx)
        _mark_run(ctx)
        write(encode(handle(ctx), event.name))
        for finish in ctx.after_print:
            _finish(ctx, finish)
    finally:
        ctx.close()


def _finish(ctx: Ctx, finish: Callable[[], None]) -> None:
    try:
        finish()
    except OSError as err:  # it is said; what is left over is said again, or tidied
        ctx.log(f"after the answer: {err}")


def _migrate(ctx: Ctx) -> None:
    """Run what an upgrade needs, once. A failure is logged; the next event with work tries again.

    Nothing that follows depends on it: the steps come to the same end whoever is first.
    """
    from hooks.context.migrations import migrate
    from hooks.errors import HookError

    try:
        migrate(ctx.settings.home, ctx.at)
    except (HookError, OSError, ValueError) as err:
        ctx.log(f"migrate: {type(err).__name__}: {err}")


def _mark_run(ctx: Ctx) -> None:
    """Leave the file whose time says when the event last ran; a home we may not write stays so."""
    from hooks.atomic import make_folder

    path = os.path.join(ctx.settings.home, "brain", "last-run", ctx.event.name)
    try:
        make_folder(os.path.dirname(path))
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    except OSError as err:
        ctx.log(f"the note of when it ran: {err}")


def handle(ctx: Ctx) -> list[Reply]:
    """Run the event's steps in order and fold what they say.

    It knows nothing of stdin and stdout: a process per event is one door, a server another.
    """
    from hooks.reply import merge

    return merge(_replies(ctx))


def _replies(ctx: Ctx) -> Iterator[Reply]:
    from hooks.errors import HookError, StateDown

    for step in steps_of(ctx.event.name):
        try:
            yield from _load(f"hooks.steps.{step}").run(ctx)
        except (HookError, OSError, ValueError) as err:
            if isinstance(err, StateDown):
                ctx.lose_state(err.what)  # which logs it, once an outage
                continue
            # One step's bad luck (a full disk, a record that breaks its grammar) is not the
            # next one's: a memory that cannot be indexed can still be shown.
            ctx.log(f"{step}: {type(err).__name__}: {err}")


def steps_of(event: str) -> tuple[str, ...]:
    """Return the event's steps in order, by the names of their modules in ``hooks.steps``."""
    steps: tuple[str, ...] = _load(EVENTS[event]).STEPS
    return steps


def _load(module: str):  # type: ignore[no-untyped-def]  # a module, whose attributes are its contract
    __import__(module)
    import sys

    return sys.modules[module]


def _read(fd: int) -> bytes:
    parts, total = [], 0
    while total <= MAX_BYTES and (part := os.read(fd, 1 << 20)):
        parts.append(part)
        total += len(part)
    return b"".join(parts)


def note(env: Mapping[str, str], event: str, now: float, text: str) -> None:
    from hooks.clock import from_epoch, iso
    from hooks.errors import HookError
    from hooks.log import log

    try:
        home = resolve_home(env)
    except HookError:  # there is no home, and so no log
        return
    log(home, iso(from_epoch(now)), event, "", text)


def _unforeseen(name: str, env: Mapping[str, str], now: float, err: Exception) -> int:
    """Log where it happened: file, line and type of each frame, never values."""
    frames, trace = [], err.__traceback__
    while trace:
        code = trace.tb_frame.f_code
        frames.append(f"{os.path.basename(code.co_filename)}:{trace.tb_lineno}")
        trace = trace.tb_next
    where = " ".join(frames[-8:])
    note(env, name or "-", now, f"unforeseen {type(err).__name__} at {where}")
    if name == "verb":  # a person waits for an answer; an agent would show it to the model
        os.write(2, b"brainhooks: unforeseen error, see logs/hooks.log in its home\n")
    return 1
