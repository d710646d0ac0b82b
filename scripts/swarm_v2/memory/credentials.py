"""Who somebody is: proven by a private file or by a Redis login, never by an argument.

An installation has a token, ``memory/token`` below its home, made once and of mode 0600. Beside
it lies ``memory/token.pub``: one line with the token's digest, for whoever lets this person into
their server. Such lines stand in ``memory/people`` of the server's home.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scripts.swarm_v2.memory.sessions import Credential

TOKEN = "memory/token"
PUBLIC = "memory/token.pub"
PEOPLE = "memory/people"


def own_token(home: str) -> str:
    """Return the installation's token; the first call makes it.

    Raises:
        StateError: the file is not private, or no token.
    """
    raise NotImplementedError


def of_installation(home: str, named: str = "") -> Credential:
    """Return the credential of whoever may read the private token of ``home``.

    ``named`` is the installation's own setting BRAINHOOKS_PRINCIPAL; without it the
    installation itself is the principal.
    """
    raise NotImplementedError


def of_redis(user: str) -> Credential:
    """Return the credential of the ACL user a Redis knows us by; ``default`` names nobody."""
    raise NotImplementedError


class People:
    """Whom a server lets in: its own installation, and the lines of ``memory/people``."""

    def __init__(self, home: str, own: Credential) -> None:
        raise NotImplementedError

    def who(self, token: str) -> Credential:
        """Return whose token it is.

        Raises:
            MemoryRefused: ``credential-refused``; the same for every token that is not known.
        """
        raise NotImplementedError
