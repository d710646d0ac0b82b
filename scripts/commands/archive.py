"""``brainhooks archive --all|list|show|export|verify``: transcripts, kept past the agent's own."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hooks import atomic
from hooks.context import archiving
from hooks.errors import StateError
from hooks.verbs import archive as verb
from hooks.verbs.wording import count, one_line, size
from scripts.commands import COMMANDS, door
from scripts.commands.verb import verb_ctx

if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.verbs import VerbCtx
    from scripts.swarm_v2.store.archive.manifest import Manifest, Transcript

Session = Annotated[str, typer.Argument(help="The session's id; eight characters are enough.")]


def attach(app: typer.Typer, name: str) -> None:
    group = typer.Typer(rich_markup_mode=None, help=COMMANDS[name].line)
    for command in (_list, _show, _export, _verify):
        group.command(command.__name__[1:])(command)
    group.callback(invoke_without_command=True)(_archive)
    app.add_typer(group, name=name)


def _archive(
    ctx: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Save every transcript that the agent still has.")
    ] = False,
) -> None:
    if ctx.invoked_subcommand is not None:
        return
    found = door(ctx)
    if not everything:
        typer.echo(verb.listed(verb_ctx(found)))
        return
    done = archiving.save_all(found.settings(), found.env, found.at, _progress())
    for fault in done.faults:
        typer.echo(fault, err=True)
    there = count(done.sessions, "session")
    saved = f"{size(done.gained)} of transcripts saved now; `brainhooks archive list` shows them"
    news = saved if done.gained or done.faults else "nothing new to save"
    again = f"; {count(done.mended, 'missing file')} saved again" if done.mended else ""
    typer.echo(f"{there} looked at, {news}{again}.")
    damaged = archiving.still_damaged(found.settings().home)
    if damaged:
        what = f"{count(len(damaged), 'file')} of the archive still damaged or missing"
        typer.echo(f"{what}; `brainhooks archive verify` names them", err=True)
    raise typer.Exit(1 if done.faults or damaged else 0)


def _progress() -> Callable[[int, int], None]:
    """Return what shows the progress on one line of a terminal; in a pipe there is none."""
    if not sys.stderr.isatty():
        return lambda _done, _all: None

    def show(done: int, whole: int) -> None:
        part = done * 100 // whole if whole else 100
        end = "\n" if done >= whole else ""
        sys.stderr.write(f"\r\x1b[K{part:3} %  {size(done)} of {size(whole)}{end}")
        sys.stderr.flush()

    return show


def _list(
    ctx: typer.Context,
    here: Annotated[bool, typer.Option("--here", help="Only this project's.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """List the saved sessions: when they began, their size and what they take on disk."""
    asked = verb_ctx(door(ctx))
    if as_json:
        typer.echo(json.dumps(verb.rows(asked, here=here), indent=2))
    else:
        typer.echo(verb.listed(asked, here=here))


def _show(ctx: typer.Context, session: Session) -> None:
    """Print a saved session to read: who said what, with secrets taken out."""
    for paragraph in verb.shown(verb_ctx(door(ctx)), session):
        typer.echo(paragraph + "\n")


def _export(
    ctx: typer.Context,
    session: Session,
    to: Annotated[
        str, typer.Option("--to", help="Folder for the session's files; else to stdout.")
    ] = "",
) -> None:
    """Give a saved session back byte for byte, secrets included."""
    found = door(ctx)
    if to:
        _export_to(verb_ctx(found), session, os.path.join(found.cwd, to))
        return
    where, whole = verb.one(verb_ctx(found), session)
    for block in verb.blocks(where, whole, verb.latest(whole)[0]):
        sys.stdout.buffer.write(block)
    sys.stdout.buffer.flush()


def _export_to(ctx: VerbCtx, session: str, folder: str) -> None:
    where, whole = verb.one(ctx, session)
    for one, name in _file_names(whole).items():
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            raise StateError(path, "it is there already", hint="name a folder without it")
        atomic.make_folder(os.path.dirname(path))
        atomic.write(path, b"".join(verb.blocks(where, whole, one)))
        typer.echo(path)


def _file_names(whole: Manifest) -> dict[Transcript, str]:
    """Return where each transcript goes, below the folder of the export.

    Raises:
        StateError: a name would lead elsewhere. No save of ours makes one: it was forged.
    """
    found: dict[Transcript, str] = {}
    for one in whole.transcripts:
        inside = one.name.partition(f"{whole.session}/")[2] if "/subagents/" in one.name else ""
        name = os.path.join(whole.session, inside) if inside else f"{whole.session}.jsonl"
        if whole.current(one.name) != one:
            name += f".{one.part}"  # what the file held before it was replaced
        if (
            name in found.values()
        ):  # the session has a transcript in the folder of another project too
            name = os.path.join(os.path.dirname(one.name).partition("/")[0] or "other", name)
        if "/" in whole.session or not _stays_below(name):
            what = f"{one_line(repr(name))} is no name for a file of an export"
            hint = "the archive was changed by another program; without --to it goes to stdout"
            session = f"session {one_line(repr(whole.session))}"
            raise StateError(session, what, hint=hint)
        found[one] = name
    return found


def _stays_below(name: str) -> bool:
    return "\0" not in name and not any(part in ("", ".", "..") for part in name.split("/"))


def _verify(ctx: typer.Context) -> None:
    """Read and hash all that is saved; nothing is changed. Exit code 1 where it is damaged."""
    text, undamaged = verb.verified(verb_ctx(door(ctx)))
    typer.echo(text)
    raise typer.Exit(0 if undamaged else 1)
