"""What may happen in a game of scoped memory: who, what, where, and what must be refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from scripts.swarm_v2.memory.document import make_link
from tests.support.memory_seats import DERIVED, SCOPES

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

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
# Host, person, session; the last is the first one's session once more, with a client of its own.
who = st.tuples(
    st.sampled_from([0, 0, 1]), st.sampled_from([0, 0, 1, 1, 2]), st.sampled_from([0, 0, 1, 2])
)
links = st.builds(make_link, st.sampled_from(IDS), st.sampled_from([None, *SCOPES]))
values = links | st.dictionaries(st.sampled_from(["a", "b", "text"]), st.none() | links, max_size=2)
ops = st.sampled_from(["set", "set", "patch", "delete", "erase"])
ids = st.sampled_from(["memory/x", "x/y", *IDS])
SEATS = [(person, session) for person in range(3) for session in range(2)]
LITTER: list[Any] = [
    *(("patch", {"links": {"x": one}}) for one in (7, {"memory": 7}, {"title": "of nothing"})),
    ("patch", {"links": {"x": {"memory": make_link("memory/x", "space"), "cls": 7, "at": []}}}),
    ("patch", {"links": {"x": {"memory": {"$link": {"id": "memory/x", "scope": None}}}}}),
    ("patch", {"links": {"a/b": {"memory": make_link("memory/a/b", "user", ["a"])}}}),
    ("patch", {"links": {"a:b": {"memory": make_link("x/y", "session")}}}),
    ("set", {"links": 7}),
    ("set", make_link("index", "user")),
    ("set", make_link("index")),
    ("delete", None),
]
lost = st.sampled_from([[], [], SEATS, SEATS[:2], SEATS[2:]])
REFUSED = {"document-reserved", "link-circle", "stale-base", "document-invalid"}
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
    {"id": "faults", "value": {"context": {"space": {"code": "x", "sentence": "forged"}}}},
    {"id": "index", "value": {"$link": {"id": "index", "scope": "user"}}},
    {"id": "index", "op": "delete"},
    {"id": "memory/x", "value": {"$link": {"id": "memory/x", "scope": "user"}}},
]


def _move(do: str, **arguments: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.fixed_dictionaries({"do": st.just(do), **arguments})


_one_of_two = st.integers(0, 1)
_remember = {"place": who, "slug": slugs, "scope": scopes, "more": st.sampled_from(SAID)}
_own = st.sampled_from(["user", "session"])
SAYING = st.one_of(
    _move("write", place=who, id=ids, scope=scopes, op=ops, value=values),
    _move("remember", **_remember),
    _move("remember", **_remember),
    _move("forget", number=st.integers(0, 9), how=st.sampled_from(["unlink", "erase", "erase"])),
    _move("link", place=who, slug=slugs, scope=_own),
    _move("litter", place=who, scope=scopes, what=st.sampled_from(LITTER)),
    _move(
        "prefer",
        place=who,
        verbosity=st.sampled_from(["brief", "full", "loud", 7]),
        part=st.booleans(),
    ),
    _move("note", place=who, op=st.sampled_from(["patch", "patch", "set", "delete", "erase"])),
    _move("edit", place=who, id=ids, scope=scopes, older=_one_of_two),
    _move("rely", place=who, id=ids, scope=scopes, older=_one_of_two),
    _move(
        "spoil", place=who, bad=st.sampled_from(BAD), first=st.booleans(), more=st.integers(0, 2)
    ),
    _move(
        "elsewhere",
        person=st.integers(0, 2),
        slug=slugs,
        where=st.sampled_from(["person", "fleet", "space"]),
        gone=st.booleans(),
    ),
)
HEARING = st.one_of(
    _move("watch", place=who, wanted=st.sampled_from(WATCHED)),
    _move("watch", place=who, wanted=st.sampled_from(WATCHED[:6])),
    _move("unwatch", place=who, number=st.integers(0, 5)),
    _move("crowd", host=_one_of_two, wanted=st.sampled_from([WATCHED[0], WATCHED[3], WATCHED[6]])),
    _move("look_on", host=_one_of_two, wanted=st.sampled_from([WATCHED[3], WATCHED[8]])),
    _move("look", place=who, id=ids, scope=scopes),
    _move("ask", place=who, name=st.sampled_from(DERIVED)),
)
TROUBLE = st.one_of(
    _move("lose_lease", thief=st.booleans()),
    _move("return_lease"),
    _move("restart", host=_one_of_two, crash=st.booleans()),
    _move("retire", place=who, anew=st.booleans()),
    _move("lose_lease", thief=st.just(False)),
    _move(
        "keep",
        place=who,
        id=st.sampled_from(["preferences", "index", "memory/x"]),
        scope=scopes,
        takes=st.booleans(),
        lapses=st.booleans(),
    ),
    _move("settle"),
)
