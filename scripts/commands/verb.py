"""The person's verbs on the command line: one adapter for all of them."""

from __future__ import annotations

import typer

from hooks.verbs import VERBS, VerbCtx, run_named
from scripts.commands import Door, door


def attach(app: typer.Typer, name: str) -> None:
    verb = VERBS[name]

    def command(ctx: typer.Context) -> None:
        typer.echo(run_named(name, " ".join(ctx.args), verb_ctx(door(ctx))))

    # Everything behind the verb is its own: unknown options too, as in `memory off --for 2h`.
    literal = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(name, help=verb.line, options_metavar=verb.usage, context_settings=literal)(command)


def verb_ctx(door: Door) -> VerbCtx:
    """Return the verbs' view of the door; inside an agent's shell it knows the session."""
    return VerbCtx(
        settings=door.settings(),
        env=door.env,
        at=door.at,
        session_id=door.env.get("CLAUDE_CODE_SESSION_ID", ""),
        cwd=door.cwd,
        root=door.root,
    )
