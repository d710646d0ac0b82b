"""A project that a person's alias joins to another: what is made of both quotes both."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.derivations import Roots
from scripts.swarm_v2.memory.memories import erased, writes_for
from scripts.swarm_v2.memory.runtime import MemoryRuntime
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.memory.store import Commit
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from tests.support.memory_server import A, B

if TYPE_CHECKING:
    from collections.abc import Callable

    from scripts.swarm_v2.memory.store import DocumentStore

OLD, NEW, OTHER = (f"git.example.org/{name}" for name in ("old/p", "new/p", "another"))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
AT = "2026-11-30T12:00:00.000000+00:00"


def joined(space: str, identity: Identity) -> Roots:
    return Roots(space, (OLD,)) if space == NEW else Roots(space)


def write(store: DocumentStore, *writes: object) -> None:
    """Commit as a process does that makes nothing of it."""
    store.commit(OLD, Commit("authored", tuple(writes), at=AT))  # type: ignore[arg-type]


@pytest.fixture
def context(each_store) -> Callable[..., str]:
    """Read a person's context in a process of its own; with its history."""
    write(each_store, *writes_for("x", {"text": "theword", "type": "lesson"}, "space", "space"))

    def read(space: str, person: str = A, roots=joined) -> str:
        runtime = MemoryRuntime(each_store, now=lambda: NOON, roots=roots)
        session = runtime.open_session(space, Credential(person, "test"), "1")
        now = runtime.read(session, "context", "space")
        runtime.close()
        return f"{now} {kept(each_store, space, person)}"

    return read


def kept(store: DocumentStore, space: str, person: str) -> str:
    key = resolve_scope_key("user", Identity(person))
    return str(store.history(space, key, "context"))


@pytest.mark.parametrize("who", [A, B])
def test_what_is_erased_goes_from_the_contexts_of_every_project_that_read_it(
    each_store, context, who
):
    assert "theword" in context(NEW)
    assert "theword" not in context(OTHER)
    other = kept(each_store, OTHER, A)
    runtime = MemoryRuntime(each_store, now=lambda: NOON)
    session = runtime.open_session(OLD, Credential(who, "test"), "1")
    proposal = {"writes": [{"id": "memory/x", "scope": "space", "op": "erase"}]}
    runtime.commit(session, proposal, AT)
    runtime.close()
    assert "theword" not in kept(each_store, NEW, A)
    assert "theword" not in context(NEW)
    assert kept(each_store, OTHER, A) == other


def test_where_a_process_ended_in_the_middle_the_next_run_lets_the_words_go(each_store, context):
    assert "theword" in context(NEW)
    write(each_store, *erased("x", "space"))
    assert "theword" not in context(NEW)


def test_when_an_alias_is_taken_back_nothing_of_the_other_project_is_left(each_store, context):
    assert "theword" in context(NEW)
    alone = context(NEW, roots=lambda space, identity: Roots(space))
    assert "theword" not in alone


def test_what_was_only_replaced_stays_in_the_history(each_store, context):
    assert "theword" in context(NEW)
    write(each_store, *writes_for("x", {"text": "another", "type": "lesson"}, "space", "space"))
    both = context(NEW)
    assert "another" in both
    assert "theword" in both
