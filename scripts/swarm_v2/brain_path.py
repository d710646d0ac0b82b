"""Where a brain is, in the one spelling that its identity is hashed from."""

from __future__ import annotations

import os

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NEVER_IN_HOST = frozenset(' "#%/<>?@[\\]^`{|}')  # the URL standard's forbidden host characters


def resolved(path: str | os.PathLike[str]) -> bytes:
    """Return the absolute path behind every symlink, as the bytes the system knows it by."""
    return os.fsencode(os.path.realpath(path))


def normalise_url(url: str) -> str:
    """Return ``scheme://host[:port]path`` in one spelling, with nothing secret in it.

    Scheme and host in lower case (a Unicode host as its IDNA form), the scheme's own port and
    the slashes at the end dropped. The path's case and escapes are the brain's own business.

    Raises:
        ValueError: anything but http or https with a host, or characters no URL has. The
            message does not repeat the URL: it may hold a password.
    """
    scheme, colon, rest = url.partition("://")
    scheme = scheme.lower()
    if not colon or scheme not in _DEFAULT_PORTS:
        raise ValueError("a brain's address starts with http:// or https://")
    if not rest.isprintable() or " " in rest or "\\" in rest:
        raise ValueError("a brain's address has no blanks, backslashes or control characters")
    before_fragment = rest.partition("#")[0].partition("?")[0]
    authority, slash, path = before_fragment.partition("/")
    host, port = _host_and_port(authority.rpartition("@")[2])
    suffix = "" if port in (None, _DEFAULT_PORTS[scheme]) else f":{port}"
    return f"{scheme}://{host}{suffix}{(slash + path).rstrip('/')}"


def _host_and_port(text: str) -> tuple[str, int | None]:
    if text.startswith("["):
        address, bracket, tail = text[1:].partition("]")
        if not bracket or (tail and not tail.startswith(":")):
            raise ValueError("the brackets around the address do not match")
        return f"[{_address(address)}]", _port(tail[1:])
    host, _, port = text.partition(":")
    return _name(host), _port(port)


def _address(text: str) -> str:
    from _socket import AF_INET6, inet_pton  # ``socket`` itself would load ``enum``

    try:
        inet_pton(AF_INET6, text)
    except OSError:
        raise ValueError("what stands in brackets is not an IPv6 address") from None
    return text.lower()


def _name(host: str) -> str:
    if not host.isascii():
        host = host.encode("idna").decode("ascii")  # UnicodeError is a ValueError
    if not host.strip(".") or not _NEVER_IN_HOST.isdisjoint(host):
        raise ValueError("a brain's address names a host")
    return host.lower()


def _port(text: str) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 5 or int(text) > 65535:
        raise ValueError("a port is a number up to 65535")
    return int(text)
