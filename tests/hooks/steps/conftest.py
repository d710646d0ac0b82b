from __future__ import annotations

import pytest

from tests.support.forked_hook import fork_hook
from tests.support.session import Session


@pytest.fixture(autouse=True)
def _forked_hooks(monkeypatch):
    """What the steps decide is seen over many events; that they are started is seen elsewhere."""
    monkeypatch.setattr(Session, "run", staticmethod(fork_hook))
