"""What an operation of the embedded brain changes: commits of documents, one for each space."""

from __future__ import annotations

from hooks.context.brains.local_row import NAME, kept_in, value_of
from hooks.errors import BrainRefused, BrainUnreachable
from scripts.swarm_v2.memory import sqlite_rows
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import (
    DERIVED,
    INDEX,
    MOST_INDEX,
    SHELF,
    erased,
    least,
    unlinked,
    writes_for,
)
from scripts.swarm_v2.memory.sqlite_commit import apply
from scripts.swarm_v2.memory.sqlite_rows import Place
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import scope_of
from scripts.swarm_v2.wire_json import load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import NamedTuple

    from hooks.context.database import Database

else:
    from hooks.record import NamedTuple


class Stored(NamedTuple):
    """One memory as it is kept: where, whose, and its columns (``space`` is the home)."""

    space: str
    row: dict[str, object]

    @property
    def key(self) -> str:
        return str(self.row["id"])

    @property
    def scope_key(self) -> str:
        return str(self.row["scope_key"])


def stored(db: Database, key: str) -> list[Stored]:
    """Return the memories under ``key``: one, but for what was written past the brain."""
    sql = "SELECT kept_in, space, scope_key, accepted, value FROM memory WHERE id = ?"
    found = []
    for kept, home, scope_key, accepted, text in db.rows(sql, (key,)):
        value = load_object(str(text)) or {}
        value.pop("home", None)
        where = {"id": key, "space": home, "scope_key": scope_key, "accepted": accepted}
        found.append(Stored(str(kept), {"type": "", "cls": "agent", **value, **where}))
    return found


class Changes:
    """Collected first, written by ``apply`` into the transaction that is open.

    ``session_key`` is the author's session, ``at`` when it was said.
    """

    def __init__(self, db: Database, session_key: str = "", at: str = "") -> None:
        self._db, self._who, self._at = db, session_key, at
        self._writes: list[tuple[str, Write]] = []

    def put(self, row: Mapping[str, object], *, is_new: bool = False) -> None:
        """Write a memory where it belongs; link it while it is live."""
        space, scope_key = kept_in(row), str(row["scope_key"])
        key, value = str(row["id"]), value_of(row)
        document, link = writes_for(
            key, value, scope_key, scope_of(scope_key), is_new=is_new or bool(row["superseded_by"])
        )
        if row["superseded_by"]:
            link = unlinked(key, scope_key)
        self._add(space, document)
        if space != SHELF:
            self._add(space, link)

    def change(self, old: Stored, **columns: object) -> None:
        """Write a memory with other columns; where it belongs elsewhere then, it goes there.

        Nothing of it is left in the old place: it could not be forgotten there.
        """
        row = {"superseded_by": "", **old.row, **columns}
        space = kept_in(row)
        if space != old.space:
            self.erase(old)
            where = (space, old.key, old.space, old.scope_key)
            self._db.run(
                "UPDATE place SET space = ? WHERE id = ? AND space = ? AND scope_key = ?", where
            )
        self.put(row)

    def erase(self, old: Stored) -> None:
        """Leave no word of a memory where it is kept."""
        document, link = erased(old.key, old.scope_key)
        self._add(old.space, document)
        if old.space != SHELF:
            self._add(old.space, link)

    def erase_derived(self) -> None:
        """Leave no word of what was made from memories, in any space: it is made again."""
        marks = ", ".join("?" * len(DERIVED))
        sql = f"SELECT space, id, scope_key FROM head WHERE branch = '' AND id IN ({marks})"
        for space, document_id, scope_key in self._db.rows(sql, DERIVED):
            self._add(str(space), Write(str(document_id), str(scope_key), "erase"))

    def apply(self) -> None:
        """Commit what was collected.

        Raises:
            BrainRefused: it can never be stored as it is.
            BrainUnreachable: the file is not what was written to it.
        """
        by_space: dict[str, list[Write]] = {}
        for space, write in self._writes:
            by_space.setdefault(space, []).append(write)
        try:
            for space, writes in by_space.items():
                folded = _folded([*self._room(space, writes), *writes])
                one = Commit("authored", folded, session_key=self._who, at=self._at)
                apply(self._db, space, one)
        except MemoryRefused as err:
            if err.code.startswith("store-"):
                raise BrainUnreachable(NAME, str(err)) from None
            raise BrainRefused(NAME, str(err)) from None

    def _room(self, space: str, writes: Iterable[Write]) -> list[Write]:
        """Unlink the least of an index that would become too large: no memory is refused for it."""
        made = []
        for key in {write.scope_key for write in writes if write.id == INDEX}:
            head = sqlite_rows.head(self._db, Place(space, "", INDEX, key))
            if (
                head is None
                or head.base_bytes + head.patch_bytes < MOST_INDEX
                or head.op == "erase"
            ):
                continue
            index = sqlite_rows.value(self._db, Place(space, "", INDEX, key), head)
            links = index.get("links") if isinstance(index, dict) else None
            if isinstance(links, dict):
                made += [unlinked(slug, key) for slug in least(links, MOST_INDEX // 4)]
        return made

    def _add(self, space: str, write: Write) -> None:
        self._writes.append((space, write))


def _folded(writes: Iterable[Write]) -> tuple[Write, ...]:
    """Make one patch of those of one index: each is a revision of its own."""
    folded: list[Write] = []
    patches: dict[str, dict[str, object]] = {}  # by whose index
    for write in writes:
        if write.id != INDEX or write.op != "patch":
            folded.append(write)
            continue
        assert isinstance(write.value, dict)
        links = patches.get(write.scope_key)
        if links is None:
            patches[write.scope_key] = links = {}
            folded.append(write._replace(value={"links": links}))
        links.update(write.value["links"])
    return tuple(folded)
