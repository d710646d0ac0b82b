"""``brain_status [--verbose|--json]``: how memory is doing here, and what needs the person."""

from __future__ import annotations

from hooks.status import collect_status, exit_code, render
from hooks.verbs import VerbCtx, VerbUsageError
from scripts.swarm_v2.wire_json import dumps


def run(args: str, ctx: VerbCtx) -> str:
    return report(args, ctx)[0]


def report(args: str, ctx: VerbCtx) -> tuple[str, int]:
    """Return the text and the exit code: 0 green, 1 something needs a person.

    Raises:
        VerbUsageError: another word than ``--verbose`` or ``--json``.
    """
    if args not in ("", "--verbose", "--json"):
        raise VerbUsageError("brain_status", f"{args!r} is not understood here")
    status = collect_status(ctx.settings, ctx.env, ctx.at, ctx.cwd, ctx.session_id)
    text = dumps(status) if args == "--json" else render(status, verbose=bool(args))
    return text, exit_code(status)
