"""Defaults on first use: a person's preferences, a session's notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.address import Address, InstanceKey, instance_key
from scripts.swarm_v2.memory.admission import Admission
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.preferences import (
    DEFAULT_NOTES,
    DEFAULT_PREFERENCES,
    NOTES,
    PREFERENCES,
)
from scripts.swarm_v2.memory.proposals import Asked, Proposal
from scripts.swarm_v2.memory.store import ABSENT, Write
from scripts.swarm_v2.scope_key import SESSION, USER, can_resolve, resolve_scope_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scripts.swarm_v2.memory.sessions import Session
    from scripts.swarm_v2.memory.store import Change, DocumentStore
    from scripts.swarm_v2.scope_key import Identity, Scope


class Seed(NamedTuple):
    """What stands in an instance until its owner says otherwise."""

    id: str
    scope: Scope
    value: object


# At a person's first open. Notes come with a session's first note: an empty document for every
# session would make every person's context one for each session.
ON_OPEN = (Seed(PREFERENCES, USER, DEFAULT_PREFERENCES),)
ON_NOTE = (Seed(NOTES, SESSION, DEFAULT_NOTES),)


class SeedMemo:
    """Which seeds were found in their place, so that nobody looks again.

    One that was only written is not noted: its transaction may come to nothing, and the next
    open must write it again. What one person has says nothing of another's.
    """

    def __init__(self, store: DocumentStore) -> None:
        self._store = store
        # site 4: instances that were found present.
        self._present: set[InstanceKey] = set()

    def missing(self, space: str, identity: Identity, seeds: Iterable[Seed]) -> list[Seed]:
        """Return the seeds that ``identity`` has no document for; a deleted one was had.

        Looking leaves no trace in any read set. Seeds that need more than the identity has
        are left out.
        """
        wanted = {
            instance_key(Address(space, seed.id, seed.scope), identity): seed
            for seed in seeds
            if can_resolve(seed.scope, identity)
        }
        unknown = {key: seed for key, seed in wanted.items() if key not in self._present}
        if not unknown:
            return []
        # By number alone: who has something that is damaged has it, and can put it right.
        found = {key for key, seq in self._store.heads(unknown).items() if seq != ABSENT}
        self._present |= found
        return [seed for key, seed in unknown.items() if key not in found]

    def writes(self, session: Session, seeds: Iterable[Seed]) -> tuple[Write, ...]:
        """Return what writes the seeds that the session's identity lacks, in another's commit."""
        missing = self.missing(session.space, session.identity, seeds)
        return tuple(
            Write(one.id, resolve_scope_key(one.scope, session.identity), "set", one.value, ABSENT)
            for one in missing
        )

    def seed(self, session: Session, at: str, seeds: Iterable[Seed] = ON_OPEN) -> Change | None:
        """Write the seeds that the session's identity lacks; None where it lacks none.

        Another process that seeds at the same time is as good.

        Raises:
            MemoryRefused: as ``Admission.commit_authored``, but for ``stale-base``.
        """
        missing = self.missing(session.space, session.identity, seeds)
        if not missing:
            return None
        writes = tuple(Asked(one.id, one.scope, "set", one.value, ABSENT) for one in missing)
        try:
            return Admission(self._store).commit_authored(Proposal(writes), session, at)
        except MemoryRefused as err:
            if err.code != "stale-base":
                raise
            return None

    def forget(self, space: str) -> None:
        """Look again in a space: something erased rows there."""
        self._present = {key for key in self._present if key.space != space}

    def __contains__(self, key: InstanceKey) -> bool:
        return key in self._present
