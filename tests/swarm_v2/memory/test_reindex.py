from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.memories import writes_for
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.memory.store_sqlite import SqliteStore
from tests.support.memory_server import PROJ, A

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scripts.swarm_v2.memory.store import Document

AT = "2026-11-30T12:00:00.000000+00:00"


class Watched(SqliteStore):
    """A store that counts how often an index is read."""

    looks = 0

    def read(self, space: str, scope_key: str, id: str, *, branch: str = "") -> Document | None:
        self.looks += id == "index"
        return super().read(space, scope_key, id, branch=branch)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Watched]:
    store = Watched(str(tmp_path / "memory.db"))
    yield store
    store.close()


@pytest.fixture
def put(store: Watched) -> Callable[[str], None]:
    runtime = MemoryRuntime(store, now=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))
    session = runtime.open_session(PROJ, Credential(A, "test"), "1")

    def put(slug: str) -> None:
        value = {"text": slug, "type": "lesson", "cls": "agent"}
        writes = [
            {"id": one.id, "scope": "space", "op": one.op, "value": one.value}
            for one in writes_for(slug, value, "space", "space")
        ]
        runtime.commit(session, {"writes": writes}, AT)

    return put


def links(store: Watched) -> set[str]:
    found = store.read(PROJ, "space", "index")
    assert found is not None
    assert isinstance(found.value, dict)
    return set(found.value["links"])


def test_a_long_index_is_not_read_for_each_memory_that_is_added(store, put):
    put("a")
    before = store.looks
    for slug in ("b", "c", "d"):
        put(slug)
    assert store.looks == before
    assert links(store) == {"a", "b", "c", "d"}


@pytest.mark.parametrize("op", ["set", "delete", "erase"])
def test_what_somebody_else_made_of_it_is_noticed_and_mended(store, put, op):
    put("a")
    put("b")
    value = "garbage" if op == "set" else None
    broken = Write("index", "space", op, value)  # as an older version could
    store.commit(PROJ, Commit("system", (broken,), at=AT))
    put("c")
    assert links(store) == {"a", "b", "c"}
