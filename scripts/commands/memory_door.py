"""How the ``memory`` commands come to a session, and how they say what was refused."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from hooks.errors import SettingsError
from hooks.verbs.wording import label, one_line
from scripts.commands.memory_next import next_step
from scripts.swarm_v2.memory.errors import MemoryRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hooks.settings import Settings
    from scripts.commands import Door
    from scripts.swarm_v2.memory.derivations import Roots
    from scripts.swarm_v2.memory.library import Memory
    from scripts.swarm_v2.memory.sessions import Credential
    from scripts.swarm_v2.memory.store import DocumentStore
    from scripts.swarm_v2.scope_key import Identity

EXIT_REFUSED, EXIT_CONFLICT, EXIT_NOTHING = 1, 3, 4
CONFLICTS = ("stale-base", "stale-read")
# The scope of these where none is named; of every other document it is the project's.
USUAL = {"preferences": "user", "status": "user", "notes": "session"}
FORMS = "redis://[user:password@]host[:port][/db], memory:unix:/path or memory:tcp:PORT"
SERVER = "memory:"  # an address of a memory server in BRAINHOOKS_MEMORY_URL

Scope = Annotated[
    str,
    typer.Option(
        "--scope", metavar="space|user|session", help="The project's, yours, or this session's."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable, refusals too.")]


def usual_scope(document_id: str, scope: str) -> str:
    return scope or USUAL.get(document_id, "space")


class Whereabouts(NamedTuple):
    """Which store, which space and which session a command is about."""

    settings: Settings
    space: str
    session_id: str
    server: str  # the address of a server that is named by the settings; "" for none

    @property
    def redis(self) -> str:
        return "" if self.server else self.settings.memory_url


def whereabouts(door: Door, *, register: bool = True) -> Whereabouts:
    """Return what this folder and this shell are; ``register`` as ``project.resolve`` has it.

    Raises:
        MemoryRefused: ``space-invalid`` where the folder is no project.
    """
    from hooks.context.project import launch_folder, resolve
    from scripts.swarm_v2.memory.document import check_space

    settings = door.settings()
    folder = launch_folder(door.cwd, door.env)
    project = resolve(folder, settings, door.env, door.at, register=register)
    url = settings.memory_url
    if url and not url.startswith(SERVER) and "://" not in url:
        raise SettingsError("BRAINHOOKS_MEMORY_URL", "(hidden)", wants=FORMS)
    server = url.removeprefix(SERVER) if url.startswith(SERVER) else ""
    space = check_space(project.id)
    if url:
        space = _shared(space, settings)
    return Whereabouts(settings, space, door.env.get("CLAUDE_CODE_SESSION_ID", ""), server)


def _shared(space: str, settings: Settings) -> str:
    """Return the space in a store that several installations may use: local ids are one's own."""
    from hooks.context.remote import is_local
    from scripts.swarm_v2.installation import installation

    if not is_local(space):
        return space
    return f"{installation(settings.home).installation_id}/{space}"


@contextmanager
def opened(door: Door) -> Iterator[Memory]:
    """Open the session of this shell: at the server where one runs, else in this process.

    Raises:
        MemoryRefused: there is no session to be had.
    """
    memory = open_memory(whereabouts(door))
    try:
        yield memory
    finally:
        memory.close()


@contextmanager
def looked_into(door: Door) -> Iterator[Memory | None]:
    """As ``opened``, but None where nothing was ever stored: looking makes no home.

    Raises:
        MemoryRefused: there is no session to be had.
    """
    from hooks.context.brain_adapter import LOCAL_DATABASE

    here = whereabouts(door, register=False)
    own_file = os.path.join(here.settings.home, LOCAL_DATABASE)
    if not here.settings.memory_url and not os.path.exists(own_file):
        yield None
        return
    memory = open_memory(here)
    try:
        yield memory
    finally:
        memory.close()


def open_memory(here: Whereabouts) -> Memory:
    """See ``opened``."""
    from scripts.swarm_v2.memory.client import connect
    from scripts.swarm_v2.memory.credentials import own_token
    from scripts.swarm_v2.memory.place import find, place_of

    settings = here.settings
    if here.server:
        _credential(settings, None)  # whose public line the server's owner may be given
        return connect(here.server, own_token(settings.home), here.space, here.session_id)
    address = find(place_of(settings.home, settings.memory_url))
    if address:
        try:
            memory = connect(address, own_token(settings.home), here.space, here.session_id)
        except MemoryRefused as err:
            if err.code not in ("server-gone", "server-full"):
                raise
        else:
            if memory.principal == _credential(settings, None).principal or here.redis:
                return memory
            memory.close()  # it was started for another principal of this home
    return _directly(here)


def _directly(here: Whereabouts) -> Memory:
    from scripts.swarm_v2.memory.library import LocalMemory
    from scripts.swarm_v2.memory.runtime import MemoryRuntime

    store = store_of(here.settings)
    try:
        credential = _credential(here.settings, store)
        runtime = MemoryRuntime(store, now=now, service="command", roots=roots_of(here.settings))
        return LocalMemory(
            runtime, here.space, credential, here.session_id or None, now=now, owns_store=True
        )
    except MemoryRefused:
        store.close()
        raise


def store_of(settings: Settings, *, wal: bool = False) -> DocumentStore:
    """Open the store that the settings name: a Redis, else the home's own file."""
    from scripts.swarm_v2.memory.library import open_store

    where = settings.memory_url or settings.home
    return open_store(where, wal=wal, prefix=settings.redis.prefix)


def roots_of(settings: Settings) -> Callable[[str, Identity], Roots]:
    """Return what says which spaces a context is made from: in the home's file as for a hook."""
    from hooks.context import own_context
    from scripts.swarm_v2.memory.derivations import Roots

    def roots(space: str, identity: Identity) -> Roots:
        del identity  # the aliases are the installation's
        return Roots(space) if settings.memory_url else own_context.roots_of(settings.home, space)

    return roots


def credential_of(settings: Settings, store: DocumentStore) -> Credential:
    """Return who this installation is: at a Redis its login, else whoever may read its token."""
    return _credential(settings, store)


def _credential(settings: Settings, store: DocumentStore | None) -> Credential:
    from scripts.swarm_v2.memory.credentials import of_installation, of_redis

    if store is not None and settings.memory_url:
        return of_redis(store.user() or "")  # type: ignore[attr-defined]  # both stores have it
    return of_installation(settings.home, settings.principal)


def now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - a session outlives the instant of its command


@contextmanager
def refusals(as_json: bool) -> Iterator[None]:
    """Say a refusal as code, sentence and next step, and end with its exit code."""
    try:
        yield
    except MemoryRefused as err:
        complain(err, as_json)
        raise typer.Exit(exit_code(err)) from None


def exit_code(err: MemoryRefused) -> int:
    return EXIT_CONFLICT if err.code in CONFLICTS else EXIT_REFUSED


def complain(err: MemoryRefused, as_json: bool, **more: object) -> None:
    hint = next_step(err)
    if as_json:
        body = {"code": err.code, "sentence": str(err), "hint": hint, "facts": err.facts}
        typer.echo(json.dumps({"error": body, **more}))
        return
    typer.echo(one_line(f"{err.code}: {err}"), err=True)
    typer.echo(f"  hint: {one_line(hint)}", err=True)


def nothing_there(document_id: str, scope: str, as_json: bool) -> typer.Exit:
    """Say that there is no such document; return what to raise."""
    if as_json:
        typer.echo("null")
    else:
        typer.echo(f"there is no {label(document_id)} at scope {scope}", err=True)
        typer.echo("  hint: brainhooks memory list says what there is", err=True)
    return typer.Exit(EXIT_NOTHING)


def flush_quietly() -> None:
    """Give standard output to nobody once its reader went, so that nothing complains at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.close(devnull)
