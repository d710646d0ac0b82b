"""Whose instance a row is: ``space``, ``user:<principal>`` or ``session:<principal>:<session>``.

The only module that builds or reads these texts. Each segment is URI-component encoded, so
that no two identities ever give one key (scoped-memory vocabulary, vectors/scope_key.json).
"""

from __future__ import annotations

from scripts.swarm_v2.errors import ScopeKeyError as ScopeKeyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NamedTuple

    Scope = Literal["space", "user", "session"]
else:
    from hooks.record import NamedTuple

SPACE: Scope = "space"
USER: Scope = "user"
SESSION: Scope = "session"
_USER_PREFIX = "user:"
_SESSION_PREFIX = "session:"

# What JavaScript's encodeURIComponent leaves raw.
_RAW = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()")
_HEX = frozenset("0123456789abcdefABCDEF")


class Identity(NamedTuple):
    """Who acts. None and ``""`` both mean that the part is missing; nothing stands in for it."""

    principal: str | None = None
    session_id: str | None = None


class ScopeKey(NamedTuple):
    """A scope key, read: the parts that its scope does not have are None."""

    scope: Scope
    principal: str | None = None
    session_id: str | None = None


def resolve_scope_key(scope: str | None, identity: Identity) -> str:
    """Return the key of ``identity``'s instance at ``scope``; None means ``space``.

    At ``space`` the identity is not looked at; at ``user`` its session is not.

    Raises:
        ScopeKeyError: another scope, a part missing (the principal is checked first), or a
            part that is not text in Unicode (a lone surrogate, another type).
    """
    if scope is None or scope == SPACE:
        return SPACE
    if scope == USER:
        return _USER_PREFIX + _segment(scope, "principal", identity.principal)
    if scope == SESSION:
        principal = _segment(scope, "principal", identity.principal)
        return f"{_SESSION_PREFIX}{principal}:{_segment(scope, 'session id', identity.session_id)}"
    msg = f"there is no scope {scope!r}; there are space, user and session"
    raise ScopeKeyError(scope, "scope", msg)


def sessions_prefix(principal: str | None) -> str:
    """Return what the key of each session of ``principal`` begins with, and no other's does.

    Raises:
        ScopeKeyError: the principal is missing, or not text in Unicode.
    """
    return f"{_SESSION_PREFIX}{_segment(SESSION, 'principal', principal)}:"


def can_resolve(scope: str | None, identity: Identity) -> bool:
    """Say whether ``resolve_scope_key`` would return a key: for repairs that skip, not fail."""
    try:
        resolve_scope_key(scope, identity)
    except ScopeKeyError:
        return False
    return True


def parse_scope_key(text: object) -> ScopeKey | None:
    """Read a canonical scope key; None for every other text or thing.

    Canonical means that building it again from its parts gives the same bytes: a lower-case
    escape or an escaped letter would key a second row for the same person.
    """
    if not isinstance(text, str):
        return None
    if text == SPACE:
        return ScopeKey(SPACE)
    scope, colon, rest = text.partition(":")
    if not colon:
        return None
    parts = [_canonical(part) for part in rest.split(":")]
    if scope == USER and len(parts) == 1 and parts[0]:
        return ScopeKey(USER, parts[0])
    if scope == SESSION and len(parts) == 2 and parts[0] and parts[1]:
        return ScopeKey(SESSION, parts[0], parts[1])
    return None


def is_scope_key(text: object) -> bool:
    """Say whether ``text`` is a canonical scope key; False, never an error, for anything else."""
    return parse_scope_key(text) is not None


def scope_of(key: str) -> Scope:
    """Classify by prefix only; whatever is neither user nor session reads as ``space``.

    It does not check: ``is_scope_key`` does.
    """
    if key.startswith(_USER_PREFIX):
        return USER
    return SESSION if key.startswith(_SESSION_PREFIX) else SPACE


def principal_of(key: str) -> str | None:
    """Return the decoded principal of a three-part session key, canonical or not; else None."""
    parts = key.split(":")
    if len(parts) != 3 or parts[0] != SESSION:
        return None
    return _decode(parts[1])


def applies_to(key: object, identity: Identity) -> bool:
    """Say whether ``identity`` may see the instance ``key``: a space, or one it could build.

    A text that is no scope key applies to nobody.
    """
    parsed = parse_scope_key(key)
    if parsed is None:
        return False
    return can_resolve(parsed.scope, identity) and key == resolve_scope_key(parsed.scope, identity)


class DirtyKey(NamedTuple):
    """One instance inside a space, as a change names it."""

    scope_key: str
    id: str


def dirty_key(scope_key: str, document_id: str) -> str:
    """Return the text of one changed instance: scope key, NUL, id.

    The id may hold NUL; a scope key cannot, it writes one as ``%00``.
    """
    return f"{scope_key}\0{document_id}"


def parse_dirty_key(text: str) -> DirtyKey | None:
    """Read what ``dirty_key`` wrote; None where no canonical scope key stands before a NUL."""
    scope_key, nul, document_id = text.partition("\0")
    return DirtyKey(scope_key, document_id) if nul and is_scope_key(scope_key) else None


def encode_identity(identity: Identity) -> str:
    """Return a text that two identities share only when both parts are equal.

    Absent and empty differ, unlike in ``resolve_scope_key``: what was computed for nobody must
    not be handed to somebody whose name is missing. Lone surrogates are written as they are.
    """
    parts = ("-" if part is None else f"{len(part)}:{part}" for part in identity)
    return "|".join(parts)


def _segment(scope: str, part: str, value: object) -> str:
    wanted = f"{scope} scoped memory operations require a {part}"
    if value is None or value == "":
        raise ScopeKeyError(scope, part, wanted)
    encoded = _encode(value) if isinstance(value, str) else None
    if encoded is None:
        raise ScopeKeyError(scope, part, f"{wanted} that is Unicode text")
    return encoded


def _encode(text: str) -> str | None:
    if _RAW.issuperset(text):
        return text
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return "".join(chr(byte) if chr(byte) in _RAW else f"%{byte:02X}" for byte in data)


def _decode(text: str) -> str | None:
    """Undo ``_encode``; raw characters pass, a bad escape or bytes that are not UTF-8 give None."""
    if "%" not in text:
        return text
    first, *escaped = text.split("%")
    if any(len(part) < 2 or not _HEX.issuperset(part[:2]) for part in escaped):
        return None
    try:
        data = first.encode("utf-8", "surrogatepass")
        for part in escaped:
            data += bytes((int(part[:2], 16),)) + part[2:].encode("utf-8", "surrogatepass")
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _canonical(segment: str) -> str | None:
    decoded = _decode(segment)
    return decoded if decoded is not None and _encode(decoded) == segment else None
