"""Whom a server lets in: its own installation, and the lines of ``memory/people`` of its home.

A line says a principal and the digest of a token, or a list of digests of one person's several
machines. A name is one person's: two lines with one name, or a line with the home's own, let
nobody in, since those people would share all that is private.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from hooks.atomic import read
from hooks.errors import StateError
from scripts.swarm_v2 import installation
from scripts.swarm_v2.keyspace import is_hex
from scripts.swarm_v2.memory.credentials import FOLDER, PUBLIC, digest, own_token
from scripts.swarm_v2.memory.errors import MemoryRefused
from scripts.swarm_v2.memory.sessions import Credential
from scripts.swarm_v2.scope_key import USER, Identity, can_resolve
from scripts.swarm_v2.wire_json import load_object

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

PEOPLE = "people"
MAX_PEOPLE = 1 << 20  # bytes of the file; 7,000 lines
_OTHERS_MAY_WRITE = 0o022


class Line(NamedTuple):
    """One person as the file has them; ``number`` counts from 1."""

    number: int
    principal: str
    digests: tuple[str, ...]


class Listed(NamedTuple):
    """The lines that let somebody in, and what is wrong with the others, by their numbers."""

    lines: tuple[Line, ...]
    faults: tuple[str, ...]


class People:
    """``warn`` takes what the owner has to know, each thing once."""

    def __init__(
        self, home: str, own: Credential, *, warn: Callable[[str], None] | None = None
    ) -> None:
        self._home, self._person, self._own = home, own, {digest(own_token(home)): own}
        self._warn, self._warned = warn, set[str]()

    def who(self, token: str) -> Credential:
        """Return whose token it is; the file is read anew, so that an owner's word holds at once.

        Raises:
            MemoryRefused: ``credential-refused``; the same whatever is wrong. What is, only the
                owner is told.
        """
        wanted = digest(token)
        found = self._own.get(wanted)
        if found is not None:
            return found
        named = {one.principal for one in self.listed().lines if wanted in one.digests}
        if len(named) != 1:
            hint = (
                f"its owner lets you in by adding the line of your {FOLDER}/{PUBLIC} "
                f"to {FOLDER}/{PEOPLE} in the home of the server"
            )
            raise MemoryRefused("credential-refused", "the server knows no such token", hint)
        return Credential(named.pop(), "people")

    def listed(self) -> Listed:
        """Return who may come in now; the owner is told of what cannot be used."""
        try:
            found = listed(self._home, own_names(self._home, self._person))
        except StateError as err:
            found = Listed((), (f"{err}; {err.hint}" if err.hint else str(err),))
        for fault in found.faults:
            if self._warn is not None and fault not in self._warned:
                self._warned.add(fault)
                self._warn(fault)
        return found


def own_names(home: str, own: Credential) -> tuple[str, ...]:
    """Return the names that are the home's own person's, whatever the settings say by now."""
    record = installation.read(home)
    names = (own.principal, record.installation_id if record else None)
    return tuple(name for name in names if name)


def listed(home: str, own: Collection[str]) -> Listed:
    """Read the file.

    Raises:
        StateError: others may write it, or it cannot be read: it lets nobody in.
    """
    path = os.path.join(home, FOLDER, PEOPLE)
    rows = enumerate(_trusted(path).splitlines(), 1)
    read_lines = [(n, _line(n, row)) for n, row in rows if row.strip() and not row.startswith(b"#")]
    faults = [f"{path}: line {n} is no person and a digest" for n, one in read_lines if one is None]
    lines = [one for _, one in read_lines if one is not None]
    by_name: dict[str, list[int]] = {}
    for one in lines:
        by_name.setdefault(one.principal, []).append(one.number)
    for name, numbers in by_name.items():
        where = f"{path}: line{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
        if name in own:
            faults.append(f"{where} names the person of this home, who needs none: nobody comes in")
        elif len(numbers) > 1:
            better = 'write one line with a list of digests: "sha256": ["…", "…"]'
            faults.append(
                f"{where} name one person: nobody comes in by them. Two people need two names "
                f"(BRAINHOOKS_PRINCIPAL); for two machines of one, {better}"
            )
    faults += _shared(path, lines)
    alone = [one for one in lines if one.principal not in own and len(by_name[one.principal]) == 1]
    return Listed(tuple(alone), tuple(faults))


def _shared(path: str, lines: list[Line]) -> list[str]:
    """Name the lines of different people that hold one token."""
    holders: dict[str, dict[str, int]] = {}
    for one in lines:
        for known in one.digests:
            holders.setdefault(known, {}).setdefault(one.principal, one.number)
    return [
        f"{path}: lines {', '.join(map(str, sorted(found.values())))} hold one token of several "
        "people: nobody comes in by it"
        for found in holders.values()
        if len(found) > 1
    ]


def _line(number: int, data: bytes) -> Line | None:
    row = load_object(data) or {}
    principal, known = row.get("principal"), row.get("sha256")
    digests = known if isinstance(known, list) else [known]
    if not isinstance(principal, str) or not can_resolve(USER, Identity(principal)):
        return None
    if not digests or not all(isinstance(one, str) and is_hex(one, 64) for one in digests):
        return None
    return Line(number, principal, tuple(map(str, digests)))


def _trusted(path: str) -> bytes:
    try:
        data = read(path, MAX_PEOPLE)
        info = os.lstat(path)
    except FileNotFoundError:
        return b""
    except OSError as err:
        raise StateError(path, err.strerror or "it cannot be read") from None
    if not stat.S_ISREG(info.st_mode) or data is None or info.st_nlink != 1:
        hint = "put a file of its own there, no link"
        raise StateError(path, f"it is no plain file of at most {MAX_PEOPLE} bytes", hint=hint)
    if info.st_uid not in (os.geteuid(), 0) or info.st_mode & _OTHERS_MAY_WRITE:
        hint = f"make it yours alone to write: chmod go-w {path}"
        raise StateError(path, "others may write who is let in", hint=hint)
    return data
