"""What is posted, as a row of the embedded brain; a row as its document; a document as an item."""

from __future__ import annotations

from hooks.context.brains import Item, signer
from hooks.context.thought import digest_of, scope_of
from hooks.errors import BrainRefused
from scripts.swarm_v2.memory.document import LINK, check_space
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.memories import FLEET, PERSON, SHELF
from scripts.swarm_v2.scope_key import Identity, ScopeKeyError, resolve_scope_key
from scripts.swarm_v2.scope_key import scope_of as instance_of
from scripts.swarm_v2.wire_json import load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

NAME = "local"
UNKNOWN = "unknown"  # the home of what belongs to no known project
_RESERVED = (PERSON, FLEET, SHELF, UNKNOWN)
# Of a memory's members the value is read, not its columns: SQLite ends a text at its first NUL.
_COLUMNS = ("id", "scope_key", "project", "accepted", "value")
COLUMNS = ", ".join(_COLUMNS)
_TEXTS = tuple(set(Item._fields) - {*_COLUMNS, "state"})
_ALWAYS = ("type", "text", "cls")  # members of a value also where they are empty


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
        "attrs": {name: str(value) for name, value in attrs.items() if name != LINK},
        "digest": digest_of(type_, scope, text),
        "accepted": int(cls == "person" and crosses),
        "superseded_by": "",
    }


def kept_in(row: Mapping[str, object]) -> str:
    """Return the space that a memory is kept in; ``space`` in ``row`` is its home.

    A person's goes to ``person`` and everybody's to ``fleet`` once it crosses projects: other
    projects read those, and no other project. Without a known project there is the shelf.
    """
    home, scope = str(row["space"]), instance_of(str(row["scope_key"]))
    if row["accepted"] and scope == "user":
        return PERSON
    if row["accepted"] and scope == "space" and (row["type"] == "signal" or home == FLEET):
        return FLEET
    if home in _RESERVED:
        return SHELF
    try:
        return check_space(home)
    except MemoryRefused:
        return SHELF


def value_of(row: Mapping[str, object]) -> dict[str, object]:
    """Return the document of a memory; what is empty is left out, the home where it is implied."""
    value = {
        name: said
        for name, said in row.items()
        if name in _ALWAYS or (said and name not in ("id", "space", "scope_key", "accepted"))
    }
    if row["accepted"]:
        value["accepted"] = True
    if kept_in(row) != row["space"]:
        value["home"] = row["space"]
    return value


def item_of(values: Sequence[object]) -> Item:
    """Read a row of ``COLUMNS`` of ``memory``."""
    row: dict[str, object] = dict(zip(_COLUMNS, values, strict=True))
    return item(row, load_object(str(row["value"])) or {})


def item(row: Mapping[str, object], value: Mapping[str, object]) -> Item:
    """Read a memory; a member that is no text, which no brain of ours wrote, counts as none."""
    said = {name: value.get(name) for name in _TEXTS}
    texts: dict[str, Any] = {
        name: what if isinstance(what, str) else "" for name, what in said.items()
    }
    where: dict[str, Any] = {name: row[name] for name in ("id", "scope_key", "project")}
    state = "superseded" if value.get("superseded_by") else "live"
    texts["cls"] = texts["cls"] or "agent"
    return Item(**where, **texts, accepted=bool(row["accepted"]), state=state)
