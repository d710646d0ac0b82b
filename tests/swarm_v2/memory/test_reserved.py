"""Documents whose names mean something: what no door lets in, and how what got in is mended."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from scripts.swarm_v2.memory.answers import answer
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import writes_for
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import resolve_scope_key
from tests.support.memory_server import A, B, written

PROJ = "proj"
AT = "2026-11-30T12:00:00.000000+00:00"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def linked(slug):
    return {"memory": {"$link": {"id": f"memory/{slug}"}}}


def refusal(do):
    with pytest.raises(MemoryRefused) as refused:
        do()
    return refused.value.code


@pytest.fixture
def runtime(each_store):
    runtime = MemoryRuntime(each_store, now=lambda: NOW)
    yield runtime
    runtime.close()


@pytest.fixture
def person(runtime):
    """Open a session in the one runtime."""
    return lambda who, session: runtime.open_session(PROJ, Credential(who, "test"), session)


@pytest.mark.parametrize("what", ["garbage", {"links": 7}, {"$link": {"id": "x"}}, None])
def test_an_index_that_is_damaged_or_gone_is_made_again_by_the_next_memory(
    runtime, person, each_store, what
):
    a = person(A, "1")
    for slug in ("one", "two"):
        runtime.commit(a, written(f"memory/{slug}", {"text": f"text {slug}"}), AT)
    unlinked = {"id": "memory/gone", "value": {"text": "old", "superseded_by": "two"}}
    runtime.commit(a, {"writes": [unlinked]}, AT)
    spoilt = Write("index", "space", "delete" if what is None else "set", what)
    each_store.commit(PROJ, Commit("system", (Write("index", "space", "set", 1), spoilt)))
    writes = writes_for("three", {"text": "text three"}, "space", "space")
    asked = [{"id": one.id, "op": one.op, "value": one.value} for one in writes]
    runtime.commit(a, {"writes": asked}, AT)
    links = each_store.read(PROJ, "space", "index").value["links"]
    assert set(links) == {"one", "two", "three"}
    assert links["one"]["summary"] == "text one"
    told = runtime.read(a, "context", "space").value["text"]
    assert all(f"text {slug}" in told for slug in ("one", "two", "three"))


def test_what_the_homes_own_person_said_stays_theirs_and_others_say_it_of_their_own_only(
    runtime, person, each_store
):
    home = runtime.open_session(PROJ, Credential(A, "token"), "1")
    b = person(B, "1")
    said = {"text": "hers", "cls": "person"}
    assert runtime.commit(home, written("memory/x", said), AT)
    assert runtime.commit(home, written("memory/x", {"title": "t"}, op="patch"), AT)
    forged = [{"text": "forged", "cls": "person"}, {"text": "forged"}]
    assert refusal(lambda: runtime.commit(b, written("memory/x", forged[0]), AT)) == (
        "person-unproven"
    )
    asked = written("memory/x", forged[1], op="patch")
    assert refusal(lambda: runtime.commit(b, asked, AT)) == "person-unproven"
    assert runtime.commit(b, written("memory/x", forged[0], "user"), AT)
    assert runtime.commit(b, written("memory/x", {"text": "b says so", "cls": "agent"}), AT)
    assert each_store.read(PROJ, "space", "memory/x").value["cls"] == "agent"


def test_mistyped_preferences_of_an_older_version_hold_nothing_up(runtime, person, each_store):
    a = person(A, "1")
    wrong = Write("preferences", resolve_scope_key("user", a.identity), "set", {"verbosity": "x"})
    each_store.commit(PROJ, Commit("system", (wrong,)))
    runtime.commit(a, written("memory/x", {"text": "the news"}), AT)
    runtime.commit(a, written("index", {"links": {"x": linked("x")}}), AT)
    assert "the news" in runtime.read(a, "context", "space").value["text"]
    status = runtime.read(a, "status", "user").value
    assert status["preferences"]["verbosity"] == "normal"
    (error,) = status["errors"]
    assert error["sentence"].endswith(
        "verbosity is none of brief, normal, full; the defaults are used"
    )
    runtime.commit(a, written("preferences", {"verbosity": "full"}, "user"), AT)
    assert runtime.read(a, "status", "user").value["errors"] == []


@pytest.mark.parametrize("asked", [{"prefix": "\ud800"}, {"after": "x\udfff"}])
def test_a_page_from_where_no_text_is_is_refused_and_no_path_told(runtime, person, asked):
    with pytest.raises(MemoryRefused) as refused:
        answer(runtime, person(A, "1"), "list", asked, AT)
    assert refused.value.code == "request-invalid"
    assert "/" not in str(refused.value)
