"""``brainhooks memory``: the person's switch (``on``, ``off``), and scoped memory's documents."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from hooks.verbs import VERBS, run_named
from hooks.verbs.memory import parse
from scripts.commands import COMMANDS, door, memory_change, memory_look, memory_serve, memory_watch
from scripts.commands.verb import verb_ctx


def attach(app: typer.Typer, name: str) -> None:
    group = typer.Typer(
        rich_markup_mode=None, help=COMMANDS[name].line, epilog=EXIT_CODES, cls=_Group
    )
    group.callback(invoke_without_command=True)(_state)
    for word in ("on", "off"):
        group.command(
            word,
            help=f"Switch memory {word}.",
            options_metavar=VERBS[name].usage.removeprefix("on|off "),
            context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        )(_switch)
    group.command("list")(memory_look.list_documents)
    group.command("show")(memory_look.show)
    group.command("put")(memory_change.put)
    group.command("edit")(memory_change.edit)
    group.command("forget")(memory_change.forget)
    group.command("watch")(memory_watch.watch)
    group.command("serve")(memory_serve.serve)
    app.add_typer(group, name=name)


EXIT_CODES = (
    "Ends with 0, or 1: refused, 2: usage, 3: it changed meanwhile (conflict), 4: nothing is there."
)


class _Group(TyperGroup):
    """Words that are no command are the verb's to refuse, as in the agent."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name)
        if found is None and not cmd_name.startswith("-"):
            parse(cmd_name)
        return found


def _state(ctx: typer.Context) -> None:
    """Without a command: say whether memory is on here."""
    if ctx.invoked_subcommand is None:
        typer.echo(run_named("memory", "", verb_ctx(door(ctx))))


def _switch(ctx: typer.Context) -> None:
    words = [ctx.info_name or "", *ctx.args]  # everything behind the verb is its own
    typer.echo(run_named("memory", " ".join(words), verb_ctx(door(ctx))))
