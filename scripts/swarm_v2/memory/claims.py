"""Whose words a text is told as: nobody gives theirs to the home's own person."""

from __future__ import annotations

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import INDEX, slug_of
from scripts.swarm_v2.memory.store import Seen
from scripts.swarm_v2.scope_key import SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

    from scripts.swarm_v2.memory.store import DocumentStore, Write

SAID_BY, BY_PERSON, BY_AGENT = "cls", "person", "agent"
_VALUED = ("set", "patch")


def refuse_claims(store: DocumentStore, space: str, writes: Iterable[Write]) -> tuple[Seen, ...]:
    """Refuse what would make a project's memory the person's words; for who is not that person.

    Returns what was read for it: a memory that is patched is not the person's, and has to stay so.

    Raises:
        MemoryRefused: ``person-unproven``.
    """
    seen = []
    for write in writes:
        if write.scope_key != SPACE or write.op not in _VALUED:
            continue
        if write.id == INDEX:
            _check_links(write.value)
        elif slug_of(write.id) and isinstance(write.value, dict):
            if write.op == "patch" and SAID_BY not in write.value:
                seen.append(_of_nobody(store, space, write))
            elif write.value.get(SAID_BY) == BY_PERSON:
                _refuse(write.id)
    return tuple(seen)


def _of_nobody(store: DocumentStore, space: str, write: Write) -> Seen:
    head = store.read(space, write.scope_key, write.id)
    value = head.value if head is not None and not head.deleted else None
    if isinstance(value, dict) and value.get(SAID_BY) == BY_PERSON:
        _refuse(write.id)
    return Seen(space, write.scope_key, write.id, head.seq if head else 0)


def _check_links(value: object) -> None:
    links = value.get("links") if isinstance(value, dict) else None
    for slug, said in links.items() if isinstance(links, dict) else ():
        if isinstance(said, dict) and said.get(SAID_BY) == BY_PERSON:
            _refuse(f"the link of {slug}")


def _refuse(what: str) -> NoReturn:
    sentence = f"{what[:80]} would be told as the person's own words, and it is not they who write"
    hint = f'write it whole with "{SAID_BY}": "{BY_AGENT}"; or at your own scope, user'
    raise MemoryRefused("person-unproven", sentence, hint)
