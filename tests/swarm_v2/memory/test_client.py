"""A client that stays: it reads what it watches from what it keeps, and outlives its connection."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.errors import MemoryRefused
from tests.support.memory_server import A, B, MemoryServer, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scripts.swarm_v2.memory.client import RemoteMemory

WAIT_S = 20


class Counted:
    """How many questions a client has asked since."""

    def __init__(self, client: RemoteMemory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        send = client._talk.send

        def count(ask, fields, answered):
            self.asked.append(ask)
            send(ask, fields, answered)

        monkeypatch.setattr(client._talk, "send", count)


@pytest.fixture
def counted(monkeypatch) -> Callable[[RemoteMemory], Counted]:
    return lambda client: Counted(client, monkeypatch)


def cut(client: RemoteMemory) -> None:
    """Have the connection end as a broken network ends it."""
    client._talk._connection._link._sock.shutdown(2)


@contextmanager
def held_up(server: MemoryServer) -> Iterator[None]:
    """Have the server do nothing, for as long as the block lasts."""
    server.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.process.send_signal(signal.SIGCONT)


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(MemoryRefused) as refused:
        call()
    return refused.value.code


def until(client: RemoteMemory, id: str, value: object) -> None:
    """Take frames until the client was told of a value."""
    while True:
        frames = client.frames(WAIT_S)
        assert frames, f"nobody told of {value!r}"
        for entry in [one for frame in frames for one in frame.get("upserts", [])]:
            if (entry["id"], entry.get("value")) == (id, value):
                return


def test_what_is_watched_is_read_without_a_question_and_what_is_not_with_one(client, counted):
    a, b = client(A), client(B)
    b.commit(written("memory/x", {"text": "one"}))
    seq = b.commit(written("list", {"first": {"$link": {"id": "memory/x", "scope": "space"}}}))
    a.watch("w", "list")
    questions = counted(a)
    assert a.read("memory/x")["value"] == {"text": "one"}
    assert a.read("list")["seq"] == seq
    assert questions.asked == []
    b.commit(written("memory/x", {"text": "two"}))
    until(a, "memory/x", {"text": "two"})
    assert a.read("memory/x")["value"] == {"text": "two"}
    assert questions.asked == []
    b.commit(written("alone", 1))
    assert a.read("alone")["value"] == 1
    b.commit(written("alone", 2))
    assert a.read("alone")["value"] == 2, "nobody tells of it: it is asked for anew"
    assert questions.asked == ["read", "read"]


def test_what_is_watched_before_it_is_there_is_kept_from_its_first_state_on(client, counted):
    a, b = client(A), client(B)
    a.watch("w", "x")
    assert a.read("x") is None
    questions = counted(a)
    assert a.read("x") is None
    seq = b.commit(written("x", 1))
    until(a, "x", 1)
    assert a.read("x") == {"id": "x", "scope": "space", "seq": seq, "value": 1}
    a.unwatch("w")
    b.commit(written("x", 2))
    assert a.read("x")["value"] == 2
    assert questions.asked == ["unwatch", "read"]


def test_nobody_changes_what_is_kept_through_what_was_read(client):
    a = client(A)
    value = {"list": [1]}
    shown = a.watch("w", "x")
    a.commit(written("x", value))
    value["list"].append("mine")
    a.read("x")["value"]["list"].append("yours")
    assert a.read("x")["value"] == {"list": [1]}
    assert shown.get("upserts") is None
    other = client(A)
    other.watch("w", "x")["upserts"][0]["value"]["list"].append("theirs")
    assert other.read("x")["value"] == {"list": [1]}


def test_an_own_write_shows_at_once_and_its_verdict_confirms_it(server, client):
    a, b = client(A), client(B)
    before = b.commit(written("x", "theirs"))
    a.watch("w", "x")
    with held_up(server):
        verdict = a.propose(written("x", "mine"))
        pending = {"id": "x", "scope": "space", "seq": before, "value": "mine", "pending": True}
        assert a.read("x") == pending
    seq = verdict.seq()
    assert a.read("x") == {"id": "x", "scope": "space", "seq": seq, "value": "mine"}
    assert a.read("x") == b.read("x")


def test_a_patch_shows_upon_what_stands_there_though_nobody_watches_it(client):
    a = client(A)
    a.commit(written("x", {"a": 1, "b": 2}))
    verdict = a.propose(written("x", {"b": None, "c": 3}, op="patch"))
    assert a.read("x")["value"] == {"a": 1, "c": 3}
    seq = verdict.seq()
    assert a.read("x") == {"id": "x", "scope": "space", "seq": seq, "value": {"a": 1, "c": 3}}


def test_a_refused_write_is_rolled_back_and_no_other(server, client):
    a, b = client(A), client(B)
    seq = b.commit(written("x", "theirs"))
    a.watch("w", "x")
    with held_up(server):
        good = a.propose(written("y", "kept"))
        bad = a.propose(written("x", "stale", base=0))
        assert a.read("x")["value"] == "stale"
    assert refusal(bad.seq) == "stale-base"
    assert a.read("x") == {"id": "x", "scope": "space", "seq": seq, "value": "theirs"}
    assert good.seq() == seq + 1
    assert a.read("y")["value"] == "kept"
    assert refusal(lambda: a.propose({"writes": [{"id": "x", "principal": B}]})) == (
        "identity-in-commit"
    )
    assert refusal(lambda: a.propose(written("x", {1, 2}))) == "request-invalid"


def test_an_erased_document_is_a_tombstone_for_its_watcher_too(client):
    a, b = client(A), client(B)
    a.watch("w", "x")
    assert a.read("x") is None
    b.commit(written("x", "words"))
    until(a, "x", "words")
    seq = b.commit({"writes": [{"id": "x", "op": "erase"}]})
    while a.read("x").get("deleted") is None:
        assert a.frames(WAIT_S)
    assert a.read("x") == {"id": "x", "scope": "space", "seq": seq, "deleted": True}
    assert a.commit(written("x", "again", base=seq)) == seq + 1


def test_what_was_lost_with_a_connection_comes_with_the_next_one(client):
    a, b = client(A, "1"), client(B)
    b.commit(written("x", "one"))
    b.commit(written("gone", "soon"))
    a.watch("x", "x")
    a.watch("gone", "gone")
    a.watch("mine", "preferences", "user")
    cut(a)
    b.commit(written("x", "two"))
    b.commit({"writes": [{"id": "gone", "op": "erase"}]})
    (healed,) = a.frames(WAIT_S)
    assert healed["reset"] is True
    told = {entry["id"]: entry["value"] for entry in healed["upserts"]}
    assert told.pop("preferences")
    assert told == {"x": "two"}
    assert a.read("x")["value"] == "two"
    assert a.read("gone")["deleted"] is True
    b.commit(written("x", "three"))
    until(a, "x", "three")


@pytest.mark.parametrize(
    "look",
    [
        lambda one: one.read("x")["value"],
        lambda one: one.documents(prefix="x")["documents"][0]["value"],
        lambda one: one.history("x")["revisions"][0]["value"],
    ],
)
def test_a_broken_connection_is_made_anew_by_whatever_is_asked_next(client, look):
    a = client(A)
    seq = a.commit(written("x", "one"))
    cut(a)
    assert look(a) == "one"
    cut(a)
    assert a.commit(written("x", "two")) == seq + 1
    assert a.frames(0) == [], "nothing is watched"


def test_a_commit_whose_verdict_was_lost_is_told_so_and_shows_no_more(server, client):
    a = client(A)
    a.commit(written("x", "before"))
    a.watch("w", "x")
    with held_up(server):
        verdict = a.propose(written("x", "perhaps"))
        cut(a)
    assert refusal(verdict.seq) == "server-gone"
    assert "pending" not in a.read("x")
    while a.read("x") != client(A).read("x"):  # the server may come to it later
        assert a.frames(WAIT_S)


def test_a_server_that_is_killed_and_started_again_is_found_by_its_clients(home, folder):
    with MemoryServer(home, folder) as server:
        a = server.client(A)
        a.commit(written("x", "one"))
        a.watch("w", "x")
        server.process.kill()
        server.ended()
        assert refusal(lambda: a.frames(WAIT_S)) == "server-gone"
        assert refusal(lambda: a.read("x")) == "server-gone"
        server.start()
        server.client(B).commit(written("x", "two"))
        (healed,) = a.frames(WAIT_S)
        assert [entry["value"] for entry in healed["upserts"]] == ["two"]
        a.close()
        assert refusal(lambda: a.read("x")) == "server-gone", "closed for good"


def test_a_watch_that_another_covers_needs_no_question_and_outlives_it(client, counted):
    a, b = client(A), client(B)
    b.commit(written("x", {"title": "t", "text": "one"}))
    a.watch("wide", "x")
    questions = counted(a)
    narrow = {"properties": {"title": True}}
    assert a.watch("narrow", "x", schema=narrow).get("upserts") is None
    assert a.watch("path", "x", path=("text",)).get("upserts") is None
    assert questions.asked == []
    assert "removes" not in a.unwatch("wide"), "the others show it still"
    assert questions.asked == ["watch", "watch", "unwatch"]
    b.commit(written("x", {"title": "t", "text": "two"}))
    until(a, "x", {"title": "t", "text": "two"})
    a.unwatch("path")
    assert a.unwatch("narrow")["removes"] == [{"id": "x", "scope": "space"}]
    assert refusal(lambda: a.watch("bad", "x", schema={"type": 7})) == "watch-invalid"
    assert refusal(lambda: a.watch("", "x")) == "watch-invalid"


def test_watches_of_two_scopes_never_cover_each_other(client, counted):
    a = client(A, "1")
    a.watch("wide", "notes")
    questions = counted(a)
    a.watch("user", "notes", "user")
    a.watch("session", "notes", "session")
    assert questions.asked == ["watch", "watch"]


def test_a_watch_that_is_replaced_shows_what_is_asked_now(client):
    a = client(A)
    a.commit(written("x", "of x"))
    a.commit(written("y", "of y"))
    a.watch("w", "x")
    a.watch("same", "x")
    frame = a.watch("w", "y")
    assert [entry["id"] for entry in frame["upserts"]] == ["y"]
    assert "removes" not in frame, "x is shown by the other"
    cut(a)
    (healed,) = a.frames(WAIT_S)
    assert {entry["id"] for entry in healed["upserts"]} == {"x", "y"}


def test_a_redirect_is_followed_in_what_is_kept(client, counted):
    a, b = client(A, "1"), client(B, "1")
    link = {"$link": {"id": "x", "scope": "user"}}
    a.commit(written("x", link))
    seq = a.commit(written("x", "of a", "user"))
    assert a.read("x") == {"id": "x", "scope": "user", "seq": seq, "value": "of a"}
    assert b.read("x") is None
    a.watch("w", "x")
    questions = counted(a)
    assert a.read("x")["value"] == "of a"
    assert questions.asked == []


def test_who_is_nobody_is_refused_what_is_somebodys(client):
    a = client(A)
    assert refusal(lambda: a.read("notes", "session")) == "identity-missing"
    assert refusal(lambda: a.watch("w", "notes", "session")) == "identity-missing"
    assert refusal(lambda: a.read("x", "team")) == "scope-unknown"
    assert refusal(lambda: a.read("")) == "id-invalid"


def test_large_writes_and_large_frames_cross_without_either_side_waiting(client):
    a, b = client(A), client(B)
    a.watch("w", "x")
    verdicts = []
    for number in range(6):
        b.commit(written("x", {"n": number, "text": "x" * (2 << 20)}))
        verdicts.append(a.propose(written(f"y{number}", {"text": "y" * (2 << 20)})))
    assert all(one.seq() for one in verdicts)
    while a.read("x")["value"]["n"] < 5:
        a.frames(WAIT_S)
