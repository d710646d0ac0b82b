"""Redirects: documents whose whole value is one link, followed into the reader's own instance."""

from __future__ import annotations

from scripts.swarm_v2.memory.address import Address, InstanceKey, instance_key
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.scope_key import (
    SPACE,
    Identity,
    ScopeKeyError,
    applies_to,
    parse_scope_key,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripts.swarm_v2.memory.document import Link

MAX_HOPS = 16


def instance_for(address: Address, identity: Identity) -> InstanceKey:
    """Return the instance that ``identity`` means by ``address``.

    Raises:
        MemoryRefused: ``identity-missing`` or ``scope-unknown``.
    """
    try:
        return instance_key(address, identity)
    except ScopeKeyError as err:
        code = "scope-unknown" if err.part == "scope" else "identity-missing"
        raise MemoryRefused(code, str(err)) from None


def hop(key: InstanceKey, link: Link, identity: Identity) -> InstanceKey:
    """Return where a redirect at ``key`` leads a reader: into the reader's own instance.

    At an instance that is not the reader's, it leads on within what that instance says of whose
    it is. A link without a scope means the space.

    Raises:
        MemoryRefused: ``identity-missing``; ``instance-unnamed`` where another's instance does
            not say whose the next one is.
    """
    address = Address(key.space, link.id, link.scope or SPACE)
    if applies_to(key.scope_key, identity):
        return instance_for(address, identity)
    try:
        return instance_key(address, owner_of(key.scope_key))
    except ScopeKeyError:
        sentence = "the redirect of another's instance does not say whose the next one is"
        raise MemoryRefused("instance-unnamed", sentence) from None


def owner_of(scope_key: str) -> Identity:
    """Return whom an instance belongs to, as far as its key says."""
    parsed = parse_scope_key(scope_key)
    return Identity(parsed.principal, parsed.session_id) if parsed else Identity()


def check_circle(key: InstanceKey, passed: set[InstanceKey]) -> None:
    """Add a hop's end to what was ``passed``, which begins with where the walk began.

    Raises:
        MemoryRefused: ``link-circle`` for what was passed before, or after too many hops.
    """
    if key in passed:
        raise MemoryRefused("link-circle", "the redirects of a document come back to it")
    if len(passed) > MAX_HOPS:
        raise MemoryRefused("link-circle", f"a document redirects more than {MAX_HOPS} times")
    passed.add(key)
