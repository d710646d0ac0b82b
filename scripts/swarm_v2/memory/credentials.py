"""Who somebody is: proven by a private file or by a Redis login, never by an argument.

An installation has a token, ``memory/token`` below its home, made once and of mode 0600. Beside
it lies ``memory/token.pub``: one line with the token's digest, for whoever lets this person into
their server. Such lines stand in ``memory/people`` of the server's home.
"""

from __future__ import annotations

import os
import stat

from hooks.atomic import read, write
from hooks.context.secret_file import read_secret
from hooks.errors import StateError
from hooks.lock import held
from scripts.swarm_v2.digest import sha256_hex
from scripts.swarm_v2.installation import installation
from scripts.swarm_v2.keyspace import is_hex
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.scope_key import USER, Identity, can_resolve
from scripts.swarm_v2.wire_json import dumps, load_object

FOLDER = "memory"
TOKEN = "token"
PUBLIC = "token.pub"
PEOPLE = "people"
HEX_DIGITS = 64  # of a token: 256 random bits
MAX_PEOPLE = 1 << 20  # bytes of the file; 7,000 lines
NOBODY = "default"  # the Redis user that everybody is who does not log in
_OTHERS_MAY_WRITE = 0o022


def own_token(home: str) -> str:
    """Return the installation's token; the first call makes it.

    Raises:
        StateError: the file is not private, or no token.
        OSError: it cannot be made.
    """
    path = os.path.join(home, FOLDER, TOKEN)
    if not os.path.lexists(path):
        with held(f"{path}.lock", wait_s=10.0):
            if not os.path.lexists(path):
                write(path, os.urandom(HEX_DIGITS // 2).hex().encode("ascii") + b"\n")
    token = read_secret(path)
    if not is_hex(token, HEX_DIGITS):
        hint = "move it away: the next command makes another, which servers have to be told"
        raise StateError(path, f"it is no token of {HEX_DIGITS} hex digits", hint=hint)
    return token


def of_installation(home: str, named: str = "") -> Credential:
    """Return the credential of whoever may read the private token of ``home``.

    ``named`` is the installation's own setting BRAINHOOKS_PRINCIPAL; without it the
    installation itself is the principal. The public line is brought up to date.

    Raises:
        StateError: the token is not private.
        ValueError: the installation's record is damaged.
        OSError: the home cannot be written.
    """
    token = own_token(home)
    principal = named or installation(home).installation_id
    _publish(home, public_line(principal, token))
    return Credential(principal, "token")


def of_redis(user: str) -> Credential:
    """Return the credential of the ACL user a Redis knows us by; ``default`` names nobody."""
    return Credential(None if user in ("", NOBODY) else user, "redis")


def public_line(principal: str, token: str) -> str:
    """Return what a server's owner is given: whose token it is, and its digest."""
    return dumps({"principal": principal, "sha256": digest(token)})


def digest(token: str) -> str:
    return sha256_hex(token.encode("utf-8", "surrogatepass"))


def _publish(home: str, line: str) -> None:
    path = os.path.join(home, FOLDER, PUBLIC)
    data = line.encode("ascii") + b"\n"
    if read(path, MAX_PEOPLE) != data:
        write(path, data)


class People:
    """Whom a server lets in: its own installation, and the lines of ``memory/people``."""

    def __init__(self, home: str, own: Credential) -> None:
        self._path = os.path.join(home, FOLDER, PEOPLE)
        self._own = {digest(own_token(home)): own}

    def who(self, token: str) -> Credential:
        """Return whose token it is; the file is read anew, so that an owner's word holds at once.

        Raises:
            MemoryRefused: ``credential-refused``; the same for every token that is not known,
                and for one that stands in the file with two names.
            StateError: the file cannot be trusted.
        """
        wanted = digest(token)
        found = self._own.get(wanted)
        if found is not None:
            return found
        named = {person for person, known in self.listed() if known == wanted}
        if len(named) != 1:
            hint = f"its owner lets you in by adding the line of your {FOLDER}/{PUBLIC}"
            raise MemoryRefused("credential-refused", "the server knows no such token", hint)
        return Credential(named.pop(), "token")

    def listed(self) -> list[tuple[str, str]]:
        """Return principal and digest of each usable line.

        Raises:
            StateError: others may write the file, or it cannot be read.
        """
        data = _trusted(self._path)
        rows = (load_object(line) for line in data.splitlines() if not line.startswith(b"#"))
        return [found for row in rows if row is not None and (found := _person(row))]


def _person(row: dict[str, object]) -> tuple[str, str] | None:
    principal, known = row.get("principal"), row.get("sha256")
    if not isinstance(principal, str) or not isinstance(known, str) or not is_hex(known, 64):
        return None
    return (principal, known) if can_resolve(USER, Identity(principal)) else None


def _trusted(path: str) -> bytes:
    try:
        data = read(path, MAX_PEOPLE)
        info = os.lstat(path)
    except FileNotFoundError:
        return b""
    except OSError as err:
        raise StateError(path, err.strerror or "it cannot be read") from None
    if not stat.S_ISREG(info.st_mode) or data is None:
        raise StateError(path, f"it is no plain file of at most {MAX_PEOPLE} bytes")
    if info.st_uid not in (os.geteuid(), 0) or info.st_mode & _OTHERS_MAY_WRITE:
        hint = f"make it yours alone to write: chmod go-w {path}"
        raise StateError(path, "others may write who is let in", hint=hint)
    return data
