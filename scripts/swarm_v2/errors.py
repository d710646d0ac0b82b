"""What can go wrong with keys and stored documents. Knows nothing of hooks."""

from __future__ import annotations


class StoreError(Exception):
    """Root of the package's errors."""


class ScopeKeyError(StoreError):
    """A scope key cannot be built: the scope is unknown, or a part of the identity is unusable."""

    def __init__(self, scope: object, part: str, sentence: str) -> None:
        self.scope, self.part = scope, part
        super().__init__(sentence)
