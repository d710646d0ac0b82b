"""The table of commands. A command is a row here and a module with ``attach(app, name)``.

``attach`` registers the command on a Typer app; only the module of the command that was asked
for is imported. A command finds the environment, the clock and the folder in ``door(ctx)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hooks.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    import typer

    from hooks.settings import Settings


class Command(NamedTuple):
    module: str  # below scripts.commands
    line: str  # one line of help


COMMANDS = {
    **{name: Command("verb", verb.line) for name, verb in VERBS.items()},
    "memory": Command(
        "memory", "Switch memory on or off; list, show, put, edit, forget, watch, serve documents"
    ),
    "brain_status": Command("brain_status", VERBS["brain_status"].line),
    "archive": Command("archive", VERBS["archive"].line),
    "review": Command("review", VERBS["review"].line),
    "install": Command("install", "Put the hooks into the agent's settings"),
    "uninstall": Command("uninstall", "Take the hooks out of the agent's settings again"),
    "doctor": Command("doctor", "What is wrong here, and what to do about it"),
    "receipts": Command("receipts", "What became of every marker"),
    "flush": Command("flush", "Deliver what waits for the brain, now"),
    "outbox": Command("outbox", "List, show, retry or drop what waits for the brain"),
    "migrate": Command("migrate", "What an upgrade does to the home; take over an older one"),
    "whoami": Command("whoami", "Which project this folder is, and why"),
    "project": Command("project", "Register a folder, name an alias, list both"),
    "selftest": Command("selftest", "Kill hooks in a scratch home; count lost, doubled, leaked"),
    "statusline": Command("statusline", "One line about the session, for the agent's status line"),
    "markers": Command("markers", "Explain what a transcript's markers are taken for"),
}


class Door(NamedTuple):
    """What enters once, in ``scripts.app``."""

    env: Mapping[str, str]
    at: datetime
    cwd: str
    root: str  # folder that holds the packages ``hooks`` and ``scripts``

    def settings(self) -> Settings:
        """Read the settings.

        Raises:
            SettingsError: a value outside what its row allows, or a damaged settings file.
        """
        from hooks.settings import load

        return load(self.env)


def door(ctx: typer.Context) -> Door:
    found = ctx.find_object(Door)
    if found is None:
        raise RuntimeError("a command runs below scripts.app, which makes the Door")
    return found
