"""The record that makes a home an installation: made once, never replaced."""

from __future__ import annotations

import os

from hooks.atomic import link_new
from hooks.atomic import read as read_file
from hooks.clock import UTC, iso, parse_iso
from scripts.swarm_v2.digest import short_digest
from scripts.swarm_v2.keyspace import Installation, is_installation_id
from scripts.swarm_v2.wire_json import canonical, load_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

RECORD = "installation.json"
MACHINE = "installation.machine"  # beside it: which machine made it, as a hash
MAX_RECORD = 64 << 10  # bytes; ours has 120, fields of later versions may be added
_MACHINE_ID_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id")


def installation(home: str | os.PathLike[str], now: datetime | None = None) -> Installation:
    """Return the record of ``home``; where there is none, make it with ``now`` as the cutover.

    However many processes call this at once, they get one record. ``now`` is aware; None is
    the current time.

    Raises:
        ValueError: there is a record outside the grammar (see ``parse``) or one that cannot be
            read. It is left as it is, even when it is empty: a new identity would orphan
            every key made under the old one.
        OSError: the home cannot be written.
    """
    folder = os.fspath(home)
    found = read(folder)
    if found is not None:
        return found
    made = Installation("inst-" + os.urandom(16).hex(), _instant(now))
    if link_new(os.path.join(folder, RECORD), encode(made)):
        _note_machine(folder, made.installation_id)
        return made
    found = read(folder)
    if found is None:
        msg = f"{os.path.join(folder, RECORD)} vanished while it was read"
        raise ValueError(msg)
    return found


def read(home: str | os.PathLike[str]) -> Installation | None:
    """Return the record of ``home``, or None where there is none; nothing is made.

    Raises:
        ValueError: as ``installation``.
    """
    path = os.path.join(os.fspath(home), RECORD)
    data = _read_settled(path)
    if data is None:
        return None
    record = parse(data)
    if record is None:
        msg = f"{path} is not an installation record; restore it or move it away"
        raise ValueError(msg)
    return record


def _read_settled(path: str) -> bytes | None:
    # Twice: another process may link the record between our miss and the look at its name.
    for _ in range(2):
        try:
            data = read_file(path, MAX_RECORD)
        except OSError as err:
            msg = f"{path} cannot be read: {err.strerror}"
            raise ValueError(msg) from err
        if data is not None:
            return data
        if not os.path.lexists(path):
            return None
    msg = f"{path} is not a file of at most {MAX_RECORD} bytes"
    raise ValueError(msg)


def encode(record: Installation) -> bytes:
    """Return the bytes of a record: one JSON object, one line."""
    document = {
        "created_at": iso(record.created_at),
        "installation_id": record.installation_id,
    }
    return canonical(document) + b"\n"


def parse(data: bytes) -> Installation | None:
    """Read a record; None unless it has a good id and a time in ISO 8601 with an offset.

    Other fields are ignored. A time without an offset is not taken for UTC here: the cutover
    decides the key of every marker, so a guess of some hours would re-key a day's markers.
    """
    document = load_object(data)
    if document is None:
        return None
    installation_id, text = document.get("installation_id"), document.get("created_at")
    created_at = parse_iso(text)
    if not isinstance(installation_id, str) or not isinstance(text, str) or created_at is None:
        return None
    if not is_installation_id(installation_id) or not _has_offset(text):
        return None
    return Installation(installation_id, created_at)


def copied_from_elsewhere(home: str | os.PathLike[str], machine: str | None = None) -> bool | None:
    """Say whether this home was made on another machine; None where that cannot be told.

    ``machine`` is this machine's id, by default what ``machine_id`` finds.

    Raises:
        ValueError: as ``installation``.
    """
    folder = os.fspath(home)
    record = read(folder)
    try:
        noted = load_object(read_file(os.path.join(folder, MACHINE), MAX_RECORD))
    except OSError:
        return None
    here = machine_id() if machine is None else machine
    if record is None or noted is None or not here:
        return None
    if noted.get("installation_id") != record.installation_id:
        return None
    return noted.get("machine") != _machine_hash(record.installation_id, here)


def machine_id() -> str:
    """Return what tells this machine from others and survives a restart; "" if nothing does.

    A host name would not do: it follows the network on many laptops.
    """
    for path in _MACHINE_ID_FILES:
        try:
            found = read_file(path, 4096)
        except OSError:
            continue
        if found and found.strip():
            return found.strip().decode("ascii", "replace")
    return ""


def _note_machine(folder: str, installation_id: str) -> None:
    here = machine_id()
    if here:
        noted = {
            "installation_id": installation_id,
            "machine": _machine_hash(installation_id, here),
        }
        link_new(os.path.join(folder, MACHINE), canonical(noted) + b"\n")


def _machine_hash(installation_id: str, machine: str) -> str:
    # The id of the installation is hashed in, so that two homes of a machine cannot be linked.
    return short_digest(f"{installation_id}\n{machine}".encode())


def _instant(now: datetime | None) -> datetime:
    if now is None:
        from datetime import datetime

        return datetime.now(UTC)  # noqa: TID251 - documented to need no time
    if now.tzinfo is None:
        raise ValueError("the time of an installation needs an offset")
    return now.astimezone(UTC)


def _has_offset(text: str) -> bool:
    clock = text[10:]  # behind the date, whose dashes are no sign
    return clock[-1:] in ("Z", "z") or "+" in clock or "-" in clock
