"""Random graphs of documents, and what a reader who knows no shortcut makes of them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from scripts.swarm_v2.memory.document import make_link
from scripts.swarm_v2.scope_key import DirtyKey, Identity, can_resolve, resolve_scope_key
from tests.support.documents import A1, A2, B1, NOBODY

NAMES = ["d0", "d1", "d2", "x/y"]
IDENTITIES = [A1, A2, B1, Identity("did:key:zA"), NOBODY]
KEYS = ["space", *(resolve_scope_key(scope, who) for scope, who in [("user", A1), ("user", B1)])]
KEYS += [resolve_scope_key("session", A1), resolve_scope_key("session", B1)]
MISSING = object()
CUT = 16

steps = st.lists(st.sampled_from(["a", "b", "0"]), max_size=2)
scopes = st.sampled_from([None, "space", "user", "session"])
links = st.builds(make_link, st.sampled_from(NAMES), scopes, steps)
leaves = st.none() | st.booleans() | st.integers(0, 2) | st.just("t") | links | links
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)
graphs = st.dictionaries(
    st.builds(DirtyKey, st.sampled_from(KEYS), st.sampled_from(NAMES)), values, max_size=10
)
types = st.sampled_from(["object", "array", "integer", "string", "null", ["object", "array"]])


def schemas(branches: bool) -> Any:
    def words(inner: Any) -> Any:
        some = {
            "type": types,
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "additionalProperties": inner,
            "items": inner,
        }
        if branches:
            some["anyOf"] = st.lists(inner, max_size=2)
        return st.fixed_dictionaries({}, optional=some)

    return st.recursive(st.just(True) | st.booleans(), words, max_leaves=5)


def branches_of(schema: Any) -> list[Any]:
    """Spell a schema out as branches without ``anyOf``."""
    if isinstance(schema, bool):
        return [{}] if schema else []
    if "anyOf" not in schema:
        return [schema]
    around = {word: value for word, value in schema.items() if word != "anyOf"}
    spelt: list[Any] = []
    for branch in schema["anyOf"]:
        for one in [branch] if not isinstance(branch, bool) else ([{}] if branch else []):
            spelt += branches_of({**around, **one})
    return spelt


def accepts(schema: Any, value: Any) -> bool:
    fits = {
        "null": value is None,
        "boolean": isinstance(value, bool),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, (int, float)) and not isinstance(value, bool),
        "string": isinstance(value, str),
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
    }
    if "type" in schema:
        asked = schema["type"]
    else:
        asked = ["object"] if {"properties", "additionalProperties"} & schema.keys() else []
        asked = asked + (["array"] if "items" in schema else [])
    names = asked if isinstance(asked, list) else [asked]
    return any(fits[name] for name in names) if names or "type" in schema else True


def below(schema: Any, value: Any) -> list[tuple[Any, Any, Any]]:
    """Return (place, part, schema) for what one branch takes of a container."""
    if isinstance(value, list):
        return [(index, one, schema.get("items", True)) for index, one in enumerate(value)]
    if not isinstance(value, dict):
        return []
    named = {"properties", "additionalProperties"} & schema.keys()
    others = schema.get("additionalProperties", not named)
    return [(k, one, schema.get("properties", {}).get(k, others)) for k, one in value.items()]


class Naive:
    """Follows every link it is asked to follow, in any order, and remembers where it has been."""

    def __init__(self, rows: dict[DirtyKey, Any], who: Identity) -> None:
        self.rows, self.who = rows, who
        self.tracked: set[DirtyKey] = set()
        self.missed: set[DirtyKey] = set()
        self._seen: dict[Any, int] = {}

    def key(self, name: str, scope: Any) -> DirtyKey | None:
        if not can_resolve(scope, self.who):
            return None
        return DirtyKey(resolve_scope_key(scope, self.who), name)

    def walk(self, key: DirtyKey, path: tuple, schema: Any, hops: int = 0, root: bool = True):
        if key not in self.rows:
            (self.tracked if root else self.missed).add(key)
            return
        self.tracked.add(key)
        place = (key, path, spelt(schema))
        if self._seen.get(place, 99) <= hops:
            return
        self._seen[place] = hops
        value, rest = down(self.rows[key], path)
        if is_link(value):
            if branches_of(schema) or (isinstance(schema, dict) and "anyOf" in schema):
                self._link(value, rest, schema, hops + 1)
        elif not rest:
            self._inside(value, schema)

    def _link(self, value: Any, rest: tuple, schema: Any, hops: int) -> None:
        body = value["$link"]
        key = self.key(body["id"], body.get("scope"))
        if key is not None and hops <= CUT:
            self.walk(key, tuple(body.get("path", ())) + rest, schema, hops, root=False)

    def _inside(self, value: Any, schema: Any) -> None:
        for branch in branches_of(schema):
            if is_link(value):
                self._link(value, (), branch, 0)
            elif accepts(branch, value):
                for _, part, wanted in below(branch, value):
                    self._inside(part, wanted)

    def value(self, key: DirtyKey, name: Any, schema: Any, stack: tuple, standing: Any) -> Any:
        """Spell the value out; ``name`` is (id, scope, path) as it was asked for."""
        chain: list[Any] = []
        while True:
            place = (name, spelt(schema))
            if place in chain:
                return MISSING
            if place in stack:
                return standing
            chain.append(place)
            if key not in self.rows:
                return MISSING
            found, rest = down(self.rows[key], name[2])
            if not is_link(found):
                return MISSING if rest else self._part(found, schema, (*stack, *chain))
            body = found["$link"]
            name = (body["id"], body.get("scope") or "space", (*body.get("path", ()), *rest))
            behind = self.key(name[0], name[1])
            if behind is None or len(chain) > CUT:
                return MISSING
            key = behind

    def _part(self, value: Any, schema: Any, stack: tuple) -> Any:
        if is_link(value):
            body = value["$link"]
            name = (body["id"], body.get("scope") or "space", tuple(body.get("path", ())))
            key = self.key(name[0], name[1])
            if key is None or schema is False:
                return MISSING
            return self.value(key, name, schema, stack, value)
        if schema is False:
            return MISSING
        branch = {} if schema is True else schema
        if not accepts(branch, value):
            return MISSING
        parts = [(k, self._part(p, s, stack)) for k, p, s in below(branch, value)]
        if isinstance(value, list):
            return [None if part is MISSING else part for _, part in parts]
        if isinstance(value, dict):
            return {name: part for name, part in parts if part is not MISSING}
        return value


def spelt(schema: Any) -> str:
    return json.dumps(True if schema == {} else schema, sort_keys=True)


def is_link(value: Any) -> bool:
    return isinstance(value, dict) and "$link" in value


def down(value: Any, path: tuple) -> tuple[Any, tuple]:
    for index, step in enumerate(path):
        if is_link(value):
            return value, path[index:]
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None, ("nowhere",)
    return value, ()
