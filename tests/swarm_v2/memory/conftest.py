from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.memory_server import A, MemoryServer, short_folder
from tests.support.memory_stores import KINDS, People, open_store, redis_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scripts.swarm_v2.memory.client import RemoteMemory
    from scripts.swarm_v2.memory.store import DocumentStore
    from tests.support.redis_servers import Server


@pytest.fixture(scope="module")
def memory_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from redis_server(tmp_path_factory.mktemp("redis"))


@pytest.fixture(params=KINDS)
def each_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DocumentStore]:
    """A new store: once in SQLite, once in Redis."""
    store = open_store(request.param, tmp_path, request)
    yield store
    store.close()


@pytest.fixture
def sqlite_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DocumentStore]:
    store = open_store("sqlite", tmp_path, request)
    yield store
    store.close()


@pytest.fixture
def people(each_store: DocumentStore) -> People:
    """Who meets in a new store: once in SQLite, once in Redis."""
    return People(each_store)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    yield from short_folder()


@pytest.fixture(scope="module")
def server(folder) -> Iterator[MemoryServer]:
    (folder / "person").mkdir()
    with MemoryServer(folder / "person" / "agentihooks", folder) as started:
        yield started


@pytest.fixture
def space(request) -> str:
    """A project for each test: they share one server."""
    return f"git.example.org/{request.node.name}"[:200]


@pytest.fixture
def client(server, space) -> Iterator[Callable[..., RemoteMemory]]:
    opened: list[RemoteMemory] = []

    def make(person: str = A, session: str = "", where: str = space) -> RemoteMemory:
        opened.append(server.client(person, session, where))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
