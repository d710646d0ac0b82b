"""Every key, stamp and namespace, byte-exact (docs/design.md, "Keys"). Pure; no I/O.

What needs the disk is handed on from ``installation``, ``sweep`` and ``brain_path``, loaded
when called. Run as a module it does one thing: ``drop DIR``.
"""

from __future__ import annotations

from scripts.swarm_v2.digest import short_digest, uuid5_url_hex
from scripts.swarm_v2.wire_json import canonical, clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from os import PathLike
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

FORMAT = "2"
PREFIX = "k2-"  # of every key of this format; the sweep of older files never touches it
NO_BRAIN = "none"
MAX_KIND = 32

_LOWER = frozenset("abcdefghijklmnopqrstuvwxyz")
_DIGITS = frozenset("0123456789")
_KIND_REST = _LOWER | _DIGITS | {"-"}
_HEX = _DIGITS | frozenset("abcdef")
_ID_PREFIX = "inst-"


class Installation(NamedTuple):
    """One home's record. Markers before ``created_at`` (aware, UTC) keep their legacy key."""

    installation_id: str
    created_at: datetime


class Namespace(NamedTuple):
    """Whose documents these are; equal labels in different namespaces share nothing."""

    installation: str
    brain: str
    project: str = ""
    policy: str = "1"
    generation: str = ""

    def document(self) -> dict[str, str]:
        """Return the object that is hashed into keys and written into stamps."""
        return {
            "brain": self.brain,
            "format": FORMAT,
            "generation": self.generation,
            "installation": self.installation,
            "policy": self.policy,
            "project": self.project,
        }


def is_hex(text: str, length: int) -> bool:
    """Say whether ``text`` is exactly ``length`` lower-case hex digits."""
    return len(text) == length and _HEX.issuperset(text)


def is_installation_id(text: object) -> bool:
    return (
        isinstance(text, str)
        and text.startswith(_ID_PREFIX)
        and is_hex(text[len(_ID_PREFIX) :], 32)
    )


def is_kind(text: object) -> bool:
    """Say whether ``text`` is ``[a-z][a-z0-9-]{0,31}``, all of it."""
    return (
        isinstance(text, str)
        and 0 < len(text) <= MAX_KIND
        and text[0] in _LOWER
        and _KIND_REST.issuperset(text)
    )


def key(namespace: Namespace, kind: str, *parts: str) -> str:
    """Return ``k2-<kind>-<32 hex>``; different namespaces, kinds or parts never meet.

    Raises:
        ValueError: ``kind`` is outside its grammar.
        TypeError: a part is not a str.
    """
    _check_kind(kind)
    for part in parts:
        if not isinstance(part, str):
            msg = f"a key is made of texts, not of {type(part).__name__}"
            raise TypeError(msg)
    whole = canonical([namespace.document(), kind, list(parts)])
    return f"{PREFIX}{kind}-{short_digest(whole)}"


def stamp(namespace: Namespace, kind: str, payload: Mapping[str, object]) -> dict[str, object]:
    """Return ``payload`` plus the namespace and kind it is for; ``payload`` is left as it is.

    Fields of these two names in ``payload`` are replaced, so a document can be stamped again.

    Raises:
        ValueError: ``kind`` is outside its grammar.
    """
    _check_kind(kind)
    return {**payload, "namespace": namespace.document(), "kind": kind}


def admits(document: object, namespace: Namespace, kind: str) -> bool:
    """Say whether ``document`` carries exactly this stamp; any junk is False, never an error."""
    if not isinstance(document, dict):
        return False
    said, wanted = document.get("namespace"), namespace.document()
    if not isinstance(said, dict) or said.keys() != wanted.keys():
        return False
    found = document.get("kind")
    return (
        is_kind(kind)
        and isinstance(found, str)
        and found == kind
        and all(isinstance(said[name], str) and said[name] == wanted[name] for name in wanted)
    )


def marker_key(
    namespace: Namespace, session_id: str, marker_type: str, task: str, content: str
) -> str:
    """Return the 32 hex digits under which one thought of one session is one record.

    The namespace's generation is left out: a lease won or lost never re-keys a live session.
    Lone surrogates count as U+FFFD, since that is how the text is stored.
    """
    texts = [clean(text) for text in (session_id, marker_type, task, content)]
    document = namespace._replace(generation="").document()
    session, kind, piece, text = texts
    whole = canonical([document, "marker", session, kind, piece, text])
    return uuid5_url_hex("k2:" + whole.decode("ascii"))


def legacy_marker_key(session_id: str, marker_type: str, content: str) -> str:
    """Return the key that the older format gave; ``content`` is cut as it cut it, by the caller.

    Ambiguous where a session id ends like a type begins. That is why it only serves markers
    older than the installation record, whose keys were already sent.
    """
    return uuid5_url_hex(clean(f"{session_id}-{marker_type}-{content}"))


def redis_key(prefix: str, installation_id: str, type_name: str, id_value: str) -> str:
    """Return ``<prefix>:<installation>:<type>:<id>``; no two argument lists give one key.

    Nothing is escaped. The installation id marks the place instead: no segment of ``prefix``
    may look like one and ``type_name`` holds no colon, so the parts can be read back.

    Raises:
        ValueError: an empty part, an installation id outside its grammar, or an ambiguity.
    """
    if not is_installation_id(installation_id):
        msg = f"{installation_id!r} is not an installation id"
        raise ValueError(msg)
    if not prefix or any(is_installation_id(part) for part in prefix.split(":")):
        msg = f"{prefix!r} cannot be the prefix of a Redis key"
        raise ValueError(msg)
    if not type_name or ":" in type_name:
        msg = f"{type_name!r} cannot be the type in a Redis key"
        raise ValueError(msg)
    if not id_value:
        msg = f"a {type_name} without an id would be shared by everybody"
        raise ValueError(msg)
    return f"{prefix}:{installation_id}:{type_name}:{id_value}"


def brain_identity(url: str = "", path: str | PathLike[str] = "") -> str:
    """Name a brain by a hash that holds no secret: ``url-<32 hex>``, ``file-<32 hex>``, ``none``.

    A URL counts as scheme, host, port (unless the scheme's own) and path without its last
    slashes; userinfo, query and fragment are dropped. A path counts as what it resolves to.

    Raises:
        ValueError: not an http or https URL with a host. The message never shows the URL.
    """
    if url:
        from scripts.swarm_v2.brain_path import normalise_url

        return "url-" + short_digest(normalise_url(url).encode("utf-8"))
    if path:
        from scripts.swarm_v2.brain_path import resolved

        return "file-" + short_digest(resolved(path))
    return NO_BRAIN


def installation(home: str | PathLike[str], now: datetime | None = None) -> Installation:
    """Return the record of ``home``, made if there is none; see ``installation.installation``."""
    from scripts.swarm_v2 import installation as edge

    return edge.installation(home, now)


def sweep_legacy(directory: str | PathLike[str], limit: int = 32) -> int:
    """Remove at most ``limit`` caches of the older format; see ``sweep.sweep_legacy``."""
    from scripts.swarm_v2 import sweep

    return sweep.sweep_legacy(directory, limit)


def drop_namespaced(directory: str | PathLike[str]) -> int:
    """Remove the feed and project caches of this format; see ``sweep.drop_namespaced``."""
    from scripts.swarm_v2 import sweep

    return sweep.drop_namespaced(directory)


def _check_kind(kind: str) -> None:
    if not is_kind(kind):
        msg = f"{kind!r} is not a kind: [a-z][a-z0-9-]{{0,{MAX_KIND - 1}}}"
        raise ValueError(msg)


def main(argv: Sequence[str]) -> int:
    """Run ``drop DIR``: print how many files were removed. Wrong usage gives 2, a failure 1."""
    import sys

    if len(argv) != 2 or argv[0] != "drop" or not argv[1]:
        sys.stderr.write("usage: python -m scripts.swarm_v2.keyspace drop DIR\n")
        return 2
    from scripts.swarm_v2 import sweep

    below = sweep.caches_below(argv[1])
    if below:
        sys.stderr.write(f"{argv[1]}: the caches are below it; name {below}\n")
        return 2
    try:
        count = drop_namespaced(argv[1])
    except OSError as err:
        sys.stderr.write(f"{argv[1]}: {err.strerror}\n")
        return 1
    sys.stdout.write(f"{count}\n")
    return 0


if __name__ == "__main__":
    import sys

    sys.exit(main(sys.argv[1:]))
