"""``memory on|off [--session|--project] [--for 2h]``: the person's switch.

Without ``--session`` or ``--project`` it is for everything on this installation. Off means 0
bytes shown to the agent and 0 kept of what it writes, for that stretch and for ever.
"""

from __future__ import annotations

from datetime import timedelta

from hooks.context import switch
from hooks.context.switch import ALL, DAMAGED, Off, load, turn
from hooks.errors import HookError, StateError
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.wording import minute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

# What ``brainhooks memory`` has besides, in a shell: documents, which take more than a line.
SHELL = ("list", "show", "put", "edit", "forget", "watch", "serve")
ON = "memory on"  # the words that end whatever is off where they are said
_UNITS = {"m": 60, "h": 3600, "d": 86400}
_LONGEST = timedelta(days=366)


class NowhereToSwitchError(HookError):
    """``--session`` outside a session, or ``--project`` outside a project."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.hint = "without --session and --project it holds for the whole installation"
        super().__init__(f"there is no {kind} here to switch")


class ShellWordError(HookError):
    """A command of the shell, said to the agent."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.hint = f"in a shell: brainhooks memory {word}; here there are memory on and off"
        super().__init__(f"memory {word} is a command of the shell")


class Wish(NamedTuple):
    word: str  # "on", "off", or "" to ask
    scope: str = ""  # "session", "project", or "" for everything
    lasting: timedelta | None = None


def run(args: str, ctx: VerbCtx) -> str:
    first = args.split(None, 1)[:1]
    if first and first[0] in SHELL:
        raise ShellWordError(first[0])
    wish = parse(args)
    project = _project(ctx)
    if not wish.word:
        return _state(ctx, project)
    what = _what(wish.scope, ctx, project)
    if wish.word == "off":
        until = ctx.at + wish.lasting if wish.lasting else None
        turn(ctx.settings.home, False, what, ctx.at, until)
        return _switched_off(ctx, project, what)
    # A plain "on" means: I want memory here. It also ends what is off for just this place.
    for name in [what] if wish.scope else _here(ctx, project):
        turn(ctx.settings.home, True, name, ctx.at)
    if wish.scope and load(ctx.settings.home).off(ctx.at, project, ctx.session_id):
        return f"Nothing is off {_where(what)} now, but {_state(ctx, project, 'memory')}"
    return _state(ctx, project)


def _switched_off(ctx: VerbCtx, project: str, what: str) -> str:
    """Tell what was recorded, and what is off besides and longer."""
    switches = load(ctx.settings.home)
    own = switches.holding(ctx.at, (what,))
    longest = switches.off(ctx.at, project, ctx.session_id)
    said = f"Memory is off {describe(own)}." if own else _state(ctx, project)
    if own and longest and longest.what != what:
        said += f"\nIt is also off {describe(longest)}."
    return said


def parse(args: str) -> Wish:
    """Read the words of the verb.

    Raises:
        VerbUsageError: a word it does not know, two scopes, or a duration that is none.
    """
    word, scope, lasting = "", "", None
    words = args.split()
    while words:
        this = words.pop(0)
        if this in ("on", "off") and not word:
            word = this
        elif this in ("--session", "--project") and not scope:
            scope = this[2:]
        elif this == "--for" and words and lasting is None:
            lasting = duration(words.pop(0))
        elif this.startswith("--for=") and lasting is None:
            lasting = duration(this[len("--for=") :])
        else:
            raise VerbUsageError("memory", f"{this!r} is not understood here")
    if lasting is not None and word != "off":
        raise VerbUsageError("memory", "--for goes with off")
    if scope and not word:
        raise VerbUsageError("memory", f"--{scope} goes with on or off")
    return Wish(word, scope, lasting)


def duration(text: str, verb: str = "memory") -> timedelta:
    """Read ``90m``, ``2h`` or ``3d``, at most a year.

    Raises:
        VerbUsageError: anything else.
    """
    number, unit = text[:-1], text[-1:]
    if unit in _UNITS and number.isascii() and number.isdigit() and len(number) < 7:
        lasting = timedelta(seconds=int(number) * _UNITS[unit])
        if timedelta(0) < lasting <= _LONGEST:
            return lasting
    raise VerbUsageError(verb, f"{text!r} is no duration; write 30m, 2h or 3d, up to a year")


def _project(ctx: VerbCtx) -> str:
    from hooks.context.project import launch_folder, resolve

    folder = launch_folder(ctx.cwd, ctx.env)
    return resolve(folder, ctx.settings, ctx.env, ctx.at, register=False).id


def _what(scope: str, ctx: VerbCtx, project: str) -> str:
    if scope == "session":
        if not ctx.session_id:
            raise NowhereToSwitchError("session")
        return "session:" + ctx.session_id
    if scope == "project":
        if project == "unknown":
            raise NowhereToSwitchError("project")
        return "project:" + project
    return ALL


def _here(ctx: VerbCtx, project: str) -> list[str]:
    names = [ALL]
    if project != "unknown":
        names.append("project:" + project)
    if ctx.session_id:
        names.append("session:" + ctx.session_id)
    return names


def _state(ctx: VerbCtx, project: str, memory: str = "Memory") -> str:
    switches = load(ctx.settings.home)
    if switches.damaged:
        hint = "repair or remove the file; until then nothing is captured or shown"
        raise StateError(switch.path(ctx.settings.home), switches.damaged, hint=hint)
    stretch = switches.off(ctx.at, project, ctx.session_id)
    return f"{memory} is on here." if stretch is None else f"{memory} is off {describe(stretch)}."


def describe(stretch: Off) -> str:
    """Say for what and how long it is off, as the rest of a sentence."""
    if stretch.what == DAMAGED:
        return f"{_where(ALL)}: memory-switch.json cannot be read"
    if stretch.until:
        return f"{_where(stretch.what)}, until {minute(stretch.until)}"
    return f"{_where(stretch.what)}, until you switch it on (`{ON}`)"


def _where(what: str) -> str:
    if what.startswith("session:"):
        return "for this session"
    if what.startswith("project:"):
        return f"for the project {what[len('project:') :]}"
    return "for everything on this installation"
