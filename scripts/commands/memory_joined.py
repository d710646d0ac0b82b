"""Memories of projects that the person's aliases lead here: what is told here is seen from here."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from scripts.commands.memory_door import open_memory, whereabouts
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import slug_of
from scripts.swarm_v2.scope_key import SESSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from scripts.commands import Door
    from scripts.commands.memory_door import Whereabouts
    from scripts.swarm_v2.memory.library import Memory


def where_it_stands(
    door: Door, document_id: str, scope: str, *, register: bool = True
) -> Whereabouts:
    """Return where a document is: in a joined project only what is told here, a memory.

    Where it is nowhere, the folder's own project.

    Raises:
        MemoryRefused: there is no session to be had, or not at that scope.
    """
    here = whereabouts(door, register=register)
    others = _joined(here) if slug_of(document_id) is not None and scope != SESSION else ()
    for space in (here.space, *others) if others else ():
        with opened_at(here._replace(space=space)) as memory:
            if _stands(memory, document_id, scope):
                return here._replace(space=space)
    return here


@contextmanager
def opened_at(here: Whereabouts) -> Iterator[Memory]:
    """Open a session there.

    Raises:
        MemoryRefused: there is none to be had.
    """
    memory = open_memory(here)
    try:
        yield memory
    finally:
        memory.close()


def of_joined(
    door: Door, listed: Callable[[Memory], Iterable[Mapping[str, object]]]
) -> Iterator[Mapping[str, object]]:
    """Yield the memories of joined projects, each with its ``project``."""
    here = whereabouts(door, register=False)
    for space in _joined(here):
        with opened_at(here._replace(space=space)) as memory:
            for document in listed(memory):
                if slug_of(str(document["id"])) is not None and document["scope"] != SESSION:
                    yield {**document, "project": space}


def _joined(here: Whereabouts) -> tuple[str, ...]:
    from hooks.context import own_context

    settings = here.settings
    return () if settings.memory_url else own_context.joined(settings.home, here.space)


def _stands(memory: Memory, document_id: str, scope: str) -> bool:
    try:
        found = memory.read(document_id, scope, follow=False)
    except MemoryRefused as err:
        if err.code != "store-damaged":
            raise
        return True
    return found is not None and not found.get("deleted")
