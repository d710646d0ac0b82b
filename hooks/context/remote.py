"""Project ids: what a remote's address, an alias and a name a person typed come down to. Pure.

An id is ``host/owner/repo``, ``local:<id>`` or ``unknown``. Ids are compared byte by byte, so
everything that two clones of one repository may spell differently is settled here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

UNKNOWN = "unknown"
LOCAL = "local:"
MAX_CHARACTERS = 1024

_DEFAULT_PORTS = {
    "https": "443",
    "http": "80",
    "ssh": "22",
    "git+ssh": "22",
    "ssh+git": "22",
    "git": "9418",
}
# Other doors of one forge, as the forges document them (SSH through the HTTPS port).
_SAME_FORGE = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
_FOLDS_NAMES = frozenset({"github.com"})
_REFUSED = frozenset(' \\?#"<>|^`{}')
_UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")


def canonical_remote(url: str) -> str | None:
    """Return ``host[:port]/path`` for a remote that names a server, or None.

    Host lower case, user and password dropped, the scheme's own port dropped (another one is
    another server), slashes and ``.git`` at the end dropped, nested groups kept, owner and
    repository folded on GitHub only. Escapes of plain or non-ASCII characters are decoded,
    others kept in upper case.

    None for paths, ``file:``, ``helper::``, an unknown scheme, a query or fragment (they may
    hold a token), blanks, control or invisible characters, ``..``, a bad escape, and an ``@``
    inside the path (there a password with a slash was cut in two). It cannot know that an SSH
    alias of the person's, or two users on one plain SSH server, mean something else; what
    git rewrites (``insteadOf``) is the caller's question.
    """
    if not 0 < len(url) <= MAX_CHARACTERS or not url.isprintable() or not _REFUSED.isdisjoint(url):
        return None
    scheme, mark, rest = url.partition("://")
    if not mark:
        found = _scp(url)
        return _canonical(*found, default_port="22") if found else None
    port = _DEFAULT_PORTS.get(scheme.lower())
    authority, _, path = rest.partition("/")
    return None if port is None else _canonical(authority, path, default_port=port)


def _scp(url: str) -> tuple[str, str] | None:
    """Split ``[user@]host:path``, ``[user@][v6]:path`` and git's ``[host:port]:path``."""
    user, at, rest = url.partition("@")
    if not at or ":" in user or "/" in user or "[" in user:
        user, rest = "", url
    if rest.startswith("["):
        inside, _, tail = rest[1:].partition("]")
        authority = f"[{inside}]" if inside.count(":") > 1 else inside
        return (authority, tail[1:]) if tail.startswith(":") else None
    host, colon, path = rest.partition(":")
    drive = len(host) == 1 and not user  # C:\src or C:/src, as git reads it on Windows
    if not colon or "/" in host or drive or path.startswith(":"):
        return None
    return host, path


def _canonical(authority: str, path: str, *, default_port: str) -> str | None:
    split = _host_and_port(authority.rpartition("@")[2].lower())
    segments = _segments(path)
    if split is None or segments is None:
        return None
    host, port = split
    if host in _SAME_FORGE and port in {"", "22", "443"}:
        host, port = _SAME_FORGE[host], ""
    if port == default_port:
        port = ""
    if port and host == LOCAL[:-1]:  # "local:2222/…" would read as a registered project
        return None
    if host in _FOLDS_NAMES:
        segments[:2] = [segment.lower() for segment in segments[:2]]
    while segments and segments[-1].endswith(".git"):
        name = segments.pop().removesuffix(".git")
        segments += [name] if name else []
    if not segments:
        return None
    return "/".join([f"{host}:{port}" if port else host, *segments])


def _host_and_port(text: str) -> tuple[str, str] | None:
    if text.startswith("["):
        address, closed, tail = text[1:].partition("]")
        host, port = f"[{address}]", tail[1:]
        usable = address.count(":") > 1 and not set(address) - set("0123456789abcdef:.")
        usable = usable and closed == "]" and tail[:1] in {"", ":"}
    else:
        host, _, port = text.partition(":")
        host = host.removesuffix(".")
        labels = host.split(".")
        usable = not host.startswith("-") and all(
            label and all(char.isalnum() or char in "-_" for char in label) for label in labels
        )
    if port:
        usable = usable and port.isascii() and port.isdigit() and 0 < int(port[:8]) < 65536
        port = port.lstrip("0")
    return (host, port) if usable else None


def _segments(path: str) -> list[str] | None:
    """Return the path's non-empty segments with escapes settled; None where one is unusable."""
    out: list[str] = []
    for raw in path.split("/"):
        segment = _settle_escapes(raw) if "%" in raw else raw
        if segment is None or segment == ".." or "@" in segment[1:]:
            return None
        if segment not in {"", "."}:
            out.append(segment)
    return out


def _settle_escapes(segment: str) -> str | None:
    """Decode what has one plain spelling; keep ``%2F`` and the like, in upper case."""
    head, *escaped = segment.split("%")
    data = bytearray(head.encode("utf-8", "surrogateescape"))
    for part in escaped:
        pair = part[:2]
        try:
            value = bytes.fromhex(pair)[0] if pair.isascii() and len(pair) == 2 else 0
        except ValueError:
            return None
        if value < 0x20 or value == 0x7F:  # a control character, or no escape at all
            return None
        decoded = value > 0x7F or chr(value) in _UNRESERVED
        data += bytes([value]) if decoded else b"%" + pair.upper().encode("ascii")
        data += part[2:].encode("utf-8", "surrogateescape")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() else None


def is_local(project_id: str) -> bool:
    """Say whether it is ``local:`` and 1 to 128 of ``[A-Za-z0-9._-]``, no sign in front."""
    name = project_id.removeprefix(LOCAL)
    return (
        name != project_id
        and len(name) <= 128
        and name[:1].isalnum()
        and name.isascii()
        and not set(name) - (_UNRESERVED - {"~"})
    )


def valid_id(text: str) -> bool:
    """Say whether ``text`` is a canonical id of one project; ``unknown`` is none."""
    if is_local(text):
        return True
    authority, _, path = text.partition("/")
    usable = text.isprintable() and _REFUSED.isdisjoint(text) and "@" not in authority
    return usable and _canonical(authority, path, default_port="") == text


def as_id(text: str) -> str | None:
    """Read an id as a person gives it: canonical already, without its fold, or a remote's URL."""
    text = text.strip()
    if valid_id(text):
        return text
    if text.startswith(LOCAL):
        return None
    return canonical_remote(text) or canonical_remote(f"ssh://{text}")


def label(project_id: str) -> str:
    """Return the short name for people; empty for an unknown project."""
    if project_id == UNKNOWN:
        return ""
    return project_id.removeprefix(LOCAL) if is_local(project_id) else project_id.rpartition("/")[2]


def apply_alias(project_id: str, aliases: Mapping[str, str]) -> str:
    """Follow the chain of aliases to its end; a map with a cycle ends after its own length."""
    for _ in range(len(aliases)):
        following = aliases.get(project_id)
        if following is None:
            break
        project_id = following
    return project_id


def validate_aliases(aliases: Mapping[str, object]) -> None:
    """Check the whole map: both sides ids, and every chain ends.

    Raises:
        ValueError: with a sentence about the first pair that is wrong.
    """
    for old, new in aliases.items():
        if not isinstance(new, str) or not valid_id(old) or not valid_id(new):
            msg = f"the alias {old!r} -> {new!r} is not between two project ids"
            raise ValueError(msg)
    names = {old: str(new) for old, new in aliases.items()}
    for old in names:
        if apply_alias(old, names) in names:
            msg = f"the alias of {old!r} leads back to itself"
            raise ValueError(msg)
