"""Stamped caches: what a hook shows without waiting for a brain.

A document is accepted only through ``keyspace.admits``, and only with the parts (a person, a
session) that its name was made of: one copied under another name is not. A foreign document is
refused, left as it is and counted; a torn, oversized or unstamped one is a plain miss.
"""

from __future__ import annotations

import os

from hooks import atomic
from hooks.lock import held
from scripts.swarm_v2 import keyspace
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import NamedTuple

    from hooks.context.shelf import Shelf
    from scripts.swarm_v2.keyspace import Namespace
else:
    from hooks.record import NamedTuple

FOLDER = os.path.join("brain", "project-memory")
MISMATCHES = "cache-scope-mismatches.json"
_DAY_S = 86_400


class CacheKind(NamedTuple):
    """One kind of cached document. A larger or older document is a miss."""

    name: str
    max_bytes: int
    max_age_s: int


# A kind is a row. Thirty days is the agent's own retention of transcripts; a pending context
# that nobody fetched for a week belongs to a session that is over.
KINDS = {
    kind.name: kind
    for kind in (
        CacheKind("feed", 1 << 20, 30 * _DAY_S),
        CacheKind("project-memory", 1 << 20, 30 * _DAY_S),
        CacheKind("personal-memory", 1 << 20, 30 * _DAY_S),
        CacheKind("session-memory", 1 << 18, 30 * _DAY_S),
        CacheKind("pending", 1 << 18, 7 * _DAY_S),
        CacheKind("catalog", 1 << 20, 30 * _DAY_S),
        CacheKind("folder-print", 1 << 12, 30 * _DAY_S),
        CacheKind("publish-hash", 1 << 12, 365 * _DAY_S),
    )
}


def document_path(home: str, space: Namespace, kind: str, *parts: str) -> str:
    """Return where the document of ``kind`` lies; ``parts`` tell documents of one kind apart."""
    return os.path.join(home, FOLDER, keyspace.key(space, kind, *parts) + ".json")


def load(
    home: str, space: Namespace, kind: str, *parts: str, at: datetime
) -> dict[str, object] | None:
    """Return the payload that may be shown at ``at``, or None: absent, damaged, old or foreign."""
    path = document_path(home, space, kind, *parts)
    return load_from(path, home, space, kind, *parts, at=at)


def load_from(
    path: str, home: str, space: Namespace, kind: str, *parts: str, at: datetime
) -> dict[str, object] | None:
    """As ``load``, for a document that lies under another name (a claimed pending context)."""
    row = KINDS[kind]
    try:
        found = load_object(atomic.read(path, row.max_bytes))
    except OSError:
        return None
    if found is None or "namespace" not in found:
        return None
    if not keyspace.admits(found, space, kind) or found.get("parts") != list(parts):
        count_mismatch(home, kind, at=at)
        return None
    return found if _is_fresh(found.get("written_at"), at, row.max_age_s) else None


def _is_fresh(written_at: object, at: datetime, max_age_s: int) -> bool:
    """A stamp from the future (a clock stepped back, a copied home) is not fresh."""
    from hooks.clock import parse_iso

    written = parse_iso(written_at)
    return written is not None and -_DAY_S <= (at - written).total_seconds() <= max_age_s


def store(
    home: str,
    space: Namespace,
    kind: str,
    payload: dict[str, object],
    *parts: str,
    at: datetime,
) -> bool:
    """Write one document; say whether it changed. An equal one keeps its file and its time.

    Sessions notice news by the file's signature, so rewriting equal content would wake them all.
    """
    from hooks.clock import iso

    path = document_path(home, space, kind, *parts)
    before = load_from(path, home, space, kind, *parts, at=at)
    if before is not None and {name: before.get(name) for name in payload} == payload:
        return False
    stamped = {**payload, "parts": list(parts), "written_at": iso(at)}
    document = keyspace.stamp(space, kind, stamped)
    atomic.write(path, dumps(document).encode("ascii"), durable=False)
    return True


def store_feed(home: str, space: Namespace, shelf: Shelf, *, at: datetime) -> bool:
    """Write the brain's feed, after sweeping a bounded number of an older format's caches."""
    from scripts.swarm_v2.digest import sha256_hex
    from scripts.swarm_v2.wire_json import canonical

    try:
        keyspace.sweep_legacy(os.path.join(home, FOLDER))
    except OSError:  # it cannot be listed, and doctor says so; what is new must still be told
        pass
    payload: dict[str, object] = {"items": list(shelf.items), "left_out": shelf.left_out}
    content = sha256_hex(canonical(payload))
    changed = store(home, space, "feed", {**payload, "hash": content}, at=at)
    if published_hash(home, space) != content:
        stamped = keyspace.stamp(space, "publish-hash", {"hash": content})
        atomic.write(_published_path(home), dumps(stamped).encode("ascii"), durable=False)
    return changed


def _published_path(home: str) -> str:
    return os.path.join(home, "brain_adapter_hash.json")


def published_hash(home: str, space: Namespace) -> str:
    """Return the hash of the feed published last; "" for an older format's, or another brain's."""
    try:
        found = load_object(atomic.read(_published_path(home), KINDS["publish-hash"].max_bytes))
    except OSError:
        return ""
    if found is None or not keyspace.admits(found, space, "publish-hash"):
        return ""
    return str(found.get("hash", ""))


def defer_project_context(
    home: str, space: Namespace, session_id: str, payload: dict[str, object], *, at: datetime
) -> None:
    """Leave context for the session's next prompt."""
    store(home, space, "pending", payload, session_id, at=at)


def take_project_context(
    home: str, space: Namespace, session_id: str, *, at: datetime
) -> tuple[dict[str, object], str] | None:
    """Claim the session's waiting context: (payload, path to remove once it is printed).

    It is renamed before the print and removed after, so a hook killed in between leaves it to
    the next prompt: delivered at least once. A foreign one is refused and stays.
    """
    path = document_path(home, space, "pending", session_id)
    claimed = path + ".taken"
    for candidate in (claimed, path):
        payload = load_from(candidate, home, space, "pending", session_id, at=at)
        if payload is not None:
            return payload, _claimed(candidate, claimed)
    return None


def _claimed(candidate: str, claimed: str) -> str:
    """Rename before the print; "" where the home cannot be written: then it is told again."""
    try:
        os.replace(candidate, claimed)
    except OSError:
        return ""
    return claimed


def _mismatch_path(home: str) -> str:
    return os.path.join(home, FOLDER, MISMATCHES)


def count_mismatch(home: str, kind: str, *, at: datetime) -> None:
    """Count one refused read; a home that cannot be written keeps the refusal, not the count."""
    from hooks.clock import iso
    from hooks.errors import StateError
    from hooks.log import log

    log(home, iso(at), "cache", "", f"refused a {kind} document of another namespace")
    path = _mismatch_path(home)
    try:
        with held(os.path.join(home, "locks", "mismatches"), wait_s=0.2):
            counts = cache_scope_mismatches(home)
            counts[kind] = counts.get(kind, 0) + 1
            atomic.write(path, dumps(counts).encode("ascii"), durable=False)
    except (OSError, StateError):
        return


def cache_scope_mismatches(home: str) -> dict[str, int]:
    """Return how many reads were refused, per kind."""
    try:
        found = load_object(atomic.read(_mismatch_path(home), 65536)) or {}
    except OSError:
        return {}
    return {kind: count for kind, count in found.items() if isinstance(count, int)}


def cache_scope_mismatch_total(home: str) -> int:
    """Return how many reads were refused in all because a document was another namespace's."""
    return sum(cache_scope_mismatches(home).values())
