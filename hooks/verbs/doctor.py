"""``doctor [--json]``: what is wrong around this installation, and the next step.

It starts interpreters to look at them, as only a person who asks can wait for.
"""

from __future__ import annotations

from hooks.verbs import VerbCtx, VerbUsageError
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


def run(args: str, ctx: VerbCtx) -> str:
    return report(args, ctx.env, ctx.at, ctx.cwd, ctx.root)[0]


def report(args: str, env: Mapping[str, str], at: datetime, cwd: str, root: str) -> tuple[str, int]:
    """Return the text and the exit code: 0 when nothing needs a person, else 1.

    Raises:
        VerbUsageError: another word than ``--json``.
    """
    from scripts.doctor import Look, needs_a_person
    from scripts.doctor.checks import examine

    if args not in ("", "--json"):
        raise VerbUsageError("doctor", f"{args!r} is not understood here")
    found = examine(Look(env, at, cwd, root))
    code = int(needs_a_person(found))
    if args:
        return dumps([{"check": name, **finding._asdict()} for name, finding in found]), code
    lines = []
    for name, finding in found:
        lines.append(f"{finding.level:<5} {name}: {finding.what}")
        if finding.next:
            lines.append(f"      next: {finding.next}")
    return "\n".join(lines), code
