"""What goes with an erased document: its link, and what was derived from it in any project."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from scripts.swarm_v2.memory.derivations import Roots
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import resolve_scope_key
from tests.support.memory_server import A, written

PROJ = "git.example.org/shop/web"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
AT = "2026-11-30T12:00:00.000000+00:00"
LINK = {"memory": {"$link": {"id": "memory/x", "scope": "space"}}, "type": "lesson"}


def now() -> datetime:
    return NOON


@pytest.fixture
def runtime(each_store):
    runtime = MemoryRuntime(each_store, now=now)
    yield runtime
    runtime.close()


@pytest.fixture
def person(runtime):
    return lambda principal, session: runtime.open_session(
        PROJ, Credential(principal, "test"), session
    )


def linked(slug):
    return {"memory": {"$link": {"id": f"memory/{slug}"}}}


def test_a_memory_that_is_erased_alone_takes_its_link_along_with_all_that_said(
    runtime, person, each_store
):
    a = person(A, "1")
    links = {"x": {**linked("x"), "summary": "theword"}, "y": {**linked("y"), "summary": "stays"}}
    runtime.commit(a, written("memory/x", {"text": "theword"}), AT)
    runtime.commit(a, written("index", {"links": links}), AT)
    runtime.commit(a, {"writes": [{"id": "memory/x", "op": "erase"}]}, AT)
    assert each_store.read(PROJ, "space", "index").value == {"links": {"y": links["y"]}}
    assert "theword" not in str(each_store.history(PROJ, "space", "index"))


def test_what_was_derived_and_deleted_loses_its_history_with_what_it_quotes(
    runtime, person, each_store
):
    a = person(A, "1")
    runtime.commit(a, written("memory/x", {"text": "theword", "type": "lesson"}), AT)
    runtime.commit(a, written("index", {"links": {"x": LINK}}), AT)
    runtime.read(a, "context", "space")
    key = resolve_scope_key("user", a.identity)
    gone = tuple(Write(one.action, one.scope_key, "delete") for one in each_store.basis(PROJ))
    each_store.commit(PROJ, Commit("system", gone, at=AT))
    assert "theword" in str(each_store.history(PROJ, key, "context"))
    runtime.commit(a, {"writes": [{"id": "memory/x", "op": "erase"}]}, AT)
    assert "theword" not in str(each_store.history(PROJ, key, "context"))


def test_what_is_erased_goes_from_the_contexts_of_projects_that_read_this_one(each_store):
    other = "git.example.org/shop/api"
    runtime = MemoryRuntime(
        each_store, now=now, roots=lambda space, _: Roots(space, (PROJ,) if space == other else ())
    )
    ann = Credential(A, "test")
    here, there = (runtime.open_session(one, ann, "1") for one in (PROJ, other))
    runtime.commit(here, written("memory/x", {"text": "theword", "type": "lesson"}), AT)
    runtime.commit(here, written("index", {"links": {"x": LINK}}), AT)
    assert "theword" in str(runtime.read(there, "context", "space").value)
    runtime.commit(here, {"writes": [{"id": "memory/x", "op": "erase"}]}, AT)
    key = resolve_scope_key("user", there.identity)
    assert "theword" not in str(each_store.history(other, key, "context"))
    assert "theword" not in str(runtime.read(there, "context", "space").value)
    runtime.close()
