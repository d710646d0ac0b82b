"""One instance as it was after an earlier commit. Pure reading."""

from __future__ import annotations

from scripts.swarm_v2.memory.address import InstanceKey
from scripts.swarm_v2.memory.document import merge
from scripts.swarm_v2.memory.store import ABSENT, Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripts.swarm_v2.memory.store import DocumentStore, Revision
    from scripts.swarm_v2.scope_key import DirtyKey


def document_at(
    store: DocumentStore, space: str, key: DirtyKey, at_seq: int, branch: str = ""
) -> Document | None:
    """Return an instance as commit ``at_seq`` left it; None where it was not there yet.

    What was erased since is not there either: erasing reaches back.
    """
    past = _revisions(store, space, key, at_seq, branch)
    if not past:
        return None
    value: object = None
    for revision in past:  # oldest first; a set or a delete forgets what stood before
        if revision.op == "patch":
            value = merge(value, revision.value)
        else:
            value = revision.value if revision.op == "set" else None
    newest = past[-1]
    deleted = newest.op in ("delete", "erase")
    return Document(
        space, key.scope_key, key.id, newest.seq, None if deleted else value, deleted, newest.op
    )


def _revisions(
    store: DocumentStore, space: str, key: DirtyKey, at_seq: int, branch: str
) -> list[Revision]:
    head = store.heads((InstanceKey(space, *key),), branch=branch)[InstanceKey(space, *key)]
    if head == ABSENT:
        return []
    # No instance has more revisions than its head's number: each has a number of its own.
    found = store.history(space, key.scope_key, key.id, branch=branch, limit=head)
    return [one for one in reversed(found) if one.seq <= at_seq]
