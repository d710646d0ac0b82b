"""The stored ``context`` of one identity, where nothing it was made from has moved since.

A few queries and no engine: a session start that finds its context imports nothing else of the
package than this and the vocabulary.
"""

from __future__ import annotations

from scripts.swarm_v2.scope_key import (
    SESSION,
    SPACE,
    USER,
    can_resolve,
    resolve_scope_key,
    scope_of,
)
from scripts.swarm_v2.wire_json import dumps, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hooks.context.database import Database
    from scripts.swarm_v2.scope_key import Identity

    Key = tuple[str, str, str]  # space, scope key, id

CONTEXT = "context"
_NARROWER = (SPACE, USER, SESSION)
_VALUES = """
SELECT scope_key, value FROM live WHERE space = ? AND branch = '' AND id = ?
    AND scope_key IN (SELECT value FROM json_each(?)) AND patch_bytes = 0
"""
_INPUTS = """
SELECT b.entity_space, b.entity_scope_key, b.entity, b.seq, coalesce(h.seq, 0) FROM basis b
LEFT JOIN head h ON h.space = b.entity_space AND h.branch = '' AND h.id = b.entity
    AND h.scope_key = b.entity_scope_key
WHERE b.space = ? AND b.branch = '' AND b.action = ? AND b.action_scope_key = ?
"""
_THERE = """
SELECT 1 FROM json_each(?) k JOIN head h ON h.space = json_extract(k.value, '$[0]')
    AND h.branch = '' AND h.id = json_extract(k.value, '$[2]')
    AND h.scope_key = json_extract(k.value, '$[1]')
WHERE h.op NOT IN ('delete', 'erase') LIMIT 1
"""


def read_context(
    db: Database, roots: Sequence[str], identity: Identity
) -> dict[str, object] | None:
    """Return what is stored for ``identity`` in ``roots[0]``; None where it must be run.

    It must where it was never made, where a recorded input is another now, where it was made
    from other roots, or where something narrower than the instance was absent for whom it was
    made and is there for ``identity``: absence narrows nothing, so a person's instance serves
    all of that person's sessions until one of them has something of its own.

    All queries see one state only inside a transaction of the caller's.

    Raises:
        HookError: what ``db`` says of the file.
    """
    found = _own(db, roots[0], identity)
    if found is None:
        return None
    key, value = found
    rows = db.rows(_INPUTS, (roots[0], CONTEXT, key))
    spaces, residue = set(), []
    depth = _NARROWER.index(scope_of(key))
    for space, scope_key, document_id, seen, now in rows:
        if not document_id:  # the row of the instance as such
            continue
        spaces.add(space)
        scope = scope_of(str(scope_key))
        if _NARROWER.index(scope) <= depth:
            if seen != now:
                return None
        elif can_resolve(scope, identity):
            residue.append((str(space), resolve_scope_key(scope, identity), str(document_id)))
    if spaces != set(roots) or _is_any_there(db, residue):
        return None
    return value


def last_context(db: Database, space: str, identity: Identity) -> dict[str, object] | None:
    """Return what was stored last for ``identity``, whatever moved since; None where nothing was.

    For whom it cannot be made now.

    Raises:
        HookError: what ``db`` says of the file.
    """
    found = _own(db, space, identity)
    return found[1] if found else None


def _own(db: Database, space: str, identity: Identity) -> tuple[str, dict[str, object]] | None:
    """Follow the redirects from the space to the identity's instance; return its key and value."""
    keys = {
        one: resolve_scope_key(one, identity) for one in _NARROWER if can_resolve(one, identity)
    }
    wanted = dumps(list(keys.values()))
    rows = {str(row[0]): row[1] for row in db.rows(_VALUES, (space, CONTEXT, wanted))}
    for key in keys.values():  # the broadest first
        value = load_object(str(rows[key])) if key in rows else None
        if value is None:
            return None
        if "$link" not in value:
            return key, value
    return None


def _is_any_there(db: Database, keys: Iterable[Key]) -> bool:
    wanted = [list(one) for one in keys]
    return bool(wanted) and db.one(_THERE, (dumps(wanted),)) is not None
