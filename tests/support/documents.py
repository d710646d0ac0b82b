"""Documents put into a real store in one line, and random graphs of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from scripts.swarm_v2.memory.document import make_link
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from scripts.swarm_v2.scope_key import DirtyKey, Identity, resolve_scope_key

A1 = Identity("did:key:zA", "a1")
A2 = Identity("did:key:zA", "a2")
B1 = Identity("did:key:zB", "b1")
B2 = Identity("did:key:zB", "b2")
NOBODY = Identity()


def of(scope: Any, who: Identity = NOBODY) -> str:
    return resolve_scope_key(scope, who)


def link(document_id: str, scope: Any = None, *path: str) -> Any:
    return make_link(document_id, scope, path)


class Documents:
    """A store of one test; each ``Space`` of it is empty at first."""

    def __init__(self, folder: Path) -> None:
        self.store = SqliteStore(str(folder / "memory.db"), wal=True)
        self._numbers = count(1)

    def space(self) -> Space:
        return Space(self.store, f"project-{next(self._numbers)}")


class Space:
    def __init__(self, store: SqliteStore, name: str) -> None:
        self.store, self.name = store, name

    def put(self, document_id: str, value: object, scope: Any = "space", who: Any = NOBODY) -> Any:
        """Set a document; return what a feed would say of it."""
        return self._write(document_id, scope, who, "set", value)

    def patch(self, document_id: str, value: object, scope: Any = "space", who: Any = A1) -> Any:
        return self._write(document_id, scope, who, "patch", value)

    def delete(self, document_id: str, scope: Any = "space", who: Any = NOBODY) -> Any:
        return self._write(document_id, scope, who, "delete", None)

    def erase(self, document_id: str, scope: Any = "space", who: Any = NOBODY) -> Any:
        return self._write(document_id, scope, who, "erase", None)

    def put_all(self, rows: dict[DirtyKey, object]) -> None:
        writes = tuple(Write(key.id, key.scope_key, "set", value) for key, value in rows.items())
        self.store.commit(self.name, Commit("system", writes))

    def _write(self, document_id: str, scope: Any, who: Identity, op: Any, value: object) -> Any:
        key = of(scope, who)
        write = Write(document_id, key, op, value)
        self.store.commit(self.name, Commit("system", (write,)))
        return {DirtyKey(key, document_id)}


def documents(folder: Path) -> Iterator[Documents]:
    """Body of a fixture."""
    made = Documents(folder)
    yield made
    made.store.close()
