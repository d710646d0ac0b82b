from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import (
    Address,
    InstanceKey,
    declared_key,
    instance_key,
    parse_instance_key,
)
from scripts.swarm_v2.scope_key import Identity, ScopeKeyError, resolve_scope_key

VECTORS = json.loads(
    (Path(__file__).resolve().parents[2] / "vectors" / "scope_key.json").read_bytes()
)
quick = settings(deadline=None, max_examples=100)
some = st.text(min_size=1, max_size=8) | st.sampled_from(["a:b", "a%3Ab", "a/b", "%", "é", "é"])
identities = st.builds(Identity, some, some)
scopes = st.sampled_from(["space", "user", "session"])


@pytest.mark.parametrize("row", VECTORS["composite"], ids=lambda row: row["scope_key"])
def test_the_published_texts_are_those_of_the_vectors(row: dict[str, Any]) -> None:
    who = Identity(row["identity"]["principal"], row["identity"].get("sessionId"))
    address = Address(row["space"], row["id"], row["scope"], tuple(row["path"]))
    key = instance_key(address, who)
    assert key.scope_key == row["scope_key"]
    assert str(key) == row["site1_entity_key"] == row["site4_seed_memo"]
    assert str(key) == row["site5_6_tracker"] == row["site7_pending_load"]
    assert str(declared_key(address)) == row["site1_name_key"]
    assert key.change_address(address.path) == row["site8_address"]
    assert key.label(address.path) == row["site9_label"]


@pytest.mark.parametrize("row", VECTORS["doc_key"], ids=ascii)
def test_a_published_key_is_read_as_in_the_vectors(row: dict[str, Any]) -> None:
    wanted = row["parsed"] and InstanceKey("did:key:space", row["parsed"]["scopeKey"], "of:doc")
    if wanted and row["parsed"]["id"] != "of:doc":
        wanted = wanted._replace(id=row["parsed"]["id"])
    assert parse_instance_key(row["key"], "did:key:space") == wanted


@quick
@given(scopes, identities, st.text(min_size=1, max_size=8), st.sampled_from(["p", "h/o/space"]))
def test_an_instance_comes_back_from_its_text_whatever_its_id_holds(
    scope: str, who: Identity, document_id: str, space: str
) -> None:
    key = InstanceKey(space, resolve_scope_key(scope, who), document_id)
    assert parse_instance_key(str(key), space) == key


@quick
@given(identities, st.lists(st.tuples(scopes, st.sampled_from("ab")), max_size=6))
def test_for_one_identity_keys_part_documents_exactly_as_scope_names_do(
    who: Identity, asked: list[tuple[Any, str]]
) -> None:
    addresses = [Address("p", name, scope) for scope, name in asked]
    for one in addresses:
        for other in addresses:
            same_key = instance_key(one, who) == instance_key(other, who)
            assert same_key == (declared_key(one) == declared_key(other))


@quick
@given(identities, identities, st.sampled_from(["user", "session"]))
def test_for_two_identities_scoped_keys_are_never_equal(
    one: Identity, other: Identity, scope: Any
) -> None:
    address = Address("p", "preferences", scope)
    meant = one == other if scope == "session" else one.principal == other.principal
    assert (instance_key(address, one) == instance_key(address, other)) == meant


def test_an_address_that_names_its_instance_asks_no_identity() -> None:
    named = Address("p", "preferences", "space", scope_key="user:a")
    assert instance_key(named, Identity()) == InstanceKey("p", "user:a", "preferences")
    assert declared_key(named).scope == "user"


def test_an_identity_that_lacks_a_part_gets_no_instance() -> None:
    with pytest.raises(ScopeKeyError, match="require a session id"):
        instance_key(Address("p", "notes", "session"), Identity("a"))
