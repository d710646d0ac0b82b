"""Transactions of a session: at a server, and in this process."""

from __future__ import annotations

import signal
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.library import open_session, open_store
from scripts.swarm_v2.memory.sessions import Credential
from tests.support.memory_server import A, B, written

if TYPE_CHECKING:
    pass


@pytest.fixture(params=["server", "process"])
def memory(request, client):
    """A session at the server, and one in this process."""
    return client(A) if request.param == "server" else request.getfixturevalue("local")


def test_a_transaction_writes_what_it_made_of_what_it_read(client, memory):
    b = client(B)
    seq = b.commit(written("rule", "one"))
    with memory.transaction() as edit:
        assert edit.read("rule") == "one"
        assert edit.read("missing", default="none") == "none"
        edit.write("x", {"by": edit.read("rule")})
        assert edit.read("x") == {"by": "one"}, "it sees its own"
        edit.patch("x", {"more": True})
    assert edit.seq == seq + 1
    assert memory.read("x")["value"] == {"by": "one", "more": True}
    with memory.transaction() as edit:
        assert edit.document("rule")["seq"] == seq
        edit.delete("rule")
        assert edit.read("rule") is None
    assert b.read("rule") == {"id": "rule", "scope": "space", "seq": seq + 2, "deleted": True}
    with memory.transaction() as edit:
        edit.read("x")
    assert edit.seq == 0, "who only read wrote nothing"


def test_a_transaction_over_what_moved_is_refused_and_one_that_raises_writes_nothing(
    client, memory
):
    b = client(B)
    b.commit(written("rule", "one"))
    b.commit(written("x", "before"))

    def overtaken() -> None:
        with memory.transaction() as edit:
            edit.read("rule")
            b.commit(written("rule", "two"))
            edit.write("x", "never")

    with pytest.raises(MemoryRefused) as refused:
        overtaken()
    assert refused.value.code == "stale-read"
    assert refused.value.facts["id"] == "rule"
    assert "did:key" not in str(refused.value.facts)
    with pytest.raises(ZeroDivisionError), memory.transaction() as edit:
        edit.write("x", 1 // 0)
    assert memory.read("x")["value"] == "before"


@pytest.fixture
def local(server, space):
    store = open_store(str(server.home))
    now = lambda: datetime(2026, 11, 30, tzinfo=UTC)  # noqa: E731
    with open_session(store, space, Credential(A, "test"), now=now) as memory:
        yield memory
    store.close()


def test_a_transaction_that_was_refused_sees_what_is_new_when_it_tries_again(client, local):
    """What a client keeps of a watch is never older than the refusal that it was handed."""
    a = client(A)
    a.commit(written("count", 0))
    a.watch("w", "count")

    def increase() -> None:
        with a.transaction() as edit:
            edit.write("count", edit.read("count") + 1)

    for number in range(1, 6):
        local.commit(written("count", number * 10))
        try:
            increase()
        except MemoryRefused:
            increase()
        assert a.read("count")["value"] == number * 10 + 1


def test_a_transaction_waits_for_the_verdict_on_what_it_builds_on(server, client):
    a = client(A)
    a.commit(written("x", "before"))
    a.watch("w", "x")
    assert a.read("x")["value"] == "before"
    server.process.send_signal(signal.SIGSTOP)
    verdicts = [a.propose(written("x", number)) for number in range(5)]
    with a.transaction() as edit:
        server.process.send_signal(signal.SIGCONT)
        edit.write("x", edit.read("x") + 1)
    assert a.read("x")["value"] == 5
    assert edit.seq == verdicts[-1].seq() + 1
