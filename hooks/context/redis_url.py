"""What a ``REDIS_URL`` says, in the forms of docs/state.md. Its secrets show themselves nowhere."""

from __future__ import annotations

from hooks.errors import SettingsError
from hooks.settings import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple
else:
    from hooks.record import NamedTuple

PORT = 6379
SENTINEL_PORT = 26379
# scheme -> how the servers are found, and whether they are spoken to through TLS
SCHEMES = {
    "redis": ("tcp", False),
    "unix": ("unix", False),
    "rediss": ("tcp", True),
    "redis+sentinel": ("sentinel", False),
    "rediss+sentinel": ("sentinel", True),
    "redis+cluster": ("cluster", False),
    "rediss+cluster": ("cluster", True),
}
FORM = "redis://[user:password@]host[:port][/db], or another form of docs/state.md"
_HEX = "0123456789abcdefABCDEF"


class Place(NamedTuple):
    """Where a Redis is, and as whom to speak with it."""

    form: str  # "tcp", "unix", "sentinel" or "cluster"
    tls: bool = False
    hosts: tuple[tuple[str, int], ...] = ()  # of "sentinel": the sentinels
    path: str = ""  # of "unix"
    user: str = ""
    password: str = ""  # a Secret
    db: int = 0
    service: str = ""  # of "sentinel": the name that they know the master by
    options: Mapping[str, str] = {}  # what no form knows is ignored

    @property
    def plain(self) -> bool:
        """Whether a socket alone reaches it; every other one takes redis-py."""
        return self.form in ("tcp", "unix") and not self.tls

    def hello(self) -> list[tuple[str | bytes, ...]]:
        """Return the commands that log in and choose the database; [] where there are none."""
        said: list[tuple[str | bytes, ...]] = []
        if self.user or self.password:
            said.append(("AUTH", *([self.user] if self.user else []), self.password))
        if self.db:
            said.append(("SELECT", str(self.db)))
        return said


def parse(url: str) -> Place:
    """Read ``url``.

    Raises:
        SettingsError: it is none of the forms; the message shows nothing of it.
    """
    scheme, mark, rest = url.partition("://")
    form, tls = SCHEMES.get(scheme.lower(), ("", False))
    if not form or not mark or not url.isascii() or not url.isprintable() or " " in url:
        raise _refused(FORM)
    rest, _, query = rest.partition("#")[0].partition("?")
    netloc, _, path = rest.partition("/")
    login, _, address = netloc.rpartition("@")
    user, _, password = login.partition(":")
    options = _options(query)
    place = Place(form, tls, user=_decoded(user), password=_decoded(password), options=options)
    if form == "unix":
        return _at_socket(place, address, path)
    place = place._replace(hosts=_hosts(address, SENTINEL_PORT if form == "sentinel" else PORT))
    return _within(place, path.strip("/"))


def _at_socket(place: Place, address: str, path: str) -> Place:
    if address or not path:
        raise _refused("unix:///path/of/the/socket[?db=N], with nothing before its first slash")
    return place._replace(path="/" + _decoded(path), db=_db(place.options.get("db", "")))


def _within(place: Place, path: str) -> Place:
    """Read what stands behind the hosts: a service and a database, or a database."""
    if place.form == "sentinel":
        service, _, db = path.partition("/")
        if not service:
            raise _refused("redis+sentinel://host[:port][,host[:port]]/service[/db]")
        return place._replace(service=_decoded(service), db=_db(db))
    if place.form == "cluster":
        if _db(path):
            raise _refused("an address without a database: a cluster has only the first")
        return place
    if len(place.hosts) > 1:
        raise _refused("the address of one host; several are redis+sentinel:// or redis+cluster://")
    return place._replace(db=_db(path or place.options.get("db", "")))


def _hosts(text: str, usual_port: int) -> tuple[tuple[str, int], ...]:
    return tuple(_host(part, usual_port) for part in text.split(","))


def _host(text: str, usual_port: int) -> tuple[str, int]:
    if text.startswith("["):  # an IPv6 address: its colons are its own
        host, closed, after = text[1:].partition("]")
        if not closed or (after and not after.startswith(":")):
            raise _refused("an address whose IPv6 host stands in brackets")
        port = after[1:]
    else:
        host, _, port = text.partition(":")
    if not host:
        raise _refused("an address with a host")
    number = _number(port, 65_535) if port else usual_port
    if not number:
        raise _refused("an address with a port up to 65535")
    return host, number


def _db(text: str) -> int:
    found = _number(text, 65_535) if text else 0
    if found is None:
        raise _refused("an address with a number as its database")
    return found


def _number(text: str, most: int) -> int | None:
    if not text.isdigit() or len(text) > 5 or int(text) > most:
        return None
    return int(text)


def _options(query: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in query.split("&") if part)
    return {name: _decoded(value) for name, _, value in pairs}


def _decoded(text: str) -> Secret:
    """Resolve ``%41``; a percent sign without two digits behind it stands for itself."""
    first, *parts = text.split("%")
    out = bytearray(first.encode("ascii"))
    for part in parts:
        digits = part[:2]
        if len(digits) == 2 and digits[0] in _HEX and digits[1] in _HEX:
            out.append(int(digits, 16))
            out += part[2:].encode("ascii")
        else:
            out += b"%" + part.encode("ascii")
    return Secret(out.decode("utf-8", "surrogateescape"))


def _refused(wants: str) -> SettingsError:
    err = SettingsError("REDIS_URL", "(hidden)", wants=wants)
    err.hint = f"set REDIS_URL to {wants}, or unset it: the state is in state.db then"
    return err
