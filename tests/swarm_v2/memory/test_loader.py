from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.loader import DocumentLoader
from scripts.swarm_v2.scope_key import DirtyKey
from tests.support.documents import A1, A2, B1, NOBODY, Documents, Space, documents, of


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Documents]:
    yield from documents(tmp_path_factory.mktemp("store"))


@pytest.fixture
def space(made: Documents) -> Space:
    return made.space()


def loader(space: Space, who: Any = A1, **more: Any) -> DocumentLoader:
    return DocumentLoader(space.store, space.name, who, **more)


def mine(space: Space, document_id: str = "preferences", scope: Any = "user", **more: Any) -> Any:
    return Address(space.name, document_id, scope, **more)


def value(found: Any) -> object:
    return None if found is None else found.value


def test_each_identity_gets_its_own_instance_of_one_address(space: Space) -> None:
    space.put("preferences", "A", "user", A1)
    space.put("preferences", "B", "user", B1)
    assert value(loader(space, A1).load(mine(space))) == "A"
    assert value(loader(space, A2).load(mine(space))) == "A"
    assert value(loader(space, B1).load(mine(space))) == "B"


def test_an_explicit_key_wins_and_lies_beside_the_own_instance(space: Space) -> None:
    space.put("preferences", "A", "user", A1)
    space.put("preferences", "B", "user", B1)
    load = loader(space, A1)
    foreign = mine(space, scope_key=of("user", B1))
    assert value(load.load(foreign)) == "B"
    assert value(load.load(mine(space))) == "A"
    assert value(load.load(foreign)) == "B"
    assert load.loads == 2


def test_what_was_absent_is_remembered_until_it_is_invalidated(space: Space) -> None:
    load = loader(space)
    assert load.load(mine(space)) is None
    dirty = space.put("preferences", "A", "user", A1)
    assert load.load(mine(space)) is None
    assert load.loads == 1
    load.invalidate(dirty)
    assert value(load.load(mine(space))) == "A"


def test_a_foreign_instance_that_was_named_can_be_invalidated_too(space: Space) -> None:
    load = loader(space, A1)
    foreign = mine(space, scope_key=of("user", B1))
    load.load(foreign)
    load.load(mine(space))
    load.invalidate(space.put("preferences", "B", "user", B1))
    assert value(load.load(foreign)) == "B"
    assert load.load(mine(space)) is None
    assert load.loads == 3


def test_a_document_whose_value_is_null_is_there(space: Space) -> None:
    space.put("nothing", None)
    load = loader(space)
    found = load.load(mine(space, "nothing", "space"))
    assert found is not None
    assert found.value is None
    assert not found.deleted
    assert load.load(mine(space, "nothing", "space")) is found


def test_ids_with_slashes_and_nul_are_ids_like_others(space: Space) -> None:
    for document_id in ("memory/a/b", "a\0b", "user:x/y"):
        space.put(document_id, document_id)
        assert value(loader(space).load(mine(space, document_id, "space"))) == document_id


def test_many_are_one_question_and_each_is_asked_once(space: Space) -> None:
    space.put("a", 1)
    load = loader(space)
    asked = [mine(space, name, "space") for name in ("a", "b", "a")]
    found = load.load_instances(map(load.key_of, asked))
    assert [value(found[load.key_of(one)]) for one in asked] == [1, None, 1]
    assert load.loads == 2
    load.load_instances(map(load.key_of, asked))
    assert load.loads == 2


def test_a_head_is_told_without_loading_a_body(space: Space) -> None:
    load = loader(space)
    assert load.head(mine(space)) == 0
    space.put("other", 1)
    dirty = space.put("preferences", "A", "user", A1)
    assert load.head(mine(space)) == 0
    load.invalidate(dirty)
    assert load.head(mine(space)) == 2
    assert load.loads == 0
    assert value(load.load(mine(space))) == "A"
    assert load.head(mine(space)) == 2


def test_merging_takes_later_absence_over_presence_and_the_reverse(space: Space) -> None:
    space.put("there", 1)
    old = loader(space)
    old.load(mine(space, "there", "space"))
    old.load(mine(space, "later", "space"))
    old.head(mine(space, "later", "space"))
    space.put("later", 2)
    other = space.store
    fresh = loader(space)
    fresh.load(mine(space, "later", "space"))
    old.merge_from(fresh)
    assert value(old.load(mine(space, "later", "space"))) == 2
    assert old.head(mine(space, "later", "space")) == 2
    gone = DocumentLoader(other, space.name, A1)
    gone.load(mine(space, "never", "space"))
    filled = loader(space)
    space.put("never", 3)
    filled.load(mine(space, "never", "space"))
    filled.merge_from(gone)
    assert filled.load(mine(space, "never", "space")) is None


def test_loaders_of_two_identities_do_not_merge(space: Space) -> None:
    for other in (
        loader(space, B1),
        loader(space, A2),
        loader(space, A1, branch="trial"),
        DocumentLoader(space.store, "another", A1),
    ):
        with pytest.raises(MemoryRefused) as refusal:
            loader(space, A1).merge_from(other)
        assert refusal.value.code == "identity-changed"


def test_a_loader_shared_with_another_identity_hands_over_the_space_s_rows_alone(
    space: Space,
) -> None:
    space.put("index", 1)
    space.put("preferences", "A", "user", A1)
    space.put("preferences", "B", "user", B1)
    load = loader(space, A1)
    addresses = [mine(space, "index", "space"), mine(space), mine(space, "notes", "session")]
    load.load_instances(map(load.key_of, addresses))
    theirs = load.shared_with(B1)
    assert value(theirs.load(addresses[0])) == 1
    assert theirs.loads == 0
    assert value(theirs.load(addresses[1])) == "B"
    assert {one.scope_key for one in theirs.present()} == {"space", of("user", B1)}
    again = load.shared_with(A1)
    again.load_instances(map(again.key_of, addresses))
    assert again.loads == 0


@pytest.mark.parametrize(
    ("address", "code"),
    [
        (Address("P", "x", "user"), "identity-missing"),
        (Address("P", "x", "session"), "identity-missing"),
        (Address("P", "x", "own"), "scope-unknown"),  # type: ignore[arg-type]
        (Address("P", "x", scope_key="user:%41"), "scope-key-malformed"),
        (Address("P", "x", scope_key=""), "scope-key-malformed"),
        (Address("Q", "x"), "link-cross-space"),
    ],
)
def test_what_names_no_instance_is_refused_by_code(
    made: Documents, address: Address, code: str
) -> None:
    with pytest.raises(MemoryRefused) as refusal:
        DocumentLoader(made.store, "P", NOBODY).load(address)
    assert refusal.value.code == code


def test_the_past_is_read_as_each_commit_left_it(space: Space) -> None:
    space.put("x", {"a": 1, "b": {"c": 2}})
    space.patch("x", {"b": {"c": None, "d": 3}})
    space.put("other", 1)
    space.delete("x")
    space.patch("x", {"e": 5})
    space.put("x", {"f": 6})
    past = []
    for seq in range(8):
        found = loader(space, at_seq=seq).load(mine(space, "x", "space"))
        past.append(None if found is None else (found.seq, found.deleted, found.value))
    assert past == [
        None,
        (1, False, {"a": 1, "b": {"c": 2}}),
        (2, False, {"a": 1, "b": {"d": 3}}),
        (2, False, {"a": 1, "b": {"d": 3}}),
        (4, True, None),
        (5, False, {"e": 5}),
        (6, False, {"f": 6}),
        (6, False, {"f": 6}),
    ]
    assert loader(space, at_seq=3).head(mine(space, "x", "space")) == 2


def test_what_was_erased_is_gone_from_the_past_too(space: Space) -> None:
    space.put("x", "secret")
    space.erase("x")
    assert loader(space, at_seq=1).load(mine(space, "x", "space")) is None
    erased = loader(space, at_seq=2).load(mine(space, "x", "space"))
    assert erased is None or erased.deleted


def test_a_past_longer_than_a_page_is_read_whole(space: Space) -> None:
    space.put("x", {"n": 0})
    for number in range(1, 151):
        space.patch("x", {"n": number})
    found = loader(space, at_seq=3).load(mine(space, "x", "space"))
    assert value(found) == {"n": 2}
    assert DirtyKey("space", "x") == DirtyKey(found.scope_key, found.id)  # type: ignore[union-attr]
