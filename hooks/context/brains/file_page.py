"""One memory, or one tombstone, as a page of a file brain.

Fields of ours are ``id type title severity priority ttl project scope class at session
message_id path supersedes share accepted principal digest`` and for a tombstone ``state``. What
else a marker said keeps its name; ``label`` is the attribute ``project``, and a name that would
read as one of ours gets ``x-`` in front. Folders of the machine (``cwd``, ``worktree``) are not
written: the folder may travel.

A page that a person wrote needs no field at all: without ``class`` it is a person's, without
``project`` for everybody, without ``type`` a lesson. Its id is its field ``id`` where that is a
key, else made from that field, else from its path.
"""

from __future__ import annotations

from hooks.clock import parse_iso
from hooks.context.brains import Item, signer
from hooks.context.brains.file_names import is_key, key_of
from hooks.context.brains.front_matter import Page, encode
from hooks.context.brains.sight import FLEET, UNKNOWN
from hooks.context.lifetime import instant, until
from hooks.context.thought import digest_of, scope_of
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.scope_key import Identity, ScopeKeyError, resolve_scope_key
from scripts.swarm_v2.wire_json import canonical, clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

FORGOTTEN = "forgotten"
_NOTE = "Forgotten. This file keeps the memory away, and holds none of its words."
# Attribute -> field, where the two differ.
_RENAMED = {"session_id": "session", "project_id": "project", "ts": "at", "project": "label"}
_BACK = {field: name for name, field in _RENAMED.items()}
_OWN = ("id", "type", "principal", "digest", "accepted", "state", "text", "at", "session", "label")
_MACHINE = ("cwd", "worktree")
_SAME = ("title", "severity", "priority", "ttl", "scope", "class", "message_id", "path")
_READ = frozenset((*_OWN, *_SAME, "project", "supersedes", "share"))
_FIRST = ("id", "type", "title", "severity", "priority", "ttl", "project", "scope", "class", "at")


class Memory(NamedTuple):
    """A memory with what its item does not show."""

    item: Item
    space: str  # the project's id, ``fleet`` or ``unknown``
    digest: str  # over what was posted; the text may have been edited since
    fields: dict[str, str]
    pinned: bool  # its id stands in the file, so the file may be moved

    @property
    def thought(self) -> tuple[str, str]:
        """Name what two installations that read one transcript both post; blank if nothing does."""
        message = self.item.message_id
        return (message, self.digest) if message else ("", "")


class Grave(NamedTuple):
    """What is known of a forgotten memory: never its text."""

    key: str
    session: str = ""
    message_id: str = ""
    digest: str = ""


def from_body(body: Mapping[str, object], key: str, who: str) -> Memory | str:
    """Return the memory that a marker's body makes, or in words why it makes none."""
    type_, text, attrs = body.get("type"), body.get("content"), body.get("attrs")
    if not isinstance(type_, str) or not isinstance(text, str) or not isinstance(attrs, dict):
        return "it is not a marker"
    type_, text = clean(type_), clean(text)
    if not text.strip():
        return "it has no text"
    texts = {
        clean(name): clean(v) for name, v in attrs.items() if name and isinstance(v, str) and v
    }
    scope = scope_of(texts)
    said = fields_of(texts)
    own = {
        "id": key,
        "type": type_,
        "project": texts.get("project_id", "") or UNKNOWN,
        "class": "person" if texts.get("class") == "person" else "agent",
        "principal": "" if scope == "space" else signer(body, who),
        "digest": digest_of(type_, scope, text),
    }
    whole = {**said, **own}
    fields = {name: whole[name] for name in dict.fromkeys((*_FIRST, *whole)) if whole.get(name)}
    return from_page(Page(fields, (), text), "")


def fields_of(attrs: Mapping[str, str]) -> dict[str, str]:
    """Return the fields that attributes become; ``attrs_of`` goes the other way."""
    return {_field(name): value for name, value in attrs.items() if name not in _MACHINE}


def _field(name: str) -> str:
    if name in _RENAMED:
        return _RENAMED[name]
    alike = name in _OWN or (name != name.lower() and name.lower() in _READ)
    return "x-" + name if alike or name.startswith("x-") else name


def attrs_of(memory: Memory) -> dict[str, str]:
    """Return the attributes that a memory was posted with, as far as the page has them."""
    found = {}
    for field, value in memory.fields.items():
        if field in _BACK:
            found[_BACK[field]] = value
        elif field not in _OWN:
            found[field.removeprefix("x-")] = value
    if memory.space == FLEET:  # a page without a project is everybody's; a body must say so
        found["share"] = FLEET
    return {"class": memory.item.cls, **found}


def moved_fields(memory: Memory, project: str) -> dict[str, str | None]:
    """Return what changes on a page that a person gave to ``project``; None for what goes."""
    from hooks.context.attribution import moved

    new = fields_of(moved(attrs_of(memory), project))
    gone = {name: None for name in memory.fields if name not in new and name not in _OWN}
    return {**gone, **{n: v for n, v in new.items() if memory.fields.get(n) != v and n != "class"}}


def from_page(page: Page, where: str) -> Memory | str:
    """Return the memory on a page at ``where`` (relative, with slashes), or why there is none."""
    fields = _as_we_write(page)
    if isinstance(fields, str):
        return fields
    if not page.body:
        return "it has no text"
    scope = scope_of(fields)
    who = Identity(fields.get("principal"), fields.get("session"))
    try:
        scope_key = resolve_scope_key(scope, who)
    except ScopeKeyError as err:
        return str(err)
    key, pinned = _id(fields.get("id", ""), where)
    type_ = _word(fields.get("type", "") or "lesson")
    cls = "agent" if fields.get("class", "person") == "agent" else "person"
    severity = fields.get("severity", "").lower()
    space = _space(fields)
    item = Item(
        id=key,
        type=type_,
        text=page.body,
        cls=cls,
        severity=severity if severity in _GRAVE else "",
        at=_at(fields.get("at", "")),
        project="" if space in (FLEET, UNKNOWN) else space,
        scope_key=scope_key,
        session=fields.get("session", ""),
        accepted=_accepted(cls, fields.get("accepted", "")),
        supersedes=fields.get("supersedes", "").lower(),
        until=until(fields.get("at", ""), fields.get("ttl", "")),
        **{name: fields.get(name, "") for name in _SHOWN},
    )
    digest = fields.get("digest", "") or digest_of(type_, scope, page.body)
    return Memory(item, space, digest, fields, pinned)


def _as_we_write(page: Page) -> dict[str, str] | str:
    """Return the fields, ours by our spelling of their names; or in words what is wrong."""
    found: dict[str, str] = {}
    for name in (*page.fields, *page.odd):
        own = name.lower() if name.lower() in _READ else name
        if own in found:
            return f"{own} stands there twice"
        if own in _READ and name in page.odd:
            return f"{own} is not one text"
        found[own] = page.fields.get(name, "")
    return {name: value for name, value in found.items() if name not in page.odd}


_SHOWN = ("title", "priority", "message_id", "path")
_GRAVE = ("critical", "high", "medium", "low")


def _accepted(cls: str, said: str) -> bool:
    """A person's is, unless it corrects one that is not."""
    return said.lower() == "true" or (cls == "person" and said.lower() != "false")


def _word(type_: str) -> str:
    """Return a type's name; it is printed outside the quotes, so no sentence may pass for one."""
    return type_ if type_.isascii() and type_.isalpha() and len(type_) <= 20 else "note"


def _at(said: str) -> str:
    """Return the time as our own writers put it; by hand also a day, or another offset."""
    whole = "T" in said and said.endswith("+00:00") and parse_iso(said) is not None
    return said if whole else instant(said)


def _space(fields: Mapping[str, str]) -> str:
    if fields.get("share") == FLEET:
        return FLEET
    return fields.get("project", "") or FLEET


def _id(said: str, where: str) -> tuple[str, bool]:
    if is_key(said):
        return said, True
    if said:
        return short_digest(canonical(["file-brain", "id", said])), True
    named = key_of(where.rpartition("/")[2])
    if named:
        return named, True
    return short_digest(canonical(["file-brain", "path", _composed(clean(where))])), False


def _composed(text: str) -> str:
    """Spell a path one way: some systems take ``é`` apart in file names."""
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFC", text)


def page_of(memory: Memory) -> bytes:
    return encode(memory.fields, memory.item.text)


def grave_page(grave: Grave) -> bytes:
    fields = {"id": grave.key, "state": FORGOTTEN, **grave._asdict()}
    del fields["key"]
    return encode({name: str(value) for name, value in fields.items() if value}, _NOTE)


def grave_on(page: Page, key: str = "") -> Grave | None:
    """Return the tombstone on a page, ``key`` being what its name says; None for a memory."""
    if not key and page.fields.get("state") != FORGOTTEN:
        return None
    found = page.fields
    key = key or found.get("id", "")
    rest = (found.get(name, "") for name in Grave._fields[1:])
    return Grave(key, *rest) if is_key(key) else None
