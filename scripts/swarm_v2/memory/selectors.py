"""What part of a document somebody wants: a path, and a schema that narrows what stands there.

The schema is a subset of JSON Schema: ``true``, ``false``, ``type``, ``properties``,
``additionalProperties``, ``items``, ``anyOf``. It narrows rather than checks. Members that it
does not name are left out and their links not followed; where it names none (neither
``properties`` nor ``additionalProperties``, or no ``items``) all are taken. ``properties``
without a ``type`` asks for an object, ``items`` for an array. ``anyOf`` takes the other words
of its schema into each branch, which may replace them; what any branch takes is taken.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.document import LINK, MISSING, at, is_link, parse_link, same
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    from scripts.swarm_v2.memory.document import Link
else:
    from hooks.record import NamedTuple

MAX_SCHEMA_BYTES = 64 << 10
MAX_SCHEMA_DEPTH = 48  # schemas inside schemas; real ones stay below 12
MAX_BRANCHES = 256  # of all anyOf together
TYPES = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))
_WORDS = frozenset(("type", "properties", "additionalProperties", "items", "anyOf"))
_OBJECT_WORDS = frozenset(("properties", "additionalProperties"))


class Schema:
    """A compiled schema. Two are equal when their canonical texts are.

    Attributes:
        types: the kinds of value wanted; None for every one.
        properties: members by name; ``additional`` is for the others, None leaves them out.
        any_of: branches that replace all of the above; None where there are none.
        branching: an ``anyOf`` stands somewhere in it.
    """

    __slots__ = ("additional", "any_of", "branching", "items", "properties", "text", "types")

    def __init__(self, text: str) -> None:
        self.text = text
        self.types: frozenset[str] | None = None
        self.properties: dict[str, Schema] = {}
        self.additional: Schema | None = None
        self.items: Schema | None = None
        self.any_of: tuple[Schema, ...] | None = None
        self.branching = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Schema({self.text})"

    @property
    def everything(self) -> bool:
        return self.text == "true"

    @property
    def nothing(self) -> bool:
        return self.text == "false"

    def member(self, name: str) -> Schema | None:
        """Return the schema of an object's member; None where the member is left out."""
        return self.properties.get(name, self.additional)

    def accepts(self, value: object) -> bool:
        """Say whether a value is of a kind that is wanted; branches are not looked at."""
        if self.everything:
            return True
        return not self.nothing and (self.types is None or not self.types.isdisjoint(kinds(value)))


class Selector(NamedTuple):
    """A part of one instance: what stands at ``path``, as far as ``schema`` wants it."""

    path: tuple[str, ...]
    schema: Schema

    def covers(self, other: Selector) -> bool:
        """Say whether a walk of this one has walked the other: the same, or all above it."""
        if self == other:
            return True
        return self.schema.everything and other.path[: len(self.path)] == self.path


class Reached(NamedTuple):
    """A link that a selector comes upon, and what it wants behind it.

    ``hop`` holds where the link stands in for the very value at the selector's path: a redirect.
    """

    link: Link
    selector: Selector
    hop: bool


def _true() -> Schema:
    schema = Schema("true")
    schema.additional = schema.items = schema
    return schema


EVERYTHING = _true()
NOTHING = Schema("false")


def compile_schema(source: object) -> Schema:
    """Read a schema.

    Raises:
        MemoryRefused: ``watch-invalid``.
    """
    if source is True:
        return EVERYTHING
    try:
        text = dumps(source, sort_keys=True)
    except (TypeError, ValueError):
        raise MemoryRefused("watch-invalid", "the schema is no JSON") from None
    if len(text) > MAX_SCHEMA_BYTES:
        sentence = f"the schema has {len(text)} bytes; at most {MAX_SCHEMA_BYTES} are read"
        raise MemoryRefused("watch-invalid", sentence)
    if _check(source, 0) > MAX_BRANCHES:
        raise MemoryRefused("watch-invalid", f"at most {MAX_BRANCHES} branches of anyOf are read")
    return _compile(source, {}, {})


def kinds(value: object) -> tuple[str, ...]:
    """Return every type name that fits a JSON value: an integer is a number too."""
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, int):
        return ("integer", "number")
    if isinstance(value, float):
        return ("integer", "number") if value.is_integer() else ("number",)
    if isinstance(value, str):
        return ("string",)
    return ("array",) if isinstance(value, list) else ("object",)


def as_link(value: object) -> Link | None:
    """Read a link; None for every other value, one that is damaged included."""
    if not is_link(value):
        return None
    try:
        return parse_link(value)
    except MemoryRefused:
        # A patch can spoil a link that was whole. Whoever reads it shows it as it is: one bad
        # document must not take the others along.
        return None


def locate(value: object, path: tuple[str, ...]) -> tuple[object, tuple[str, ...]]:
    """Go down ``path`` until its end or a link; return what stands there and the rest of it.

    MISSING where the path leads nowhere.
    """
    for index, step in enumerate(path):
        if is_link(value):
            return value, path[index:]
        value = at(value, (step,))
    return value, ()


def reach(value: object, selector: Selector) -> list[Reached]:
    """Return the links of a document's value that a selector follows."""
    found, rest = locate(value, selector.path)
    link = as_link(found)
    if link is not None:
        if selector.schema.nothing:
            return []
        return [Reached(link, Selector(link.path + rest, selector.schema), True)]
    if found is MISSING or rest:
        return []
    return _inside(found, selector.schema)


def moved(
    before: object, after: object, selector: Selector
) -> tuple[tuple[Reached, ...], tuple[Reached, ...]] | None:
    """Return the links that a selector follows in ``after`` alone, and those in ``before`` alone.

    A link that is followed for another reason than before may be among both. None where the two
    are not compared: behind branches, and where the path leads to a link.
    """
    one, rest = locate(before, selector.path)
    other, left = locate(after, selector.path)
    if selector.schema.branching or rest or left or is_link(one) or is_link(other):
        return None
    went: list[Reached] = []
    came: list[Reached] = []
    heap = [(one, other, selector.schema)]
    while heap:
        old, new, wanted = heap.pop()
        if _is_inner(old, new):
            heap += _pairs(old, new, wanted)
        elif old is not new and not same(old, new):
            went += _inside(old, wanted)
            came += _inside(new, wanted)
    return tuple(came), tuple(went)


def _is_inner(old: object, new: object) -> bool:
    """Say whether two values are compared part by part."""
    if isinstance(old, dict):
        return isinstance(new, dict) and LINK not in old and LINK not in new
    return isinstance(old, list) and isinstance(new, list)


def _pairs(old: Any, new: Any, wanted: Schema) -> list[tuple[object, object, Schema]]:
    """Return what stands at each place that is not the very same object, as nearly all are."""
    if old is new or not wanted.accepts(new):
        return []
    if isinstance(new, list):
        if wanted.items is None:
            return []
        size = max(len(old), len(new))
        old, new = ([*one, *[MISSING] * (size - len(one))] for one in (old, new))
        each = zip(old, new, strict=True)
        return [(one, other, wanted.items) for one, other in each if one is not other]
    differ = [name for name, other in new.items() if old.get(name, MISSING) is not other]
    differ += old.keys() - new.keys()
    members = ((name, wanted.member(name)) for name in differ)
    return [
        (old.get(name, MISSING), new.get(name, MISSING), schema)
        for name, schema in members
        if schema is not None
    ]


def _inside(value: object, schema: Schema) -> list[Reached]:
    reached: list[Reached] = []
    heap: list[tuple[object, Schema]] = [(value, schema)]
    # Branches share the words around them: without this a small schema has large products.
    walked: set[tuple[int, int]] | None = set() if schema.branching else None
    while heap:
        item, wanted = heap.pop()
        if not isinstance(item, (dict, list)):
            continue
        if walked is not None:
            if (id(item), id(wanted)) in walked:
                continue
            walked.add((id(item), id(wanted)))
        if isinstance(item, dict) and LINK in item:
            link = None if wanted.nothing else as_link(item)
            if link is not None:
                reached.append(Reached(link, Selector(link.path, wanted), False))
            continue
        heap += _parts(item, wanted)
    return reached


def _parts(item: dict[str, object] | list[object], wanted: Schema) -> list[tuple[object, Schema]]:
    if wanted.any_of is not None:
        return [(item, branch) for branch in wanted.any_of]
    if wanted.everything:
        parts = item if isinstance(item, list) else item.values()
        return [(one, wanted) for one in parts if isinstance(one, (dict, list))]
    if not wanted.accepts(item):
        return []
    if isinstance(item, list):
        items = wanted.items
        return [] if items is None else [(one, items) for one in item]
    if not wanted.properties:
        more = wanted.additional
        return [] if more is None else [(one, more) for one in item.values()]
    members = ((one, wanted.member(name)) for name, one in item.items())
    return [(one, schema) for one, schema in members if schema is not None]


def _check(source: object, depth: int) -> int:
    """Refuse what is no schema of the subset; return how many branches it has."""
    if isinstance(source, bool):
        return 0
    if not isinstance(source, dict) or source.keys() - _WORDS:
        raise MemoryRefused(
            "watch-invalid", f"a schema is true, false, or made of {sorted(_WORDS)}"
        )
    if depth >= MAX_SCHEMA_DEPTH:
        raise MemoryRefused("watch-invalid", f"the schema is nested deeper than {MAX_SCHEMA_DEPTH}")
    _check_type(source.get("type", "null"))
    named, branches = source.get("properties", {}), source.get("anyOf", [])
    if not isinstance(named, dict) or not isinstance(branches, list):
        raise MemoryRefused("watch-invalid", "properties is an object of schemas, anyOf a list")
    below = [*named.values(), *branches]
    below += [source[word] for word in ("additionalProperties", "items") if word in source]
    return len(branches) + sum(_check(one, depth + 1) for one in below)


def _check_type(names: object) -> None:
    listed = names if isinstance(names, list) else [names]
    if not all(isinstance(name, str) and name in TYPES for name in listed):
        raise MemoryRefused("watch-invalid", f"a type is one of {sorted(TYPES)}, or a list of them")


def _compile(source: object, raw: dict[str, object], parts: dict[str, object]) -> Schema:
    """Compile one that was checked; ``parts`` are the words around it, ``raw`` their JSON."""
    if source is False:
        return NOTHING
    own: dict[str, object] = dict(source) if isinstance(source, dict) else {}
    branches = own.pop("anyOf", None)
    raw = {**raw, **own}
    parts = {**parts, **{word: _part(word, value) for word, value in own.items()}}
    if isinstance(branches, list):
        return _branching([_compile(branch, raw, parts) for branch in branches])
    return _plain(raw, parts) if raw else EVERYTHING


def _part(word: str, value: object) -> object:
    if word == "type":
        return frozenset(value if isinstance(value, list) else (value,))
    if word == "properties" and isinstance(value, dict):
        return {name: _compile(one, {}, {}) for name, one in value.items()}
    return _compile(value, {}, {})


def _branching(branches: list[Schema]) -> Schema:
    if all(branch.nothing for branch in branches):
        return NOTHING
    texts = ",".join(sorted({branch.text for branch in branches}))
    schema = Schema(f'{{"anyOf":[{texts}]}}')
    schema.any_of, schema.branching = tuple(branches), True
    return schema


def _plain(raw: dict[str, object], parts: dict[str, Any]) -> Schema:
    schema = Schema(dumps(raw, sort_keys=True))
    asked = parts.keys() & _OBJECT_WORDS
    implied = {"object"} if asked else set()
    if "items" in parts:
        implied.add("array")
    schema.types = parts.get("type", frozenset(implied) or None)
    schema.properties = parts.get("properties", {})
    schema.additional = parts.get("additionalProperties", None if asked else EVERYTHING)
    if schema.additional is NOTHING:
        schema.additional = None
    schema.items = parts.get("items", EVERYTHING)
    below = [*schema.properties.values(), schema.additional, schema.items]
    schema.branching = any(one.branching for one in below if one is not None)
    return schema
