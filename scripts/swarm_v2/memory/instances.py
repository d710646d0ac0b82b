"""How many times one derivation runs: once for each instance that somebody wants."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.document import SCOPES
from scripts.swarm_v2.scope_key import (
    SESSION,
    SPACE,
    USER,
    Identity,
    can_resolve,
    parse_scope_key,
    resolve_scope_key,
    scope_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scripts.swarm_v2.memory.derivations import OwnKey
    from scripts.swarm_v2.memory.store import Seen
    from scripts.swarm_v2.scope_key import Scope

ANY_SEQ = 1 << 62  # of a cause that nobody numbered: later than whatever was read


class Instance:
    """What is known of one instance.

    Attributes:
        seen: what its last run read, at which number; of a failed one too.
        causes: what moved since, at which number. It is clean where there is none.
        is_checked: whether it was compared with what is stored, since the lease was taken.
        generation: how often it was dirtied.
        fault: why the last run failed; None where it did not.
    """

    def __init__(self) -> None:
        self.seen: dict[InstanceKey, int] = {}
        self.causes: dict[InstanceKey, int] = {}
        self.is_checked = False
        self.generation = 0
        self.runs = self.failures = 0
        self.fault: tuple[str, str] | None = None
        self.faults_read = False  # whether a fault of an earlier process was looked for

    @property
    def is_clean(self) -> bool:
        return self.is_checked and not self.causes

    def dirty(self, key: InstanceKey, seq: int = ANY_SEQ) -> bool:
        """Note that an input moved to ``seq``; False where the last run had read just that.

        A cause that comes in the middle of a run stays, unless that run read it.
        """
        if self.seen.get(key, -1) >= seq:
            return False
        self.causes[key] = max(seq, self.causes.get(key, 0))
        self.generation += 1
        return True

    def know(self, seen: Iterable[Seen]) -> None:
        """Take what a run of another process read, that is to be made anew."""
        self.seen = {_key(one): one.seq for one in seen}

    def ran(self, seen: Iterable[Seen], generation: int) -> None:
        """Take what a run read that was begun at ``generation``; what it did not see stays."""
        self.seen = {_key(one): one.seq for one in seen}
        if generation == self.generation:
            self.causes = {}
        else:
            self.causes = {
                key: seq for key, seq in self.causes.items() if self.seen.get(key, -1) < seq
            }
        self.is_checked = True

    def failed(self, seen: Iterable[Seen], generation: int, fault: tuple[str, str]) -> None:
        """Take what a run read before it failed: it is tried again when something moves."""
        before = self.seen
        self.ran(seen, generation)
        self.seen = {**before, **self.seen}
        self.fault = fault
        self.failures += 1


def _key(seen: Seen) -> InstanceKey:
    return InstanceKey(seen.space, seen.scope_key, seen.id)


def user_of(scope_key: str) -> str:
    """Return the user's key of a user's or session's; ``space`` has none and is itself."""
    parsed = parse_scope_key(scope_key)
    if parsed is None or parsed.principal is None:
        return scope_key
    return resolve_scope_key(USER, Identity(parsed.principal))


class Refit(NamedTuple):
    """What another demand or other knowledge made of the instances."""

    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


class InstanceSet:
    """The instances of one derivation: a function of what is wanted and how deep it is known to be.

    Nothing scoped read yet: one, at ``space``, as the smallest identity. Then one for each person,
    and one for each session of a person of whom a session's own document was read. Knowledge only
    narrows. Who has no principal owns no instance.
    """

    def __init__(self, declared: Scope) -> None:
        self.known: Scope = declared
        # boundary: fan-out, the state of each instance by its scope key.
        self._instances: dict[OwnKey, Instance] = {}
        # boundary: demand. How often each identity of a person asks, by that user's key.
        self._people: dict[OwnKey, dict[Identity, int]] = {}
        # boundary: fan-out, the user keys of persons who are session-deep.
        self._deep: set[OwnKey] = set()

    def add(self, identity: Identity) -> Refit:
        """Let one more ask; only an instance that was not there before is new."""
        if not can_resolve(USER, identity):
            return Refit()
        person = self._people.setdefault(resolve_scope_key(USER, identity), {})
        person[identity] = person.get(identity, 0) + 1
        key = self.key_for(identity)
        if key is None or key in self._instances:
            return Refit()
        self._instances[key] = Instance()
        return Refit((key,))

    def remove(self, identity: Identity) -> Refit:
        """Let one fewer ask; an instance that serves nobody any more is gone."""
        if not can_resolve(USER, identity):
            return Refit()
        user = resolve_scope_key(USER, identity)
        person = self._people.get(user, {})
        if identity not in person:
            return Refit()
        key = self.key_for(identity)
        person[identity] -= 1
        if not person[identity]:
            del person[identity]
        if not person:
            del self._people[user]
        if key is None or self.askers(key) or self._instances.pop(key, None) is None:
            return Refit()
        return Refit((), (key,))

    def key_for(self, identity: Identity) -> str | None:
        """Return the instance that serves ``identity``; None where it can own none."""
        if not can_resolve(USER, identity):
            return None
        if self.known == SPACE:
            return SPACE
        user = resolve_scope_key(USER, identity)
        if self.known == USER and user not in self._deep:
            return user
        return resolve_scope_key(SESSION, identity) if can_resolve(SESSION, identity) else None

    def depth(self, identity: Identity) -> Scope:
        """Return how narrow results for ``identity`` are known to be."""
        key = self.key_for(identity)
        return self.known if key is None else scope_of(key)

    def askers(self, scope_key: str) -> list[Identity]:
        """Return whom an instance serves, the smallest first: that one it runs as."""
        if scope_key == SPACE:
            found = [one for person in self._people.values() for one in person]
        elif scope_of(scope_key) == USER:
            found = list(self._people.get(scope_key, ()))
        else:
            found = list(self._people.get(user_of(scope_key), ()))
        served = [one for one in found if self.key_for(one) == scope_key]
        return sorted(served, key=lambda one: (one.principal or "", one.session_id or ""))

    def learn(self, scope: Scope, identity: Identity) -> Refit:
        """Take in that something of ``identity``'s own at ``scope`` was found."""
        if scope == SPACE or not can_resolve(USER, identity):
            return Refit()
        user = resolve_scope_key(USER, identity)
        touched = [user]
        if self.known == SPACE:
            self.known, touched = USER, list(self._people)
        if scope == SESSION:
            self._deep.add(user)
        return self._refit(touched)

    def settle(self, started: str, instance: Instance, ended: str, identity: Identity) -> Refit:
        """Let the run that was begun as ``started`` be that of the instance ``ended``."""
        if started != ended and self._instances.get(started) is instance:
            del self._instances[started]
        refit = self.learn(scope_of(ended), identity)
        if self.askers(ended):
            self._instances[ended] = instance
        gone = tuple(dict.fromkeys((started, *refit.gone)))
        return Refit(
            tuple(one for one in refit.new if one != ended),
            tuple(one for one in gone if one not in self._instances),
        )

    def _refit(self, persons: Iterable[str]) -> Refit:
        new: list[str] = []
        gone: list[str] = []
        if self.known != SPACE and self._instances.pop(SPACE, None) is not None:
            gone.append(SPACE)
        for user in persons:
            wanted = {self.key_for(one) for one in self._people.get(user, ())} - {None}
            if user not in wanted and self._instances.pop(user, None) is not None:
                gone.append(user)
            for key in sorted(map(str, wanted)):
                if key not in self._instances:
                    self._instances[key] = Instance()
                    new.append(key)
        return Refit(tuple(new), tuple(gone))

    def get(self, scope_key: str) -> Instance | None:
        return self._instances.get(scope_key)

    def doubt(self) -> None:
        """Have each instance compared with what is stored before it runs."""
        for instance in self._instances.values():
            instance.is_checked = False

    def items(self) -> list[tuple[str, Instance]]:
        """Return the instances by their scope key, the broadest first."""
        return sorted(
            self._instances.items(), key=lambda one: (SCOPES.index(scope_of(one[0])), one[0])
        )

    def __len__(self) -> int:
        return len(self._instances)
