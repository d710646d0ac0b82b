"""Who somebody is: proven by a private file or by a Redis login, never by an argument.

An installation has a token, ``memory/token`` below its home, made once and of mode 0600. Beside
it lies ``memory/token.pub``: one line with the token's digest, for whoever lets this person into
their server. Such lines stand in ``memory/people`` of the server's home: see ``people``.
"""

from __future__ import annotations

import os

from hooks.atomic import read, write
from hooks.context.secret_file import read_secret
from hooks.errors import StateError
from hooks.lock import held
from scripts.swarm_v2.digest import sha256_hex
from scripts.swarm_v2.installation import installation
from scripts.swarm_v2.keyspace import is_hex
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.wire_json import dumps

FOLDER = "memory"
TOKEN = "token"
PUBLIC = "token.pub"
HEX_DIGITS = 64  # of a token: 256 random bits
NOBODY = "default"  # the Redis user that everybody is who does not log in


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
    if read(path) != data:
        write(path, data)
