"""How many instances one derivation has (part 2 section 5, F1 to F8)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.instances import Instance, InstanceSet, Refit, user_of
from scripts.swarm_v2.memory.store import Seen
from scripts.swarm_v2.scope_key import Identity, resolve_scope_key

A1, A2, B1 = Identity("a", "1"), Identity("a", "2"), Identity("b", "1")
KEY = InstanceKey("proj", "user:a", "preferences")


def keys(found: InstanceSet) -> list[str]:
    return [key for key, _ in found.items()]


def test_before_anything_scoped_was_read_the_smallest_runs_for_all() -> None:
    found = InstanceSet("space")
    assert found.add(B1) == Refit(("space",))
    assert found.add(A2) == found.add(A1) == Refit()
    assert found.askers("space")[0] == A1
    assert keys(found) == ["space"]


def test_the_probe_that_found_a_users_document_becomes_that_users() -> None:
    found = InstanceSet("space")
    for one in (A1, B1):
        found.add(one)
    probe = found.get("space")
    assert probe is not None
    assert found.settle("space", probe, "user:a", A1) == Refit(("user:b",), ("space",))
    assert found.get("user:a") is probe


def test_session_depth_is_one_persons() -> None:
    found = InstanceSet("space")
    for one in (A1, A2, B1):
        found.add(one)
    found.learn("session", B1)
    assert keys(found) == ["user:a", "session:b:1"]
    assert found.add(Identity("b", "2")) == Refit(("session:b:2",))


def test_knowledge_only_narrows() -> None:
    found = InstanceSet("space")
    found.add(A1)
    found.learn("session", A1)
    assert found.learn("user", A1) == found.learn("space", A1) == Refit()
    found.remove(A1)
    assert found.add(A1) == Refit(("session:a:1",))


def test_who_has_no_principal_owns_nothing_nor_who_has_no_session_below_it() -> None:
    found = InstanceSet("space")
    assert found.add(Identity(None, "1")) == Refit()
    assert keys(found) == []
    found.add(A1)
    found.learn("session", A1)
    assert found.add(Identity("a")) == Refit()


def test_an_instance_goes_with_the_last_who_asks() -> None:
    found = InstanceSet("user")
    for one in (A1, A1, A2):
        found.add(one)
    assert found.remove(A1) == found.remove(A2) == Refit()
    assert found.remove(B1) == Refit()
    assert found.remove(A1) == Refit((), ("user:a",))


def test_a_cause_in_the_middle_of_a_run_stays_unless_the_run_read_it() -> None:
    one = Instance()
    begun = one.generation
    assert one.dirty(KEY, 5)
    one.ran([Seen(*KEY, 4)], begun)
    assert not one.is_clean
    begun = one.generation
    one.ran([Seen(*KEY, 5)], begun)
    assert one.is_clean
    assert not one.dirty(KEY, 5)
    assert one.dirty(KEY, 6)


def test_a_failed_run_adds_its_reads_to_those_of_the_last_good_one() -> None:
    one, other = Instance(), InstanceKey("proj", "space", "index")
    one.ran([Seen(*KEY, 4)], 0)
    one.failed([Seen(*other, 9)], 0, ("derivation-failed", "why"))
    assert one.seen == {KEY: 4, other: 9}
    assert (one.failures, one.fault) == (1, ("derivation-failed", "why"))


def test_the_user_of_a_session_is_found_where_names_hold_colons() -> None:
    who = Identity("did:key:z/A", "s:1")
    assert user_of(resolve_scope_key("session", who)) == resolve_scope_key("user", who)
    assert user_of("space") == "space"


identities = st.builds(
    Identity, st.sampled_from(["a", "b", "a2"]), st.sampled_from(["1", "2", None])
)
steps = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "user", "session"]), identities), max_size=25
)


@settings(deadline=None, max_examples=100)
@given(steps)
def test_the_instances_are_those_of_a_set_that_knew_all_from_the_start(
    some: list[tuple[str, Identity]],
) -> None:
    found, wanted, learned = InstanceSet("space"), [], []
    for what, who in some:
        if what == "add":
            found.add(who)
            wanted.append(who)
        elif what == "remove":
            found.remove(who)
            if who in wanted:
                wanted.remove(who)
        else:
            found.learn(what, who)  # type: ignore[arg-type]
            learned.append((what, who))
    anew = InstanceSet("space")
    for what, who in learned:
        anew.learn(what, who)  # type: ignore[arg-type]
    for who in wanted:
        anew.add(who)
    assert keys(found) == keys(anew)
    for scope_key in keys(found):
        assert found.askers(scope_key)
