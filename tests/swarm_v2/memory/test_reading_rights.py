from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scripts.swarm_v2.memory.address import Address, InstanceKey
from scripts.swarm_v2.memory.admission import admit_reads
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.sessions import Lease
from tests.support.memory_stores import SPACE, A, B, People, refusal

if TYPE_CHECKING:
    pass

USER_A, USER_B = "user:did%3Akey%3AzA", "user:did%3Akey%3AzB"


def test_25_the_refusal_of_a_foreign_instance_does_not_say_whether_it_exists(
    people: People,
) -> None:
    a, b = people.open(A, "a1"), people.open(B, "b1")
    people.save(a, "preferences", "user", {"secret": 1})
    told = []
    for document_id in ("preferences", "nothing"):
        with pytest.raises(MemoryRefused) as refused:
            admit_reads(b, [Address(SPACE, document_id, "user", (), USER_A)])
        told.append((refused.value.code, str(refused.value), refused.value.facts))
    assert told[0] == told[1]
    assert told[0][0] == "instance-refused"
    assert not b.keyed
    with refusal("scope-key-malformed"):  # before anybody looks who holds what
        admit_reads(b, [Address(SPACE, "x", "user", (), "user:did%3akey%3azA")])


def test_26_without_a_live_lease_two_instances_of_one_document_are_refused(
    people: People,
) -> None:
    b = people.open(B, "b1")
    own = Address(SPACE, "preferences", "user")
    foreign = own._replace(scope_key=USER_A)
    with refusal("instances-ambiguous"):
        admit_reads(b, [own, foreign])
    service = people.service("service")
    mine = own._replace(scope_key="user:service")
    assert len(admit_reads(service, [mine, foreign])) == 2
    assert service.keyed
    admit_reads(service, [Address(SPACE, "index")])
    assert service.keyed
    assert service.lease is not None
    service.lease.release()
    assert Lease(people.store, SPACE, "scheduler").acquire()
    for standing, asked in (([], [mine, foreign]), ([foreign], [mine])):
        with refusal("instances-ambiguous"):
            admit_reads(service, asked, standing)
    with refusal("instance-refused"):
        admit_reads(service, [foreign])
    assert admit_reads(service, [mine])  # its own remains
    assert service.keyed  # for good: what was delivered by key is retracted by key


def test_a_session_may_name_its_own_instance_and_is_told_nothing_by_key(people: People) -> None:
    b = people.open(B, "b1")
    named = Address(SPACE, "preferences", "user", (), USER_B)
    assert admit_reads(b, [named, named._replace(scope_key=None)]) == (
        (InstanceKey(SPACE, USER_B, "preferences"),) * 2
    )
    assert not b.keyed
