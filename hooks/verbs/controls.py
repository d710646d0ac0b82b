"""``controls on|off [--for 2h]``: the person's switch for the guards and signals.

It is for this installation, never for more, and it lies in the sessions' state: a switch that
cannot be stored there is said to be none.
"""

from __future__ import annotations

from hooks.context import controls
from hooks.errors import HookError, StateDown
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.memory import duration
from hooks.verbs.wording import minute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import timedelta

    from hooks.context.controls import Controls

OFF = "the retry breaker, the read cache and the signals do nothing; memory goes on"


class NotSwitchedError(HookError):
    """The sessions' state did not take the switch, or could not be asked for it."""

    def __init__(self, wish: str, err: HookError) -> None:
        what = (
            f"controls could not be switched {wish}" if wish else "nobody can tell how controls are"
        )
        hint = err.hint or "while it is out of reach no guard acts; brainhooks doctor asks it"
        if isinstance(err, controls.UnsureError):
            what = f"it is not known whether controls are {wish} now"
            hint = "ask again with `controls` once the state answers; brainhooks doctor asks it why"
        super().__init__(f"{what}: the sessions' state did not confirm it ({err})")
        self.hint = hint


def run(args: str, ctx: VerbCtx) -> str:
    wish, lasting = parse(args)
    try:
        if not wish:
            return describe(controls.look(ctx.settings, ctx.at))
        until = ctx.at + lasting if lasting else None
        return describe(controls.turn(ctx.settings, ctx.at, on=wish == "on", until=until))
    except StateDown as err:
        raise NotSwitchedError(wish, err) from None


def parse(args: str) -> tuple[str, timedelta | None]:
    """Read the words of the verb: "on", "off" or "" to ask, and how long.

    Raises:
        VerbUsageError: a word it does not know, or a duration that is none.
    """
    wish, lasting, words = "", None, args.replace("--for=", "--for ").split()
    while words:
        word = words.pop(0)
        if word in ("on", "off") and not wish:
            wish = word
        elif word == "--for" and words and lasting is None:
            lasting = duration(words.pop(0), "controls")
        else:
            raise VerbUsageError("controls", f"{word!r} is not understood here")
    if lasting is not None and wish != "off":
        raise VerbUsageError("controls", "--for goes with off")
    return wish, lasting


def describe(found: Controls) -> str:
    if found.on:
        return "Controls are on."
    return f"Controls are off on this installation, {until(found)}: {OFF}."


def until(found: Controls) -> str:
    """Say how long they are off, as the rest of a sentence."""
    if found.until:
        return f"until {minute(found.until)}"
    return "until you switch them on (`controls on`)"
