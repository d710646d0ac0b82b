"""What a server tells a watcher: documents that came or changed, and those to let go.

Frames name scopes. Keys stand in them only for a session that was ever admitted an explicit
read; without one, an entry is about the receiver's own instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scripts.swarm_v2.memory.document import (
    MAX_INTEGER,
    SCOPES,
    check_id,
    check_space,
    links,
    parse_link,
)
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.scope_key import is_scope_key, scope_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scripts.swarm_v2.scope_key import Scope

MAX_BRANCH = 200
_FRAME = frozenset({"space", "number", "since", "seq", "reset", "upserts", "removes"})
_UPSERT = frozenset({"id", "scope", "seq", "value", "deleted", "scope_key", "branch"})
_REMOVE = frozenset({"id", "scope", "scope_key", "branch"})


class Upsert(NamedTuple):
    """The state of one instance at ``seq``. A ``deleted`` one has no value."""

    id: str
    scope: Scope
    seq: int
    value: object = None
    deleted: bool = False
    scope_key: str | None = None
    branch: str = ""


class Remove(NamedTuple):
    """Let an instance go: it is watched no more, erased, or no longer for this receiver."""

    id: str
    scope: Scope
    scope_key: str | None = None
    branch: str = ""


class SyncFrame(NamedTuple):
    """One step of one session. ``number`` counts that session's frames from 1.

    It holds every change of what is watched after ``since`` up to ``seq``. ``reset`` says that
    it is everything: what the receiver has beside it goes.
    """

    space: str
    number: int
    since: int
    seq: int
    upserts: tuple[Upsert, ...] = ()
    removes: tuple[Remove, ...] = ()
    reset: bool = False

    @property
    def empty(self) -> bool:
        return not (self.upserts or self.removes or self.reset)


def encode(frame: SyncFrame) -> dict[str, object]:
    """Return the JSON object of a frame; ``parse`` reads it back."""
    body: dict[str, object] = {
        "space": frame.space,
        "number": frame.number,
        "since": frame.since,
        "seq": frame.seq,
    }
    if frame.reset:
        body["reset"] = True
    if frame.upserts:
        body["upserts"] = [_upsert_body(one) for one in frame.upserts]
    if frame.removes:
        body["removes"] = [_body(one) for one in frame.removes]
    return body


def parse(body: object) -> SyncFrame:
    """Read any JSON value as a frame.

    Raises:
        MemoryRefused: ``request-invalid``, ``field-unknown``, ``scope-unknown``,
            ``scope-key-malformed``, or what is wrong with a space, an id or a value in it.
    """
    fields = _object(body, _FRAME, "a frame")
    reset = fields.get("reset", False)
    if not isinstance(reset, bool):
        raise MemoryRefused("request-invalid", "reset of a frame is neither true nor false")
    return SyncFrame(
        check_space(fields.get("space")),
        _number(fields, "number", 1),
        _number(fields, "since", 0),
        _number(fields, "seq", 0),
        tuple(_upsert(one) for one in _list(fields, "upserts")),
        tuple(_remove(one) for one in _list(fields, "removes")),
        reset,
    )


def _upsert_body(entry: Upsert) -> dict[str, object]:
    body = _body(entry)
    body["seq"] = entry.seq
    if entry.deleted:
        body["deleted"] = True
    else:
        body["value"] = entry.value
    return body


def _body(entry: Upsert | Remove) -> dict[str, object]:
    body: dict[str, object] = {"id": entry.id, "scope": entry.scope}
    if entry.scope_key is not None:
        body["scope_key"] = entry.scope_key
    if entry.branch:
        body["branch"] = entry.branch
    return body


def _upsert(body: object) -> Upsert:
    fields = _object(body, _UPSERT, "an upsert")
    deleted = fields.get("deleted", False)
    if not isinstance(deleted, bool) or deleted == ("value" in fields):
        sentence = "an upsert has either a value or deleted: true"
        raise MemoryRefused("request-invalid", sentence)
    value = fields.get("value")
    for link in links(value):
        parse_link(link)
    scope, key = _instance(fields)
    seq = _number(fields, "seq", 1)
    return Upsert(check_id(fields.get("id")), scope, seq, value, deleted, key, _branch(fields))


def _remove(body: object) -> Remove:
    fields = _object(body, _REMOVE, "a remove")
    scope, key = _instance(fields)
    return Remove(check_id(fields.get("id")), scope, key, _branch(fields))


def _object(body: object, known: frozenset[str], what: str) -> dict[str, object]:
    if not isinstance(body, dict):
        raise MemoryRefused("request-invalid", f"{what} is a JSON object")
    if not known.issuperset(body):
        raise MemoryRefused("field-unknown", f"{what} has a field that does not exist")
    return body


def _list(fields: Mapping[str, object], name: str) -> list[object]:
    value = fields.get(name, [])
    if not isinstance(value, list):
        raise MemoryRefused("request-invalid", f"{name} of a frame is no list")
    return value


def _number(fields: Mapping[str, object], name: str, least: int) -> int:
    value = fields.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_INTEGER:
        return value
    raise MemoryRefused("request-invalid", f"{name} is no number from {least}")


def _instance(fields: Mapping[str, object]) -> tuple[Scope, str | None]:
    scope = fields.get("scope")
    named: Scope | None = next((one for one in SCOPES if one == scope), None)
    if named is None:
        raise MemoryRefused("scope-unknown", "an entry names none of space, user and session")
    if "scope_key" not in fields:
        return named, None
    key = fields["scope_key"]
    if isinstance(key, str) and is_scope_key(key) and scope_of(key) == named:
        return named, key
    raise MemoryRefused("scope-key-malformed", "an entry names no instance of its scope")


def _branch(fields: Mapping[str, object]) -> str:
    branch = fields.get("branch", "")
    if isinstance(branch, str) and len(branch) <= MAX_BRANCH and not _surrogate(branch):
        return branch
    raise MemoryRefused("request-invalid", "the branch of an entry is a short text")


def _surrogate(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)
