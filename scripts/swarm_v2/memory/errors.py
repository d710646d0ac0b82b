"""The one way in which scoped memory says no: a stable code, a sentence, the next step."""

from __future__ import annotations

from scripts.swarm_v2.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scripts.swarm_v2.memory.address import InstanceKey

# Callers compare codes, people read sentences. A code is never renamed or given another meaning.
CODES = {
    "identity-in-commit": "a commit, read or argument names whose instance it is",
    "field-unknown": "a commit or request has a field that does not exist",
    "request-invalid": "what was sent is no commit and no request",
    "request-too-large": "a line to a server, or what a watch would show at once, is over its size",
    "scope-unknown": "the scope is none of space, user, session",
    "scope-key-malformed": "a scope key is not canonical",
    "scope-key-mismatch": "a scope key stands beside a scope that is not its own",
    "identity-missing": "the scope needs a principal or session that the credential lacks",
    "instance-unnamed": "a derived write or a serving read does not name its instance",
    "instance-refused": "only the holder of the space's lease may name an instance",
    "instances-ambiguous": "two instances of one document, and no right to name them",
    "document-invalid": "the value is not JSON that can be stored and read back as it is",
    "document-reserved": "a document of a reserved name is not in its form, or not at its scope",
    "person-unproven": "a text would be told as a person's by somebody who is not that person",
    "document-too-large": "the document is over the stated size",
    "document-too-deep": "the document is nested over the stated depth",
    "id-invalid": "the document id is empty, too long, or not Unicode text",
    "space-invalid": "the space is empty, unknown, or not Unicode text",
    "link-invalid": "a link is not {id, scope, path}",
    "link-cross-space": "a link leads out of its space",
    "link-circle": "following a document's redirect comes back to it, or does not end",
    "stale-base": "another commit moved a written document since it was read",
    "stale-read": "another commit moved a document that the commit relies on",
    "derived-write": "an author wrote what only the process that recomputes writes",
    "lease-held": "another process holds the space's lease",
    "lease-lost": "the lease is not held, or no longer",
    "session-retired": "the session was ended for good",
    "session-missing": "the session is not open",
    "credential-refused": "the credential proves nobody",
    "store-busy": "the store did not answer in time; nothing was written",
    "store-damaged": "the store does not hold what was written to it",
    "server-running": "another server serves this store already",
    "server-full": "the server has as many clients as it serves",
    "server-gone": "there is no server at the address, or it ended the connection",
    "watch-invalid": "the watch or its schema cannot be read, or is one too many",
    "identity-changed": "one transaction or memo was handed a second identity",
    "derivation-failed": "a derivation raised; its last good result stays",
}


class MemoryRefused(StoreError):
    """A commit, read or session was refused; nothing was written.

    ``code`` is one of ``CODES``; ``facts`` hold what a program may act on (``current`` is the
    sequence number that a stale base met).
    """

    def __init__(self, code: str, sentence: str, hint: str = "", **facts: object) -> None:
        self.code, self.hint, self.facts = code, hint, facts
        super().__init__(sentence)


def unreadable(err: MemoryRefused, key: InstanceKey) -> MemoryRefused:
    """Return ``store-damaged`` of one document's value, and how its author mends it."""
    hint = "write it anew or forget it; or restore the store from a backup"
    return MemoryRefused(err.code, f"{key.id!r} cannot be read: {err}", hint, key=key)
