"""From a root along its links, no further than a schema asks."""

from __future__ import annotations


class SchemaTracker:
    """Which part of each instance was reached: instance to selectors."""


class MissLedger:
    """Link targets that are not there, and the documents whose links lead to them."""


class SchemaMemo:
    """Values worked out during one traversal; bound to the identity of the first."""


class Traverser:
    """One walk, as the identity of its loader."""
