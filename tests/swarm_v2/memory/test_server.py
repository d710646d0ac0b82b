"""One server process, several people and sessions: each sees their own, and nobody waits."""

from __future__ import annotations

import json
from threading import Barrier, Thread
from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.library import open_store
from scripts.swarm_v2.memory.place import place_of
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.memory.wire import MAX_HELLO, MAX_LINE, MAX_VALUES
from tests.support.memory_server import (
    A2,
    TOKENS,
    A,
    B,
    everything,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable


WAIT_S = 20


def entries(frames: list) -> list[tuple[str, str, object]]:
    return [
        (entry["scope"], entry["id"], entry.get("value"))
        for frame in frames
        for entry in frame.get("upserts", [])
    ]


def refusal(call: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(MemoryRefused) as refused:
        call()
    return refused.value.code, str(refused.value)


def test_each_person_reads_their_own_and_a_third_only_the_projects(client):
    a, b, third = client(A), client(B), client(A2)
    a.commit(written("preferences", {"style": "dry"}, "user"))
    b.commit(written("preferences", {"style": "lush"}, "user"))
    a.commit(written("memory/x", {"text": "ours"}))
    a.commit(written("memory/x", {"text": "mine"}, "user"))
    assert a.read("preferences", "user")["value"] == {"style": "dry"}
    assert b.read("preferences", "user")["value"] == {"style": "lush"}
    assert third.read("memory/x")["value"] == {"text": "ours"}
    assert third.read("memory/x", "user") is None


def test_a_change_of_one_person_reaches_that_persons_sessions_and_nobody_elses(client):
    a1, a2, b1 = client(A, "1"), client(A, "2"), client(B, "1")
    for one in (a1, a2, b1):
        one.watch("w", "preferences", "user")
        one.watch("s", "memory/x")
    a2.commit(written("preferences", {"style": "dry"}, "user"))
    assert entries(a1.frames(WAIT_S)) == [("user", "preferences", {"style": "dry"})]
    b1.commit(written("memory/x", {"text": "for all"}))
    assert entries(a1.frames(WAIT_S)) == [("space", "memory/x", {"text": "for all"})]
    # Its own writes are not echoed; what came is the project's alone.
    assert entries(a2.frames(WAIT_S)) == [("space", "memory/x", {"text": "for all"})]
    a1.commit(written("memory/x", {"text": "again"}))
    assert entries(b1.frames(WAIT_S)) == [("space", "memory/x", {"text": "again"})]


def test_two_sessions_of_one_person_and_two_people_with_one_session_id_stay_apart(client):
    a1, a2, b1 = client(A, "1"), client(A, "2"), client(B, "1")
    a1.commit(written("notes", {"goals": ["ship"]}, "session"))
    assert a2.read("notes", "session") is None
    assert b1.read("notes", "session") is None
    assert client(A, "1").read("notes", "session")["value"] == {"goals": ["ship"]}


def test_a_context_is_made_again_for_whom_it_concerns(client):
    a, b = client(A, "1"), client(B, "1")
    for one in (a, b):
        one.watch("c", "context")
    before = b.read("context")["seq"]
    a.commit(written("preferences", {"style": "dry as dust"}, "user"))
    found = {(scope, id): value for scope, id, value in entries(a.frames(WAIT_S))}
    assert "dry as dust" in found["user", "context"]["text"]
    assert b.read("context")["seq"] == before
    assert b.frames(0) == []


def test_a_conflict_says_what_stands_there_now(client):
    a, other = client(A, "1"), client(A, "2")
    seq = a.commit(written("preferences", {"style": "dry"}, "user"))
    now = other.commit(written("preferences", {"style": "wet"}, "user"))
    with pytest.raises(MemoryRefused) as refused:
        a.commit(written("preferences", {"style": "arid"}, "user", base=seq))
    assert refused.value.code == "stale-base"
    assert refused.value.facts["current"] == now
    assert "did:key" not in json.dumps([str(refused.value), refused.value.facts])
    assert a.commit(written("preferences", {"style": "arid"}, "user", base=now)) == now + 1


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"scope_key": "user:did%3Akey%3AzB"}, "identity-in-commit"),
        ({"principal": B}, "identity-in-commit"),
        ({"color": "red"}, "field-unknown"),
        ({"scope": "team"}, "scope-unknown"),
        ({"op": "drop"}, "request-invalid"),
    ],
)
def test_a_commit_that_says_too_much_writes_nothing(client, more, code):
    a = client(A)
    seq = a.commit(written("memory/x", {"text": "before"}))
    proposal = written("memory/x", {"text": "after"})
    proposal["writes"][0].update(more)
    assert refusal(lambda: a.commit(proposal))[0] == code
    assert a.read("memory/x")["value"] == {"text": "before"}
    assert a.commit(written("memory/y", {"text": "next"})) == seq + 1


def test_what_another_process_writes_into_the_store_reaches_the_watchers(server, client, space):
    a = client(A)
    a.watch("w", "memory/x")
    from datetime import UTC, datetime

    from scripts.swarm_v2.memory.library import open_session

    store = open_store(str(server.home))
    try:
        now = lambda: datetime(2026, 11, 30, tzinfo=UTC)  # noqa: E731
        with open_session(store, space, Credential(B, "test"), now=now) as beside:
            beside.commit(written("memory/x", {"text": "from beside"}))
            assert entries(a.frames(WAIT_S)) == [("space", "memory/x", {"text": "from beside"})]
    finally:
        store.close()


def test_six_sessions_of_three_people_at_once_end_with_what_each_may_see(server, space):
    """Each writes its own, the project's and its session's; every watch converges."""
    names = [(person, session) for person in (A, A2, B) for session in ("1", "2")]
    last = "memory/last"
    seen: dict[tuple[str, str], dict[tuple[str, str], object]] = {}

    def live(person: str, session: str) -> None:
        with server.client(person, session, space) as client:
            mine = seen[person, session] = {}
            watched = [("preferences", "user"), ("notes", "session"), (last, "space")]
            shown = [client.watch(f"{scope}/{id}", id, scope) for id, scope in watched]
            ready.wait(WAIT_S)
            for n in range(15):
                client.commit(written("preferences", {"style": f"{person} {session} {n}"}, "user"))
                client.commit(written("notes", {"goals": [f"{person} {session} {n}"]}, "session"))
                client.commit(written(f"memory/{person}-{session}-{n}", {"text": "x"}))
            if ready.wait(WAIT_S) == 0:
                client.commit(written(last, {"text": "the end"}))
                mine["space", last] = {"text": "the end"}  # its own is not echoed
            while ("space", last) not in mine:
                shown += client.frames(WAIT_S)
                mine.update({(scope, id): value for scope, id, value in entries(shown)})
            mine["user", "preferences"] = client.read("preferences", "user")["value"]
            mine["session", "notes"] = client.read("notes", "session")["value"]
            frames[person, session] = entries(shown)

    frames: dict[tuple[str, str], list[tuple[str, str, object]]] = {}
    ready = Barrier(len(names))
    threads = [Thread(target=live, args=name) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(3 * WAIT_S)
    for (person, session), mine in seen.items():
        assert mine["space", last] == {"text": "the end"}
        assert mine["session", "notes"] == {"goals": [f"{person} {session} 14"]}
        assert mine["user", "preferences"]["style"].startswith(person + " ")
        told = [value for scope, id, value in frames[person, session] if id == "preferences"]
        assert {value["style"].split(" ")[0] for value in told if value["style"]} <= {person}
        of_others = [v for scope, id, v in frames[person, session] if id == "notes"]
        assert of_others == [], "its own are not echoed, and others' are not its"
    store = open_store(str(server.home))
    numbers = [change.seq for change in store.changes(space, 0, limit=10_000)]
    store.close()
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= len(names) * 15 * 3 + 1


@pytest.mark.parametrize("token", ["", "x", "d" * 64, TOKENS[A][:-1], TOKENS[A] + "a"])
def test_a_wrong_token_is_refused_in_the_same_words_whatever_it_is(server, token):
    code, sentence = refusal(lambda: server.client(token))
    assert (code, sentence) == ("credential-refused", "the server knows no such token")


@pytest.mark.parametrize("space", ["unknown", "person", "fleet", "shelf", "", "a\0b"])
def test_what_is_no_project_has_no_session(server, space):
    assert refusal(lambda: server.client(A, space=space))[0] == "space-invalid"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"\n", "request-invalid"),
        (b"GET / HTTP/1.1\r\n\r\n", "request-invalid"),
        (b'{"kind":"hello","space":"p"}\n', "request-invalid"),
        (b'{"kind":"hello","space":"p","token":"t","version":99}\n', "request-invalid"),
        (b'{"kind":"hello","space":"p","token":"t","principal":"me"}\n', "identity-in-commit"),
        (b'{"kind":"ask","n":1,"ask":"read","fields":{"id":"index"}}\n', "request-invalid"),
        (b"x" * (MAX_HELLO + 1), "request-too-large"),
        (b" " * (MAX_HELLO + 1) + b"\n", "request-too-large"),
    ],
)
def test_who_does_not_say_who_they_are_is_told_and_cut_off(server, line, code):
    with server.raw() as sock:
        sock.sendall(line)
        said = json.loads(everything(sock))
    assert (said["kind"], said["code"]) == ("refusal", code)


def test_a_question_that_is_none_is_refused_and_the_next_one_answered(server, space):
    with server.raw() as sock, sock.makefile("rb") as lines:

        def ask(**message: object) -> dict:
            sock.sendall(json.dumps(message).encode() + b"\n")
            return json.loads(lines.readline())

        assert ask(kind="hello", token=TOKENS[A], space=space)["principal"] == A
        fields = {"id": "x", "scope_key": "space"}
        refused = ask(kind="ask", n=1, ask="read", fields=fields)
        assert (refused["n"], refused["code"]) == (1, "identity-in-commit")
        refused = ask(kind="ask", n=2, ask="watch", fields={"watch": "", "id": "x"})
        assert (refused["n"], refused["code"]) == (2, "watch-invalid")
        answer = ask(kind="ask", n=3, ask="read", fields={"id": "x"})
        assert (answer["n"], answer["body"]) == (3, {"document": None})


def test_a_line_over_its_size_ends_that_connection_alone(server, client, space):
    other = client(B)
    with server.raw() as sock:
        hello = {"kind": "hello", "token": TOKENS[A], "space": space}
        sock.sendall(json.dumps(hello).encode() + b"\n")
        try:
            sock.sendall(b"x" * (MAX_LINE + 1))
        except OSError:
            pass  # the server ended it while we were sending
        said = [json.loads(line) for line in everything(sock).splitlines()]
    # What it said last may be lost with the connection; nothing of ours was answered.
    assert [one.get("code", "") for one in said[1:]] in ([], ["request-too-large"])
    assert other.commit(written("memory/x", {"text": "alive"}))


def test_a_line_of_too_many_values_is_refused_and_the_next_question_answered(client):
    a = client(A)
    wide = [{}] * (MAX_VALUES + 1)
    assert refusal(lambda: a.commit(written("wide", wide)))[0] == "document-too-large"
    past_the_client = lambda: a._talk.ask("commit", {"proposal": written("wide", wide)})  # noqa: E731
    assert refusal(past_the_client)[0] == "request-too-large"
    assert a.read("wide") is None
    assert a.commit(written("text", {"text": "[{,}]" * MAX_VALUES}))


def test_a_document_of_the_largest_size_goes_through_whole(client):
    a = client(A)
    value = {"text": "x" * ((4 << 20) - 20)}
    a.commit(written("big", value))
    assert a.read("big")["value"] == value
    assert a.watch("w", "big")["upserts"][0]["value"] == value
    page = a.documents()
    assert page["documents"][0]["id"] == "big"
    assert refusal(lambda: a.commit(written("big", {"text": "x" * (4 << 20)})))[0] == (
        "document-too-large"
    )


def test_the_folder_and_the_socket_are_the_owners_alone(server, folder):
    (place,) = (folder / "brainhooks").iterdir()
    assert [one.stat().st_mode & 0o777 for one in (place.parent, place)] == [0o700, 0o700]
    assert (place / "socket").stat().st_mode & 0o777 == 0o600


def test_the_place_of_a_server_shows_nothing_of_the_stores_address():
    place = place_of("/home/p", "redis://alice:secret@127.0.0.1/")
    assert "secret" not in place.folder
    assert place != place_of("/home/p", "") != place_of("/home/q", "")
