"""The graph of what runs, as the status page draws it (part 1 section 7, scenario 23)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.inspect import GraphSnapshot
from scripts.swarm_v2.wire_json import dumps
from tests.support.broken import break_preferences
from tests.support.memory_stores import SPACE
from tests.support.scheduling import A1, A2, B1, World, key

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.store import DocumentStore


@pytest.fixture
def world(sqlite_store: DocumentStore) -> World:
    made = World(sqlite_store)
    made.save(A1, "preferences", "user", {"style": "short"})
    made.save(B1, "preferences", "user", {"style": "long"})
    return made


def test_two_instances_are_two_rows_and_each_edge_names_what_was_read(world: World) -> None:
    world.want(A1, B1, nodes=("context",))
    graph = GraphSnapshot(world.scheduler)
    mine, theirs = f"{SPACE}/context/{key('user', A1)}", f"{SPACE}/context/{key('user', B1)}"
    assert [row.label for row in graph.of("context")] == [mine, theirs]
    read = {(edge.reader, edge.read) for edge in graph.edges if "/preferences/" in edge.read}
    assert read == {
        (mine, f"{SPACE}/preferences/{key('user', A1)}"),
        (theirs, f"{SPACE}/preferences/{key('user', B1)}"),
    }
    parts = [row.label for row in graph.of("context/person")]
    assert parts == [f"{mine}/sections/person", f"{theirs}/sections/person"]


def test_what_is_watched_for_another_session_is_told_apart(world: World) -> None:
    world.want(A1, A2, nodes=("context",))
    graph = GraphSnapshot(world.scheduler)
    notes = {
        edge.read: edge.is_watched_for_another for edge in graph.edges if "/notes/" in edge.read
    }
    assert notes == {
        f"{SPACE}/notes/{key('session', A1)}": False,
        f"{SPACE}/notes/{key('session', A2)}": True,
    }


def test_an_error_stands_at_the_instance_that_failed(world: World) -> None:
    world.want(A1, B1, nodes=("context",))
    break_preferences(world.store, world.space, key("user", A1))
    world.go()
    graph = GraphSnapshot(world.scheduler)
    rows = {row.scope_key: (row.state, row.error) for row in graph.of("context")}
    assert rows == {
        key("user", A1): ("failed", "link-circle"),
        key("user", B1): ("clean", ""),
    }
    assert "the redirects of a document come back to it" in dumps(graph.to_value())
