"""``whoami [--json]``: which project this folder is, and why."""

from __future__ import annotations

from hooks.context import registry
from hooks.verbs import VerbCtx, VerbUsageError
from hooks.verbs.library import here
from scripts.swarm_v2.wire_json import dumps


def run(args: str, ctx: VerbCtx) -> str:
    """Return it for a person; ``--json`` gives every field.

    Raises:
        VerbUsageError: another word than ``--json``.
        StateError: the project registry cannot be used.
    """
    if args not in ("", "--json"):
        raise VerbUsageError("whoami", f"{args!r} is not understood here")
    project = here(ctx)
    known = registry.load(ctx.settings.home).aliases
    names = {old: new for old, new in known.items() if project.id in (old, new)}
    if args:
        return dumps({**project._asdict(), "aliases": names})
    lines = [f"project   {project.id}", f"because   {project.evidence}"]
    facts = (("worktree", project.worktree), ("branch", project.branch))
    lines += [f"{label:<9} {value}" for label, value in facts if value]
    lines.append(f"aliases   {', '.join(f'{o} -> {n}' for o, n in names.items()) or 'none'}")
    return "\n".join(lines)
