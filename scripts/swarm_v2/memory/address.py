"""Where a document is: as it is declared (scope), and as one instance (scope key).

In memory a key is one of these tuples, so that no separator can go wrong; ``label`` and
``__str__`` write the published texts for the wire, logs and the status page.
"""

from __future__ import annotations

from scripts.swarm_v2.scope_key import SPACE, parse_scope_key, resolve_scope_key, scope_of
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from scripts.swarm_v2.scope_key import Identity, Scope
else:
    from hooks.record import NamedTuple


class Address(NamedTuple):
    """A document, or the part of it at ``path``, as somebody asks for it.

    ``scope_key`` names one instance and then wins over ``scope`` and over every identity.
    """

    space: str
    id: str
    scope: Scope = SPACE
    path: tuple[str, ...] = ()
    scope_key: str | None = None


class InstanceKey(NamedTuple):
    """One instance of a document; ``str`` is the published ``space/key/id``."""

    space: str
    scope_key: str
    id: str

    def __str__(self) -> str:
        return f"{self.space}/{self.scope_key}/{self.id}"

    def label(self, path: tuple[str, ...] = ()) -> str:
        """Return ``space/id/key/path``, for people only: ids may hold slashes."""
        return "/".join((self.space, self.id, self.scope_key, *path))

    def change_address(self, path: tuple[str, ...] = ()) -> str:
        """Return ``/key/id/json-path``; a batch of changes belongs to one space."""
        return f"/{self.scope_key}/{self.id}/{dumps(list(path))}"


class DeclaredKey(NamedTuple):
    """A document by the *name* of its scope: for who writes what others read, nothing else."""

    space: str
    scope: Scope
    id: str

    def __str__(self) -> str:
        return f"{self.space}/{self.scope}/{self.id}"


def instance_key(address: Address, identity: Identity) -> InstanceKey:
    """Return the instance that ``identity`` means by ``address``.

    Raises:
        ScopeKeyError: the scope needs a part that the identity does not have.
    """
    key = address.scope_key
    if key is None:
        key = resolve_scope_key(address.scope, identity)
    return InstanceKey(address.space, key, address.id)


def declared_key(address: Address) -> DeclaredKey:
    """Return who ``address`` is for topology; an explicit key gives its own scope."""
    return DeclaredKey(address.space, declared_scope(address), address.id)


def declared_scope(address: Address) -> Scope:
    """Return the scope of an address; an explicit key wins over the scope that stands beside it."""
    return address.scope if address.scope_key is None else scope_of(address.scope_key)


def parse_instance_key(text: str, space: str) -> InstanceKey | None:
    """Read ``str(InstanceKey)`` of a known space; ids may hold slashes, scope keys cannot."""
    start = f"{space}/"
    if not text.startswith(start):
        return None
    scope_key, slash, document_id = text[len(start) :].partition("/")
    if not slash or not document_id or parse_scope_key(scope_key) is None:
        return None
    return InstanceKey(space, scope_key, document_id)
