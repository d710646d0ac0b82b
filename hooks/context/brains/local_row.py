"""What is posted, as a row of the embedded brain."""

from __future__ import annotations

from hooks.context.brains import signer
from hooks.context.brains.local_schema import BRANCH
from hooks.context.thought import digest_of, scope_of
from hooks.errors import BrainRefused
from scripts.swarm_v2.scope_key import Identity, ScopeKeyError, resolve_scope_key
from scripts.swarm_v2.wire_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "local"
FLEET = "fleet"  # the space of what was shared with everybody
UNKNOWN = "unknown"  # the space of what belongs to no known project


def row_of(body: Mapping[str, object], key: str, who: str) -> dict[str, object]:
    """Return the columns of a new memory.

    Raises:
        BrainRefused: it is not a marker, or its scope names nobody.
    """
    type_, text, attrs = body.get("type"), body.get("content"), body.get("attrs")
    if not isinstance(type_, str) or not isinstance(text, str) or not isinstance(attrs, dict):
        raise BrainRefused(NAME, "it is not a marker")
    get = {name: value for name, value in attrs.items() if isinstance(value, str)}.get
    scope, session = scope_of(attrs), get("session_id", "")
    try:
        scope_key = resolve_scope_key(scope, Identity(signer(body, who), session))
    except ScopeKeyError as err:
        raise BrainRefused(NAME, str(err)) from None
    project = get("project_id", "")
    project = "" if project == UNKNOWN or get("share") == FLEET else project
    cls = "person" if get("class") == "person" else "agent"
    space = FLEET if get("share") == FLEET else project or UNKNOWN
    crosses = type_ == "signal" or space == FLEET or scope == "user"  # as _CROSSES
    return {
        "space": space,
        "branch": BRANCH,
        "id": key,
        "scope_key": scope_key,
        "type": type_,
        "text": text,
        "cls": cls,
        **{name: get(name, "") for name in ("severity", "title", "message_id", "path")},
        "at": get("ts", ""),
        "project": project,
        "session": session,
        "supersedes": get("supersedes", "").lower(),
        "attrs": dumps(attrs, sort_keys=True),
        "digest": digest_of(type_, scope, text),
        "accepted": int(cls == "person" and crosses),
        "superseded_by": "",
    }
