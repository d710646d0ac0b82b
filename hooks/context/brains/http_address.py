"""Where a brain service is, taken apart: nothing of what is secret in a URL survives. Pure."""

from __future__ import annotations

from scripts.swarm_v2.brain_path import normalise_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

_PORTS = {"http": 80, "https": 443}


class Address(NamedTuple):
    scheme: str
    host: str  # without brackets
    port: int
    path: str  # without a slash at its end

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Say whether the name alone proves that nothing leaves this machine."""
        name = self.host.rstrip(".")
        if name == "localhost" or name.endswith(".localhost") or name == "::1":
            return True
        parts = name.split(".")
        return len(parts) == 4 and parts[0] == "127" and all(part.isdigit() for part in parts)


def parse(url: str) -> Address:
    """Take ``url`` apart as its identity is made: userinfo, query and fragment are dropped.

    A password in a URL is never sent: the contract knows one credential, the bearer token.

    Raises:
        ValueError: not an http or https URL with a host; the message does not show it.
    """
    scheme, _, rest = normalise_url(url).partition("://")
    authority, slash, path = rest.partition("/")
    host, port = authority, ""
    if authority.startswith("["):
        host, _, port = authority[1:].partition("]")
        port = port[1:]
    elif ":" in authority:
        host, _, port = authority.partition(":")
    return Address(scheme, host, int(port) if port else _PORTS[scheme], slash + path)


def redirected(here: Address, location: str) -> str | None:
    """Return the path that a redirect leads to; None where it leaves this very origin.

    Scheme, host and port must stay: the token is meant for this one address. The path is
    returned as it stands in ``location``, query included.
    """
    if not location.isascii() or not location.isprintable() or " " in location:
        return None
    if location.startswith("/") and not location.startswith("//"):
        return location.partition("#")[0]
    try:
        there = parse(location)
    except ValueError:
        return None
    if there[:3] != here[:3] or "@" in location.partition("://")[2].partition("/")[0]:
        return None
    _, slash, path = location.partition("://")[2].partition("/")
    return (slash + path).partition("#")[0] or "/"


def proxy_for(address: Address, env: Mapping[str, str]) -> str:
    """Return the proxy URL that the environment names for an https address, else "".

    Loopback never goes through one. Nor does plain http: a proxy would read the token. An
    https connection is tunnelled, so the proxy sees the host's name only.
    """
    if address.scheme != "https" or address.is_loopback or _is_excepted(address, env):
        return ""
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        if env.get(name):
            return env[name]
    return ""


def _is_excepted(address: Address, env: Mapping[str, str]) -> bool:
    for entry in (env.get("no_proxy") or env.get("NO_PROXY") or "").split(","):
        word = entry.strip().lower()
        name, _, port = word.partition(":") if word.count(":") == 1 else (word, "", "")
        if port and port != str(address.port):
            continue
        name = name.removeprefix("*").lstrip(".")
        if word == "*" or (name and (address.host == name or address.host.endswith("." + name))):
            return True
    return False
