"""The acceptance scenarios of scoped memory, through the assembled product.

Space ``proj``; A with the sessions a1 and a2, B with b1. Watchers are in this process; a second
one writes to the same store. Every scenario is asked of SQLite and of Redis.
"""

from __future__ import annotations

import pytest

from tests.support.memory_scenes import Beside, Scene


@pytest.fixture(scope="module")
def beside():
    """A second process, for all tests of a module."""
    one = Beside()
    yield one
    one.close()


@pytest.fixture
def scene(world, beside):
    one = Scene(world, beside)
    yield one
    one.close()
