"""The app behind the console commands: every command but the fast ones of ``scripts.cli``."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from hooks.context.database import be_patient
from hooks.errors import HookError
from hooks.verbs import VerbUsageError
from scripts.commands import COMMANDS, Door

EXIT_USAGE = 2
ROOT = Path(__file__).resolve().parent.parent


def run(args: list[str]) -> None:
    """Run one command line; a user's error is a sentence on stderr, never a traceback."""
    be_patient()
    try:
        build(args)(args, obj=_door(), prog_name="brainhooks")
    except VerbUsageError as err:
        _complain(str(err), err.hint.replace("/brainhooks:", "brainhooks "))
        sys.exit(EXIT_USAGE)
    except HookError as err:
        _complain(str(err), err.hint)
    except OSError as err:
        _complain(str(err), "run brainhooks doctor")
    sys.exit(1)


def _version(wanted: bool) -> None:
    """Print the version of this code: the clone's own, else that of the installed package."""
    if not wanted:
        return
    try:
        text = (ROOT / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8")
        found = str(json.loads(text)["version"])
    except FileNotFoundError:
        from importlib.metadata import version

        found = version("brainhooks")
    typer.echo(f"brainhooks {found}")
    raise typer.Exit


def build(args: list[str]) -> typer.Typer:
    """Make the app for ``args``: only the command they name is imported, the rest is help."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        help="A memory that outlives the session, for coding agents.",
    )
    wanted = next((word for word in args if not word.startswith("-")), "")
    for name, row in COMMANDS.items():
        if name == wanted:
            import_module(f"scripts.commands.{row.module}").attach(app, name)
        else:
            app.command(name, help=row.line)(_elsewhere)
    app.callback()(_root)
    return app


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """Keep every command a subcommand, also where only one is registered."""


def _elsewhere() -> None:
    raise RuntimeError("only the help text of this command was loaded")


def _door() -> Door:
    try:
        cwd = os.getcwd()
    except FileNotFoundError:  # the folder was removed under the shell
        cwd = "/"
    return Door(
        env=dict(os.environ),  # noqa: TID251 - this is the door of the console commands
        at=datetime.now(UTC),  # noqa: TID251 - likewise: one command, one instant
        cwd=cwd,
        root=str(ROOT),
    )


def _complain(message: str, hint: str) -> None:
    typer.echo(message, err=True)
    if hint:
        typer.echo(f"  hint: {hint}", err=True)
