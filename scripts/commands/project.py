"""``brainhooks project …``: give a folder an id, give an id another name, undo both."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated

import typer

from hooks.context import registry
from hooks.context.binding import slug_of
from hooks.context.project import register_folder
from hooks.context.remote import LOCAL
from scripts.commands import COMMANDS, door

if TYPE_CHECKING:
    from collections.abc import Iterator


def attach(app: typer.Typer, name: str) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=COMMANDS[name].line)
    group.command("register")(_register)
    group.command("unregister")(_unregister)
    group.command("alias")(_alias)
    group.command("list")(_list)
    app.add_typer(group, name=name)


def _register(
    ctx: typer.Context,
    project_id: Annotated[
        str,
        typer.Argument(
            metavar="[ID]", help="local:<name>; made from the folder's name if left out."
        ),
    ] = "",
    folder: Annotated[str, typer.Option(help="Another folder than this one.")] = "",
) -> None:
    """Make this folder a project of its own; an observed remote still wins over it."""
    found = door(ctx)
    where = os.path.abspath(os.path.join(found.cwd, folder))
    wanted = project_id or f"{slug_of(os.path.basename(where))}-{os.urandom(4).hex()}"
    if not wanted.startswith(LOCAL):
        wanted = LOCAL + wanted
    bound = register_folder(found.settings().home, where, wanted, env=found.env, at=found.at)
    typer.echo(f"{bound} is {wanted} now")


def _unregister(
    ctx: typer.Context,
    project_id: Annotated[str, typer.Argument(metavar="ID", help="local:<name>, as listed.")],
) -> None:
    """Undo a registration; what is remembered under the id comes back if it is registered again."""
    wanted = project_id if project_id.startswith(LOCAL) else LOCAL + project_id
    folder = registry.unregister(door(ctx).settings().home, wanted)
    typer.echo(f"{folder or wanted} is no project of its own now; memories of {wanted} stay")


def _alias(
    ctx: typer.Context,
    old: Annotated[str, typer.Argument(help="The id (or remote URL) to be read as another.")],
    new: Annotated[str, typer.Argument(help="The id (or remote URL) it stands for.")] = "",
    remove: Annotated[bool, typer.Option("--remove", help="Read OLD as itself again.")] = False,
) -> None:
    """Read one project as another: a renamed repository, a fork and its upstream."""
    if remove == bool(new):
        raise typer.BadParameter("name OLD and NEW, or OLD and --remove")
    home = door(ctx).settings().home
    if remove:
        typer.echo(f"{old} is itself again, and no longer {registry.remove_alias(home, old)}")
        return
    end = registry.add_alias(home, old, new)
    typer.echo(f"{old} is read as {end} now")


def _list(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Show what is registered and aliased."""
    found = registry.load(door(ctx).settings().home)
    if as_json:
        document = {"local": found.local, "aliases": found.aliases, "observed": found.observed}
        typer.echo(json.dumps(document, indent=2))
        return
    lines = [line for title, rows in _parts(found) if rows for line in (title, *rows)]
    typer.echo("\n".join(lines) or "No project is registered, aliased or was seen yet.")


def _parts(found: registry.Registry) -> Iterator[tuple[str, list[str]]]:
    yield (
        "registered:",
        [
            f"  {project_id}  {entry['folder'] or entry['common_dir'] or '(moved away)'}"
            for project_id, entry in sorted(found.local.items())
        ],
    )
    yield "aliases:", [f"  {old} -> {new}" for old, new in sorted(found.aliases.items())]
    seen = sorted(found.observed.items())
    yield "seen by their remote:", [f"  {project_id}  {where}" for where, project_id in seen]
