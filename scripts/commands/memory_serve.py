"""``brainhooks memory serve``: several sessions and people at once, in the foreground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hooks.clock import iso
from hooks.log import log
from scripts.commands import door
from scripts.commands.memory_door import (
    SERVER,
    Json,
    credential_of,
    now,
    refusals,
    roots_of,
    store_of,
)
from scripts.swarm_v2.memory.errors import MemoryRefused

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.store import DocumentStore

IDLE_S = 600.0  # as server.IDLE_S, which is not loaded for the help


def serve(
    ctx: typer.Context,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            min=0,
            max=65_535,
            help="Serve a port of 127.0.0.1 (0: a free one) instead of a socket file.",
        ),
    ] = None,
    idle: Annotated[
        float,
        typer.Option(
            "--idle", min=0.0, metavar="SECONDS", help="End when nobody is connected for so long."
        ),
    ] = IDLE_S,
    as_json: Json = False,
) -> None:
    """Serve this installation's scoped memory until nobody is connected, or a signal."""
    from scripts.swarm_v2.memory.people import People
    from scripts.swarm_v2.memory.place import place_of
    from scripts.swarm_v2.memory.server import MemoryServer
    from scripts.swarm_v2.memory.serving import Engine

    settings = door(ctx).settings()

    def warn(fault: str) -> None:
        log(settings.home, iso(now()), "memory serve", "", fault)
        typer.echo(fault, err=True)

    def engine() -> Engine:
        store = store_of(settings, wal=True)
        people = People(settings.home, credential_of(settings, store), warn=warn)
        people.listed()  # what its owner should mend is said at once
        return Engine(store, people, now=now, roots=roots_of(settings))

    def second() -> DocumentStore:
        return store_of(settings)

    with refusals(as_json):
        if settings.memory_url.startswith(SERVER):
            hint = "unset BRAINHOOKS_MEMORY_URL, or name a Redis"
            sentence = "the settings name another server, and not a store to serve"
            raise MemoryRefused("server-running", sentence, hint)
        place = place_of(settings.home, settings.memory_url)
        MemoryServer(place, engine, second, port=port, idle_s=idle, say=_say).run()


def _say(line: str) -> None:
    typer.echo(line)
