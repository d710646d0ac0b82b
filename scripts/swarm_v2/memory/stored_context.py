"""The stored ``context`` of one identity, where nothing it was made from has moved since.

Two queries and no engine: a session start that finds its context imports nothing else of the
package than this, the vocabulary and the errors.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hooks.context.database import Database
    from scripts.swarm_v2.scope_key import Identity

CONTEXT = "context"


def read_context(db: Database, roots: Sequence[str], identity: Identity) -> object | None:
    """Return the value of this identity's own instance in ``roots[0]``; None where it must be run.

    It must where it was never made, where one of its recorded inputs is another now, where it
    was made from other roots, or where a session's own input was absent for the session that
    made it and is there for this one: absence narrows nothing, so one instance of a person
    serves all of that person's sessions until one of them has something of its own.
    """
    raise NotImplementedError
