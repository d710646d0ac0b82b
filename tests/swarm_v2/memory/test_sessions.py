from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.sessions import Credential, Lease, SessionRegistry
from scripts.swarm_v2.scope_key import Identity
from tests.support.memory_stores import SPACE, A, B, People, refusal
from tests.support.redis_servers import until

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.store import DocumentStore


def test_a_sessions_identity_is_the_credentials_and_the_harnesses(people: People) -> None:
    session = people.open(A, "a1")
    assert session.identity == Identity(A, "a1")
    assert session.session_key == "session:did%3Akey%3AzA:a1"
    assert (session.holder, session.keyed, session.lapsed, session.watches) == (
        "",
        False,
        False,
        {},
    )


@pytest.mark.parametrize("who", [(None, None), (None, "s"), (A, None), ("", "s"), (A, "")])
def test_without_a_principal_and_a_session_id_there_is_no_session_key(
    sqlite_store: DocumentStore, who: tuple[str | None, str | None]
) -> None:
    session = People(sqlite_store).open(*who)
    assert session.session_key == ""
    assert session.identity == Identity(who[0] or None, who[1] or None)


def test_a_chosen_session_id_reaches_only_the_same_principals_rows(people: People) -> None:
    mine, theirs = people.open(A, "same"), people.open(B, "same")
    people.save(mine, "notes", "session", "of A")
    assert people.value(theirs, "notes", "session") is None
    assert people.registry.of(SPACE) == [mine, theirs]
    for odd in ("a:b", "a/../b", "%", "*", "a%3Ab"):
        session = people.open(B, odd)
        people.save(session, "notes", "session", odd)
        assert session.session_key.startswith("session:did%3Akey%3AzB:")
    assert people.value(mine, "notes", "session") == "of A"


@pytest.mark.parametrize(
    ("principal", "session_id", "space", "code"),
    [
        ("\ud800", "s", SPACE, "credential-refused"),
        (A, "\ud800", SPACE, "request-invalid"),
        (A, 7, SPACE, "request-invalid"),
        (7, "s", SPACE, "credential-refused"),
        (A, "s", "", "space-invalid"),
        (A, "s", "unknown", "space-invalid"),
        (A, "s", "\ud800", "space-invalid"),
    ],
)
def test_what_names_nobody_opens_no_session(
    sqlite_store: DocumentStore, principal: str, session_id: str, space: str, code: str
) -> None:
    registry = SessionRegistry(sqlite_store)
    with refusal(code):
        registry.open(space, Credential(principal, "test"), session_id)
    assert registry.spaces() == []


def test_the_registry_knows_which_sessions_are_open(people: People) -> None:
    registry = people.registry
    first, again = people.open(A, "a1"), people.open(A, "a1")
    other = registry.open("other", Credential(A, "test"), "a1")
    assert registry.of(SPACE) == [first, again]
    assert registry.spaces() == [SPACE, "other"]
    assert registry.with_key(first.session_key) == [first, again, other]
    registry.close(first)
    registry.close(first, "session-retired")
    assert registry.of(SPACE) == [again]
    with refusal("session-missing"):  # as it was closed first
        first.check_open()
    registry.close(again, "session-retired")
    with refusal("session-retired"):
        again.check_open()
    other.check_open()
    assert registry.spaces() == ["other"]


# --- the lease


def test_a_second_process_of_the_same_service_does_not_pass(people: People) -> None:
    one, two = (Lease(people.store, SPACE, "scheduler") for _ in range(2))
    assert one.holder != two.holder
    assert one.holder.startswith("scheduler:")
    assert [one.acquire(), two.acquire()] == [True, False]
    assert [one.live(), two.live()] == [True, False]
    assert one.acquire(), "it is prolonged"
    assert not two.release()
    assert one.release()
    assert not one.live()
    assert two.acquire()


def test_a_lapsed_lease_is_whosever_takes_it_next(people: People) -> None:
    lease = Lease(people.store, SPACE, "scheduler", ttl_ms=1)
    assert lease.acquire()
    until(lambda: not lease.live())
    lasting = Lease(people.store, SPACE, "scheduler")
    assert lasting.acquire()
    assert not lease.acquire()


def test_each_space_has_a_lease_of_its_own(people: People) -> None:
    assert Lease(people.store, SPACE, "scheduler").acquire()
    assert Lease(people.store, "other", "scheduler").acquire()
    with refusal("space-invalid"):
        Lease(people.store, "unknown", "scheduler")


def test_a_session_serves_its_space_while_its_lease_is_live(people: People) -> None:
    service = people.service()
    assert service.lease is not None
    assert service.holder == service.lease.holder
    assert service.serves()
    service.lease.release()
    assert not service.serves()
    assert service.holder  # it is still nobody's ordinary session
    assert service.lease.acquire()
    assert service.serves()
    assert not people.open(A, "a1").serves()
