"""Asking an evaluation cache as somebody's session."""

from __future__ import annotations

from typing import Any

from scripts.swarm_v2.memory.address import Address
from scripts.swarm_v2.memory.evaluation_cache import EvaluationCache
from scripts.swarm_v2.memory.queries import Query
from scripts.swarm_v2.memory.sessions import Credential, SessionRegistry
from scripts.swarm_v2.scope_key import Identity
from tests.support.documents import Space


def session(space: Space, who: Identity) -> Any:
    registry = SessionRegistry(space.store)
    return registry.open(space.name, Credential(who.principal, "test"), who.session_id)


def ask(cache: EvaluationCache, space: Space, who: Identity, root: str = "index", **more: Any):
    address = Address(space.name, root, more.pop("scope", "space"))
    return cache.ask(space.store, Query(address, **more), session(space, who))
