"""An index that is damaged or gone is made again from the memories of its instance.

Whoever writes a memory there next writes the whole index along with it.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import INDEX, MOST_INDEX, PREFIX, entry_of, least, slug_of
from scripts.swarm_v2.memory.store import ABSENT, Commit, Seen, Write
from scripts.swarm_v2.memory.transactions import head_of
from scripts.swarm_v2.scope_key import scope_of
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from scripts.swarm_v2.memory.store import Document, DocumentStore

PAGE = 1000


class WholeIndexes:
    """Makes indexes whole in the commits that add to them.

    One that was found whole is not read again as long as it stands where it stood: it may be long.
    """

    def __init__(self, store: DocumentStore) -> None:
        self._store = store
        # boundary: indexes that were found whole, at which number
        self._whole: dict[InstanceKey, int] = {}

    def completed(self, space: str, commit: Commit) -> Commit:
        """Return the commit, and with it what makes each index whole that it adds to.

        It relies on the index standing as it was found: nobody's link is lost over it.
        """
        made: list[Write] = []
        seen: list[Seen] = []
        for key in _added_to(space, commit):
            if self._store.heads([key])[key] == self._whole.get(key):
                continue
            is_whole, seq = _standing(self._store, space, key.scope_key)
            links = {} if is_whole else _links(self._store, space, key.scope_key)
            if links or not (is_whole or seq == ABSENT):
                made.append(Write(INDEX, key.scope_key, "set", {"links": links}))
                seen.append(Seen(space, key.scope_key, INDEX, seq))
        if not made:
            return commit
        return commit._replace(writes=(*made, *commit.writes), reads=(*commit.reads, *seen))

    def wrote(self, space: str, commit: Commit, seq: int) -> None:
        """Take in that a commit that was completed here became ``seq``."""
        for write in commit.writes:
            if write.id == INDEX:
                self._whole.pop(InstanceKey(space, write.scope_key, INDEX), None)
        self._whole.update(dict.fromkeys(_added_to(space, commit), seq))


def _added_to(space: str, commit: Commit) -> list[InstanceKey]:
    """Return the indexes that a commit does nothing to but patch, once it made them whole."""
    ops: dict[str, str] = {}
    for write in commit.writes:
        if write.id == INDEX:
            ops[write.scope_key] = write.op
    return [InstanceKey(space, key, INDEX) for key, op in ops.items() if op == "patch"]


def _standing(store: DocumentStore, space: str, scope_key: str) -> tuple[bool, int]:
    """Say whether an index can be added to, and at which number it stands."""
    try:
        found = store.read(space, scope_key, INDEX)
    except MemoryRefused as refused:
        if refused.code != "store-damaged":
            raise
        return False, head_of(store, InstanceKey(space, scope_key, INDEX))
    value = found.value if found is not None and not found.deleted else None
    links = value.get("links") if isinstance(value, dict) else None
    return isinstance(links, dict), found.seq if found else ABSENT


def _links(store: DocumentStore, space: str, scope_key: str) -> dict[str, object]:
    """Return what an index says of the memories of its instance, as many as it has room for."""
    links: dict[str, object] = {}
    for document in _memories(store, space, scope_key):
        slug, value = slug_of(document.id), document.value
        if not slug or not isinstance(value, dict) or value.get("superseded_by"):
            continue
        if isinstance(value.get("text"), str):
            links[slug] = entry_of(slug, value, scope_of(scope_key))
    over = len(dumps(links)) - MOST_INDEX
    for slug in least(links, over) if over > 0 else ():
        del links[slug]
    return links


def _memories(store: DocumentStore, space: str, scope_key: str) -> Iterator[Document]:
    after = ""
    while True:
        page = store.select(space, [scope_key], prefix=PREFIX, after=after, limit=PAGE)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].id
