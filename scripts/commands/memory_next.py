"""The next step after a refusal that names none of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.errors import MemoryRefused

_LIST = "brainhooks memory list says what there is, brainhooks memory --help what can be said"
_FAULT = "this is a fault of brainhooks: brainhooks doctor says where its log is"
_AGAIN = "say it again"
_SHOW = "brainhooks memory show ID says what stands there now; then say it again"
_STORE = "brainhooks doctor says what ails the store"
_SERVER = "brainhooks memory serve starts one; without BRAINHOOKS_MEMORY_URL nothing needs it"
_LINK = 'a link is {"$link": {"id": …, "scope": space|user|session}}, within one project'
_NOBODY = "log in to the Redis as a user; the project's documents (--scope space) need no name"
_NO_SESSION = "say it in the agent's shell, which has CLAUDE_CODE_SESSION_ID; or at another --scope"

# One for each code of ``errors.CODES``.
NEXT_STEPS = {
    "identity-in-commit": "name the scope; whose it is follows from who you are",
    "field-unknown": _FAULT,
    "request-invalid": "brainhooks memory --help says what can be said",
    "request-too-large": "write less at once; docs/scoped-memory.md has the limits",
    "scope-unknown": "say --scope space, user or session",
    "scope-key-malformed": _FAULT,
    "scope-key-mismatch": _FAULT,
    "identity-missing": _NO_SESSION,
    "instance-unnamed": _FAULT,
    "instance-refused": _FAULT,
    "instances-ambiguous": _FAULT,
    "document-invalid": "write it as docs/scoped-memory.md has it",
    "document-reserved": "write it in its form and at its scope: docs/scoped-memory.md has both",
    "person-unproven": "leave cls out; a person's own word is said at their own home, in no agent",
    "document-too-large": "write less, or several documents",
    "document-too-deep": "nest it less deep",
    "id-invalid": "an id is memory/NAME, preferences, notes, or a name of your own",
    "space-invalid": "brainhooks whoami says which project this folder is",
    "link-invalid": _LINK,
    "link-cross-space": _LINK,
    "link-circle": "brainhooks memory put ID writes a value in the place of one of its links",
    "stale-base": _SHOW,
    "stale-read": _SHOW,
    "derived-write": "change what it is made from",
    "lease-held": _AGAIN,
    "lease-lost": _AGAIN,
    "session-retired": "begin another session of the agent",
    "session-missing": _AGAIN,
    "credential-refused": "brainhooks doctor says what ails your token",
    "store-busy": f"{_AGAIN}; if it stays so, {_STORE}",
    "store-damaged": "write it anew or forget it; or restore the store from a backup",
    "server-running": "one is enough: the commands find it",
    "server-full": "end a watch or a client; until then another one has to wait",
    "server-gone": _SERVER,
    "watch-invalid": _LIST,
    "identity-changed": _FAULT,
    "derivation-failed": "brainhooks memory show status says what it cannot be made from",
}


def next_step(err: MemoryRefused) -> str:
    """Return what a person can do after a refusal."""
    if err.hint:
        return err.hint
    if err.code == "identity-missing":
        return _NO_SESSION if "session id" in str(err) or "needs a session" in str(err) else _NOBODY
    return NEXT_STEPS.get(err.code, _LIST)
