"""What may happen in a game of scoped memory: who, what, where, and what must be refused."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from scripts.swarm_v2.memory.document import make_link
from tests.support.memory_seats import DERIVED, SCOPES

# Names that a careless key would take for one another, or for a part of one another.
CASTS = [
    ("did:key:zA", "did:key:zA2", "did:key:zB"),
    ("a", "a:b", "a%3Ab"),
    ("é", "e\u0301", "%C3%A9"),
    ("space", "user:space", "session:space:c"),
    ("p/q", "p%2Fq", "p\0q"),
]
SESSIONS = [("1", "11"), ("c", "b:c"), ("a/1", "a/1%2F")]
SLUGS = ["x", "a/b", "a:b", "n\0l"]
IDS = [*(f"memory/{slug}" for slug in SLUGS), "x/y", "user:a/x", "x\0y"]
SAID = [{}, {"type": "decision"}, {"title": "long " * 200}]  # so that an index is patched in place
TITLES = {"properties": {"title": True, "summary": True}}
WATCHED: list[Any] = [
    *((name, "user" if name == "status" else "space", (), True) for name in DERIVED),
    *(("index", scope, (), True) for scope in SCOPES),
    ("index", "space", (), {"properties": {"links": {"additionalProperties": TITLES}}}),
    ("index", "space", ("links", "x"), True),
    ("preferences", "user", (), True),
    ("notes", "session", (), True),
    *((id, scope, (), True) for id in ("x/y", "memory/x", "x\0y") for scope in SCOPES),
]

scopes = st.sampled_from(SCOPES)
slugs = st.sampled_from(["x", "x", "x", *SLUGS])
who = st.tuples(
    st.sampled_from([0, 0, 1]), st.sampled_from([0, 0, 1, 1, 2]), st.sampled_from([0, 0, 1])
)
links = st.builds(make_link, st.sampled_from(IDS), st.sampled_from([None, *SCOPES]))
values = links | st.dictionaries(st.sampled_from(["a", "b", "text"]), st.none() | links, max_size=2)
ops = st.sampled_from(["set", "set", "patch", "delete", "erase"])
ids = st.sampled_from(["memory/x", "x/y", *IDS])
SEATS = [(person, session) for person in range(3) for session in range(2)]
lost = st.sampled_from([[], [], SEATS, SEATS[:2], SEATS[2:]])
REFUSED = {"link-circle", "stale-base", "document-invalid"}
BAD: list[dict[str, Any]] = [
    {"id": "x/y", "value": 1, "scope_key": "space"},
    {"id": "x/y", "value": 1, "principal": "a"},
    {"id": "x/y", "value": 1, "scope": "everybody"},
    {"id": "x/y", "value": 1, "scope": "user", "base": 99_999},
    {"id": "x/y", "op": "erase", "base": 99_999},
    {"id": "notes", "op": "patch", "scope": "session", "value": {"goals": ["\ud800"]}},
    {"id": "x/y", "value": {"a": {"$link": {"id": "x", "space": "other"}}}},
    {"id": "x/y", "value": {"a": {"$link": {"id": "x", "scope": "mine"}}}},
    {"id": "q", "value": make_link("q")},
    {"id": "", "value": 1},
    {"id": "context", "scope": "space", "value": {"text": "mine"}},
    {"id": "status", "scope": "user", "op": "patch", "value": {"text": "mine"}},
]
