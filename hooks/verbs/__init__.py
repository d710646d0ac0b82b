"""What a person can ask of their memory: ``/brainhooks:<verb> …`` and ``brainhooks <verb> …``.

Each verb is a row here and a module of its name with ``run(args, ctx) -> str``: text for the
person. Everything behind the verb is literal; there is no quoting, and no shell sees it.
"""

from __future__ import annotations

from hooks.errors import HookError, StateError
from hooks.quick import VERB_PREFIX as PREFIX
from hooks.reply import MAX_UNITS, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import NamedTuple

    from hooks.settings import Settings
else:
    from hooks.record import NamedTuple


class Verb(NamedTuple):
    usage: str  # what follows the name
    line: str  # one line of help


VERBS = {
    "brain_status": Verb("[--verbose|--json]", "How memory is doing here, and what needs you"),
    "lessons": Verb("[QUERY|--no-project]", "What is remembered for this project"),
    "remember": Verb("TEXT", "Keep a sentence of yours, word for word"),
    "forget": Verb("ID", "Forget a memory for good"),
    "edit": Verb("ID TEXT", "Correct a memory; the old text stays in its history"),
    "memory": Verb(
        "on|off [--session|--project] [--for 2h]",
        "Switch remembering and recalling on or off: everything, or only this",
    ),
    "controls": Verb(
        "on|off [--for 2h]",
        "Switch the guards and signals of this installation on or off; memory has its own switch",
    ),
    "move": Verb("ID", "Give a memory to this folder's project"),
    "accept": Verb("[ID]", "Let a memory cross projects; without ID: what waits"),
    "explain": Verb("[SESSION]", "What the agent was told in this session, and why"),
    "review": Verb("[[keep|drop] ID]", "Keep or drop what agents made this week or propose"),
    "archive": Verb(
        "--all|list [--here]|show ID|verify", "Save the agent's transcripts before it deletes them"
    ),
    "backfill": Verb("", "Let the agent propose lessons from saved sessions, for your review"),
    "receipts": Verb("[--session] [--json]", "What became of every marker"),
    "whoami": Verb("[--json]", "Which project this folder is, and why"),
    "doctor": Verb("[--json]", "What is wrong here, and what to do about it"),
}


# The model does these, told by commands/<verb>.md: the hook lets the prompt through.
OF_THE_MODEL = ("backfill",)
ELSEWHERE = "a shell has more where brainhooks was installed with pip: brainhooks --help"


class VerbCtx(NamedTuple):
    """Who asks, from where, and when."""

    settings: Settings
    env: Mapping[str, str]
    at: datetime
    session_id: str = ""  # "" outside a session
    cwd: str = ""
    prompt_id: str = ""
    root: str = ""  # folder of the clone or the site-packages, for starting a worker


class VerbUsageError(HookError):
    """The words behind a verb are not what it takes."""

    def __init__(self, verb: str, what: str) -> None:
        self.verb = verb
        self.hint = f"{PREFIX}{verb} {VERBS[verb].usage}".rstrip()
        super().__init__(f"{verb}: {what}")


class UnknownVerbError(HookError):
    """The line names no verb of ours."""

    def __init__(self, verb: str) -> None:
        self.verb = verb
        self.hint = f"there are {', '.join(VERBS)}; {ELSEWHERE}"
        super().__init__(f"brainhooks has no {verb!r}")


def parse(line: str) -> tuple[str, str] | None:
    """Split ``/brainhooks:<verb> rest`` into verb and literal rest; None for any other prompt."""
    line = line.strip()
    if not line.startswith(PREFIX):
        return None
    words = line[len(PREFIX) :].split(None, 1)
    if not words or line[len(PREFIX)].isspace():
        return "", ""
    return words[0], words[1] if len(words) > 1 else ""


def run_verb(line: str, ctx: VerbCtx) -> str:
    """Do what ``line`` asks and return the answer.

    Raises:
        HookError: it could not be done; the message and ``hint`` are for the person.
    """
    parsed = parse(line)
    verb, args = parsed if parsed is not None else ("", "")
    return run_named(verb, args, ctx)


def run_named(verb: str, args: str, ctx: VerbCtx) -> str:
    """Run one verb by name; ``args`` is everything behind it, literally.

    Raises:
        HookError: as ``run_verb``.
    """
    if verb not in VERBS:
        raise UnknownVerbError(verb)
    module = __import__(f"hooks.verbs.{verb}", fromlist=["run"])
    try:
        said: str = module.run(args.strip(), ctx)
    except OSError as err:
        raise StateError(str(err.filename or ctx.settings.home), err.strerror or "failed") from err
    except ValueError as err:
        # The library says so of an installation record outside its grammar. The person gets a
        # sentence: a verb that raised would reach the model as a prompt.
        raise StateError(ctx.settings.home, str(err)) from err
    from hooks.verbs.wording import plain

    return plain(said)


def answer(line: str, ctx: VerbCtx) -> str:
    """Like ``run_verb``, with what went wrong said in the answer; cut to what a hook may say."""
    try:
        text = run_verb(line, ctx)
    except HookError as err:
        text = complaint(err)
    return text if units(text) <= MAX_UNITS else _cut(text)


def _cut(text: str) -> str:
    lines, room = text.split("\n"), MAX_UNITS - units(_MORE)
    kept: list[str] = []
    for line in lines:
        room -= units(line) + 1
        if room < 0:
            kept.append(line[: (room + units(line)) // 2])  # a character is at most two units
            break
        kept.append(line)
    return "\n".join([*kept, _MORE])


_MORE = "… (too long to show here; the same command in a terminal shows all)"


def complaint(err: HookError, said: str = "") -> str:
    """Write an error as the person reads it: the fact (or what is ``said``), then the next step."""
    from hooks.verbs.wording import plain

    fact = said or str(err)
    return plain(f"{fact}\n  hint: {err.hint}" if err.hint else fact)
