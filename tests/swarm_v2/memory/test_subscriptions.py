from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from scripts.swarm_v2.memory.document import MISSING, make_link
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.frames import Remove
from scripts.swarm_v2.memory.store import Commit, Write
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key
from tests.support.memory_stores import AT, SPACE, A, B
from tests.support.watchers import Client, Watchers

if TYPE_CHECKING:
    from pathlib import Path

    from scripts.swarm_v2.memory.store import DocumentStore

OF_A = resolve_scope_key("user", Identity(A))
OF_B = resolve_scope_key("user", Identity(B))


@pytest.fixture
def world(each_store: DocumentStore) -> Watchers:
    return Watchers(each_store)


@pytest.fixture
def one(sqlite_store: DocumentStore) -> Watchers:
    """For what no store plays a part in."""
    return Watchers(sqlite_store)


def put(world: Watchers, scope_key: str, id: str, value: object) -> None:
    """Write an instance that no author could."""
    world.store.commit(SPACE, Commit("system", (Write(id, scope_key, "set", value),)))


def three(world: Watchers) -> tuple[Client, Client, Client]:
    return world.client(A, "a1"), world.client(A, "a2"), world.client(B, "b1")


def settings(text: str) -> Any:
    return {"style": text}


def test_only_the_written_instance_wakes(world: Watchers) -> None:
    """Scenario 6."""
    a1, a2, b1 = three(world)
    for client in (a1, a2, b1):
        world.watch(client, "preferences", "user")
    looked = {client: world.server.looked_at(client.session) for client in (a1, b1)}
    world.write(a2, "set", "preferences", "user", settings("terse"))
    assert world.flush() == [a1]
    assert a1.rows == [("preferences", settings("terse"))]
    assert world.server.looked_at(b1.session) == looked[b1]
    assert world.server.looked_at(a1.session) == looked[a1] + 1
    assert a2.has("preferences", "user") == settings("terse")
    assert (world.flush(), b1.rows) == ([], [])


def test_sessions_of_one_person_stay_apart(world: Watchers) -> None:
    """Scenario 7."""
    a1, a2, _ = three(world)
    for client in (a1, a2):
        world.watch(client, "notes", "session")
    world.write(a1, "set", "notes", "session", {"goal": "ship"})
    assert world.flush() == []
    assert a2.rows == []
    assert a2.has("notes", "session") is MISSING


def test_a_space_change_reaches_every_watcher_once_and_its_writer_not(world: Watchers) -> None:
    """Scenario 8."""
    a1, a2, b1 = three(world)
    for client in (a1, a2, b1):
        world.watch(client, "memory/x", "space")
    world.write(b1, "set", "memory/x", "space", {"text": "use uv"})
    assert world.flush() == [a1, a2]
    assert world.flush() == []
    assert [client.rows for client in (a1, a2, b1)] == [[("memory/x", {"text": "use uv"})]] * 2 + [
        []
    ]


def test_a_patch_is_sent_back_to_its_writer_in_full_and_a_delete_is_not(world: Watchers) -> None:
    a1, _, b1 = three(world)
    for client in (a1, b1):
        world.watch(client, "memory/x", "space")
    world.write(a1, "set", "memory/x", "space", {"text": "one", "cls": "fact"})
    world.flush()
    # b1 never saw a1's value confirmed before it patches: what comes back holds both.
    world.write(b1, "patch", "memory/x", "space", {"text": "two"})
    assert world.flush() == [a1, b1]
    assert b1.has("memory/x", "space") == {"text": "two", "cls": "fact"}
    world.write(b1, "delete", "memory/x", "space")
    assert world.flush() == [a1]
    assert a1.has("memory/x", "space") is MISSING
    assert a1.frames[-1].upserts[0].deleted


def test_a_writers_own_set_is_sent_back_where_it_is_no_longer_the_head(one: Watchers) -> None:
    a1, _, b1 = three(one)
    one.watch(a1, "memory/x", "space")
    one.write(a1, "set", "memory/x", "space", {"text": "mine"})
    one.write(b1, "set", "memory/x", "space", {"text": "later"})
    assert one.flush() == [a1]
    assert a1.rows == [("memory/x", {"text": "later"})]


def test_another_client_of_the_writers_own_agent_session_is_told(one: Watchers) -> None:
    first, second = one.client(A, "a1"), one.client(A, "a1")
    for client in (first, second):
        one.watch(client, "notes", "session")
    one.write(first, "set", "notes", "session", {"goal": "ship"})
    assert one.flush() == [second]
    one.save(first.session, "notes", "session", {"goal": "rest"})  # by a process of its own
    one.feed()
    assert one.flush() == [first, second]


def test_eight_sessions_open_with_one_evaluation_and_each_gets_its_own_updates(
    world: Watchers,
) -> None:
    """Scenario 27."""
    clients = [world.client(f"did:key:z{n}", f"s{n}") for n in range(8)]
    world.save(clients[0].session, "memory/x", "space", {"text": "uv"})
    index = {"links": {"x": {"title": "uv", "memory": make_link("memory/x", "space")}}}
    world.save(clients[0].session, "board", "space", index)
    for client in clients:
        frame = world.watch(client, "board", "space")
        assert {entry.id for entry in frame.upserts} == {"board", "memory/x"}
    assert (world.cache.evaluations, world.cache.hits) == (1, 7)
    world.write(clients[3], "set", "memory/x", "space", {"text": "pip"})
    assert world.flush() == [client for client in clients if client is not clients[3]]
    assert {client.has("memory/x", "space")["text"] for client in clients} == {"pip"}


def test_absent_now_and_mine_later(world: Watchers) -> None:
    """Scenario 28."""
    a1, a2, b1 = three(world)
    b2 = world.client(B, "b2")
    index = {"links": {"x": {"memory": make_link("memory/x", "user")}}}
    world.save(a1.session, "board", "space", index)
    for client in (a1, a2, b1):
        world.watch(client, "board", "space")
    assert (world.cache.evaluations, world.cache.hits) == (1, 2)
    looked = [world.server.looked_at(client.session) for client in (a1, a2)]
    world.write(b2, "set", "memory/x", "user", {"text": "mine"})
    assert world.flush() == [b1]
    assert b1.has("memory/x", "user") == {"text": "mine"}
    assert [world.server.looked_at(client.session) for client in (a1, a2)] == looked


def test_an_ended_watch_takes_away_what_no_other_one_shows(one: Watchers) -> None:
    a1 = one.client(A, "a1")
    one.save(a1.session, "memory/x", "space", {"text": "x"})
    one.save(a1.session, "memory/y", "space", {"text": "y"})
    index = {"links": [make_link("memory/x", "space"), make_link("memory/y", "space")]}
    one.save(a1.session, "board", "space", index)
    one.watch(a1, "board", "space", name="all")
    one.watch(a1, "memory/x", "space", name="x")
    frame = one.server.unwatch(a1.session, "all")
    assert {entry.id for entry in frame.removes} == {"board", "memory/y"}


def test_only_a_whole_pass_takes_away_what_is_no_longer_linked(one: Watchers) -> None:
    a1 = one.client(A, "a1")
    one.save(a1.session, "memory/x", "space", {"text": "x"})
    one.save(a1.session, "board", "space", {"links": [make_link("memory/x", "space")]})
    one.watch(a1, "board", "space")
    one.save(a1.session, "board", "space", {"links": []})
    one.feed()
    ((session, frame),) = one.server.flush(SPACE)
    assert [entry.id for entry in frame.upserts] == ["board"]
    assert frame.removes == ()
    one.server.failed(session, frame)
    one.flush()
    assert a1.frames[-1].removes == (Remove("memory/x", "space"),)


def test_what_is_erased_is_removed_where_it_was_shown_and_can_come_again(world: Watchers) -> None:
    a1, _, b1 = three(world)
    world.save(a1.session, "memory/x", "space", {"text": "secret"})
    world.watch(b1, "memory/x", "space")
    world.write(a1, "erase", "memory/x", "space")
    assert world.flush() == [b1]
    assert b1.frames[-1].removes == (Remove("memory/x", "space"),)
    late = world.client(B, "b2")
    assert world.watch(late, "memory/x", "space").upserts == ()
    world.write(a1, "set", "memory/x", "space", {"text": "clean"})
    assert world.flush() == [b1, late]
    assert b1.has("memory/x", "space") == {"text": "clean"}


def test_a_client_lets_go_what_it_wrote_and_somebody_erased_before_it_watched(
    one: Watchers,
) -> None:
    a1, b1 = one.client(A, "a1"), one.client(B, "b1")
    one.watch(a1, "board", "space")
    one.write(a1, "set", "memory/x", "space", {"text": "secret"})
    one.write(b1, "erase", "memory/x", "space")
    assert one.flush() == []
    assert a1.has("memory/x", "space") == {"text": "secret"}
    one.watch(a1, "memory/x", "space")
    assert a1.has("memory/x", "space") is MISSING


def test_what_a_client_just_wrote_is_let_go_when_another_erased_it_in_the_same_pass(
    one: Watchers,
) -> None:
    a1, b1 = one.client(A, "a1"), one.client(B, "b1")
    one.watch(a1, "memory/x", "space")
    one.write(a1, "set", "memory/x", "space", {"text": "secret"})
    one.write(b1, "erase", "memory/x", "space")
    assert one.flush() == [a1]
    assert a1.has("memory/x", "space") is MISSING
    assert one.flush() == []


def test_a_retired_sessions_documents_leave_their_watchers(world: Watchers) -> None:
    a1 = world.client(A, "a1")
    world.save(a1.session, "notes", "session", {"goal": "ship"})
    world.watch(a1, "notes", "session")
    world.store.drop_session(SPACE, a1.session.session_key, AT)
    world.feed()
    assert world.flush() == [a1]
    assert a1.frames[-1].removes == (Remove("notes", "session"),)
    assert a1.has("notes", "session") is MISSING


def test_a_lost_frame_is_told_again_whole_to_that_session_alone(one: Watchers) -> None:
    a1, a2, _ = three(one)
    for client in (a1, a2):
        one.watch(client, "memory/x", "space")
    one.save(one.open(B, "b9"), "memory/x", "space", {"text": "x"})
    one.feed()
    (lost, arrived) = one.server.flush(SPACE)
    one.server.delivered(*arrived)
    one.server.failed(*lost)
    looked = one.server.looked_at(a2.session)
    assert one.server.pending(SPACE)
    assert one.flush() == [a1]
    assert a1.rows == [("memory/x", {"text": "x"})]
    assert one.server.looked_at(a2.session) == looked
    assert not one.server.pending(SPACE)


def test_a_lost_remove_is_told_again(one: Watchers) -> None:
    a1, b1 = one.client(A, "a1"), one.client(B, "b1")
    one.save(b1.session, "memory/x", "space", {"text": "secret"})
    one.watch(a1, "memory/x", "space")
    one.write(b1, "erase", "memory/x", "space")
    ((session, lost),) = one.server.flush(SPACE)
    assert lost.removes
    one.server.failed(session, lost)
    assert one.flush() == [a1]
    assert a1.has("memory/x", "space") is MISSING


def test_a_lost_change_of_what_is_linked_no_more_leaves_nothing_behind(one: Watchers) -> None:
    a1, b1 = one.client(A, "a1"), one.client(B, "b1")
    one.save(b1.session, "memory/x", "space", {"text": "x"})
    one.save(b1.session, "board", "space", {"links": [make_link("memory/x", "space")]})
    one.watch(a1, "board", "space")
    one.write(b1, "delete", "memory/x", "space")
    ((session, frame),) = one.server.flush(SPACE)
    one.write(b1, "set", "board", "space", {"links": []})
    one.server.failed(session, frame)
    assert one.flush() == [a1]
    assert a1.has("memory/x", "space") is MISSING


def test_after_a_frame_that_nobody_remembers_everything_is_told_anew(one: Watchers) -> None:
    a1, b1 = one.client(A, "a1"), one.client(B, "b1")
    one.watch(a1, "memory/x", "space")
    one.watch(a1, "memory/y", "space")
    one.write(b1, "set", "memory/x", "space", {"text": "x"})
    one.flush()
    one.server.failed(a1.session, a1.frames[-1])  # it was delivered: nothing is kept of it
    one.write(b1, "erase", "memory/x", "space")
    assert one.flush() == [a1]
    assert a1.frames[-1].reset
    assert a1.has("memory/x", "space") is MISSING


def test_one_persons_damaged_document_keeps_no_frame_from_another(
    one: Watchers, tmp_path: Path
) -> None:
    a1, _, b1 = three(one)
    for client in (a1, b1):
        one.watch(client, "preferences", "user")
    writers = one.client(A, "a9"), one.client(B, "b9")
    for writer in writers:
        one.write(writer, "set", "preferences", "user", settings("new"))
    damage(tmp_path / "memory.db", OF_A)
    assert one.flush() == [b1]
    ((session, refused),) = one.server.refused[SPACE]
    assert (session, refused.code) == (a1.session, "store-damaged")
    assert not one.server.pending(SPACE)  # asking again at once would find the same
    put(one, OF_A, "preferences", settings("mended"))
    one.feed()
    assert one.flush() == [a1]
    assert a1.has("preferences", "user") == settings("mended")


def damage(path: Path, key: str) -> None:
    with sqlite3.connect(path) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
            if {"scope_key", "value"} <= columns:
                database.execute(f"UPDATE {table} SET value = '{{' WHERE scope_key = ?", (key,))
    database.close()


def test_a_watch_of_the_past_or_of_another_space_is_refused(one: Watchers) -> None:
    a1 = one.client(A, "a1")
    one.watch(a1, "board", "space")
    query = a1.session.watches["board space None"].query  # type: ignore[attr-defined]
    other = query.root._replace(space="elsewhere")
    for wrong in (query._replace(at_seq=1), query._replace(root=other)):
        with pytest.raises(MemoryRefused) as refused:
            one.server.watch(a1.session, "w", wrong)
        assert refused.value.code == "watch-invalid"
    one.registry.close(a1.session)
    with pytest.raises(MemoryRefused) as refused:
        one.watch(a1, "board", "space")
    assert refused.value.code == "session-missing"


def test_a_closed_session_is_told_nothing_and_nothing_is_kept_of_it(one: Watchers) -> None:
    a1, b1 = one.client(A, "a1"), one.client(B, "b1")
    one.watch(a1, "memory/x", "space")
    one.registry.close(a1.session)
    one.server.forget(a1.session)
    one.write(b1, "set", "memory/x", "space", {"text": "x"})
    assert one.flush() == []
    assert one.server.looked_at(a1.session) == 0
