"""Who has no session, or no name: what is derived for sessions is computed for them alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from tests.support.memory_server import A, B, written

PROJ = "git.example.org/shop/web"
AT = "2026-11-30T12:00:00.000000+00:00"


@pytest.fixture
def opened(each_store):
    """Open a session, each in a process's runtime of its own unless ``runtime`` is given."""
    runtimes = []

    def make(principal, session=None):
        now = datetime(2026, 11, 30, 12, tzinfo=UTC)
        runtimes.append(MemoryRuntime(each_store, now=lambda: now))
        runtime = runtimes[-1]
        return runtime, runtime.open_session(PROJ, Credential(principal, "test"), session)

    yield make
    for one in runtimes:
        one.close()


@pytest.fixture
def noted(opened):
    """A memory of the project, and A's notes in a session, told there."""
    runtime, session = opened(A, "1")
    runtime.commit(session, written("memory/db", {"text": "migrate first"}), AT)
    index = {"links": {"db": {"memory": {"$link": {"id": "memory/db", "scope": "space"}}}}}
    runtime.commit(session, written("index", index), AT)
    runtime.commit(session, written("notes", {"goals": ["ship"]}, "session"), AT)
    assert "ship" in str(runtime.read(session, "context", "space").value)
    return runtime, session


@pytest.mark.parametrize("who", [A, B, None])
@pytest.mark.parametrize("scope", ["space", "user"])
def test_a_context_that_is_a_sessions_is_told_without_one_and_without_its_notes(
    noted, opened, each_store, who, scope
):
    runtime, session = opened(who)
    if who is None:
        scope = "space"
    found = runtime.read(session, "context", scope).value["text"]
    assert "migrate first" in found
    assert "ship" not in found
    runtime, session = noted
    runtime.commit(session, written("memory/db", {"text": "migrate twice"}), AT)
    runtime, session = opened(who)
    assert "migrate twice" in runtime.read(session, "context", scope).value["text"]
    key = resolve_scope_key("user", Identity(A))
    assert "$link" in each_store.read(PROJ, key, "context").value  # as it was for the sessions


def test_what_cannot_be_computed_is_said_where_nothing_is_stored(noted, opened, each_store):
    there, back = ({"$link": {"id": one}} for one in ("memory/back", "memory/db"))
    circle = (Write("memory/db", "space", "set", there), Write("memory/back", "space", "set", back))
    each_store.commit(PROJ, Commit("system", circle))
    runtime, session = opened(A)
    with pytest.raises(MemoryRefused) as refused:
        runtime.read(session, "context", "space")
    assert refused.value.code == "derivation-failed"
    assert "redirects" in str(refused.value)
