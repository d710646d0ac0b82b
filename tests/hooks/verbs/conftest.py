from __future__ import annotations

import pytest

from hooks.settings import Settings
from hooks.verbs import VerbCtx
from tests.support.run_hook import ROOT, agent_env


@pytest.fixture
def ctx(home, noon, project) -> VerbCtx:
    """The person's place: session ``session-1`` in the project, at noon."""
    return VerbCtx(
        settings=Settings(home=str(home)),
        env=agent_env(home),  # a worker that a verb starts must find this home, not the real one
        at=noon,
        session_id="session-1",
        cwd=str(project),
        root=str(ROOT),
    )
