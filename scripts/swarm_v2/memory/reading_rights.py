"""Which instances a session may read: its own, and by name only while it holds the lease."""

from __future__ import annotations

from scripts.swarm_v2.memory.address import Address, InstanceKey, declared_scope
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.redirects import instance_for
from scripts.swarm_v2.scope_key import SPACE, is_scope_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from scripts.swarm_v2.memory.sessions import Session


def check_key(scope_key: object) -> None:
    """Refuse what is no canonical scope key.

    Raises:
        MemoryRefused: ``scope-key-malformed``.
    """
    if not is_scope_key(scope_key):
        sentence = f"{ascii(scope_key)[:80]} is no canonical scope key"
        raise MemoryRefused("scope-key-malformed", sentence)


def admit_reads(
    session: Session, roots: Iterable[Address], standing: Iterable[Address] = ()
) -> tuple[InstanceKey, ...]:
    """Return the instances that a session may read at these roots.

    ``standing`` are roots it reads already. An explicit key that is admitted makes the
    session ``keyed``, for good.

    Raises:
        MemoryRefused: ``scope-key-malformed``, before anything else is looked at;
            ``instances-ambiguous`` and ``instance-refused`` without a live lease, whatever rows
            exist; ``instance-unnamed`` for a serving session's scoped root without a key;
            ``identity-missing``.
    """
    wanted = tuple(roots)
    for root in wanted:
        if root.scope_key is not None:
            check_key(root.scope_key)
    session.check_open()
    keys = tuple(_root(session, root) for root in wanted)
    foreign = any(_is_foreign(session, root) for root in wanted)
    if not foreign and not session.holder:
        return keys  # one's own instances: nothing is asked of anybody
    if session.serves():
        session.keyed = session.keyed or any(root.scope_key is not None for root in wanted)
        return keys
    _refuse_two_instances(session, (*wanted, *standing))
    if foreign:
        sentence = "only who holds the space's lease may name another's instance"
        raise MemoryRefused("instance-refused", sentence)
    return keys


def _root(session: Session, root: Address) -> InstanceKey:
    if session.holder and root.scope_key is None and root.scope != SPACE:
        sentence = "a service names the instance that it reads; it has none of its own"
        raise MemoryRefused("instance-unnamed", sentence)
    return instance_for(root, session.identity)


def _is_foreign(session: Session, root: Address) -> bool:
    if root.scope_key is None:
        return False
    own = Address(root.space, root.id, declared_scope(root))
    try:
        return instance_for(own, session.identity).scope_key != root.scope_key
    except MemoryRefused:
        return True


def _refuse_two_instances(session: Session, roots: tuple[Address, ...]) -> None:
    # boundary: one read set, for the length of this call.
    seen: dict[tuple[str, str, str], str] = {}
    for root in roots:
        key = instance_for(root, session.identity)
        named = seen.setdefault((root.space, root.id, declared_scope(root)), key.scope_key)
        if named != key.scope_key:
            sentence = "without the lease, two instances of one document cannot be told apart"
            raise MemoryRefused("instances-ambiguous", sentence)
