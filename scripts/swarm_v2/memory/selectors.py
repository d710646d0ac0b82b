"""What part of a document somebody wants: a path, and a schema that narrows what stands there.

The schema is a subset of JSON Schema: ``true``, ``false``, ``type``, ``properties``,
``additionalProperties``, ``items``, ``anyOf``. It narrows rather than checks. Members it does
not name are left out and their links not followed; where it names none (neither ``properties``
nor ``additionalProperties``, no ``items``) everything is taken. ``properties`` without a
``type`` means an object, ``items`` an array. ``anyOf`` takes the other words of its schema
into each branch, which may replace them; what any branch takes is taken.
"""

from __future__ import annotations

from scripts.swarm_v2.memory.document import LINK, MISSING, is_link, parse_link
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from scripts.swarm_v2.memory.document import Link
else:
    from hooks.record import NamedTuple

MAX_SCHEMA_BYTES = 64 << 10
MAX_SCHEMA_DEPTH = 48  # containers of the schema's own text; real ones stay below 12
TYPES = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))
_WORDS = frozenset(("type", "properties", "additionalProperties", "items", "anyOf"))


class Schema:
    """A compiled schema. Two are equal when their canonical texts are."""

    __slots__ = ("additional", "any_of", "branching", "items", "properties", "text", "types")

    def __init__(self, text: str) -> None:
        self.text = text
        self.types: frozenset[str] | None = None  # None: every one
        self.properties: dict[str, Schema] | None = None
        self.additional: Schema | None = None  # for members not named; None: left out
        self.items: Schema | None = None
        self.any_of: tuple[Schema, ...] | None = None
        self.branching = False  # an anyOf stands somewhere in it

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
        if self.properties is not None and name in self.properties:
            return self.properties[name]
        return self.additional

    def accepts(self, value: object) -> bool:
        """Say whether the kind of ``value`` is one that is wanted (branches not looked at)."""
        return self.types is None or not self.types.isdisjoint(kinds(value))
