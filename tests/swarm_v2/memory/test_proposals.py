from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.swarm_v2.memory.admission import parse_proposal
from scripts.swarm_v2.memory.errors import CODES, MemoryRefused
from scripts.swarm_v2.memory.proposals import Proposal

quick = settings(deadline=None, max_examples=60)

texts = st.text(max_size=6) | st.sampled_from(
    ["writes", "reads", "id", "scope", "op", "value", "base", "seq", "set", "user", "\ud800"]
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | texts
anything = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=6
)
nearly = st.fixed_dictionaries(
    {"id": texts, "value": anything},
    optional={
        "scope": st.sampled_from(["space", "user", "session", "x"]),
        "op": st.sampled_from(["set", "patch", "delete", "erase", "x"]),
        "base": anything,
        "scope_key": texts,
    },
)


@given(
    anything
    | st.builds(dict, writes=st.lists(nearly | anything, max_size=3), reads=anything)
    | st.builds(dict, writes=st.lists(nearly, max_size=3))
)
@quick
def test_whatever_is_sent_is_a_proposal_or_a_refusal(document: object) -> None:
    found: Proposal | MemoryRefused
    try:
        found = parse_proposal(document)
    except MemoryRefused as refused:
        found = refused
    if isinstance(found, MemoryRefused):
        assert found.code in CODES
        str(found).encode("utf-8")
    else:
        assert isinstance(found, Proposal)
        assert all(one.scope in ("space", "user", "session") for one in found.writes)
